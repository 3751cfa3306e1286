"""Stored files: whole or not there at all, and gone when they should be."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from batchui.batches import files

ID = "00000000-0000-4000-8000-000000000000"


class Interrupted(ContentFile):  # type: ignore[type-arg]
    """An upload whose line is cut after the first piece."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield b"half of it"
        raise ConnectionError("cut")


def test_a_file_that_was_cut_off_is_not_there_at_all(files_in: Path) -> None:
    with pytest.raises(ConnectionError):
        default_storage.save("one/two", Interrupted(b""))
    assert [path for path in files_in.rglob("*") if path.is_file()] == []


def test_a_power_cut_takes_neither_a_file_nor_the_folders_made_for_it(
    files_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    fsync = os.fsync

    def note(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    default_storage.save("one/two/three", ContentFile(b"kept"))
    name = files_in / "one/two/three"
    assert all(path.stat().st_ino in synced for path in (name, *list(name.parents)[:4]))
    # Folders that were there are on the disk already.
    synced.clear()
    default_storage.save("one/two/four", ContentFile(b"kept"))
    folders = (files_in / "one/two", files_in / "one", files_in)
    assert [folder.stat().st_ino in synced for folder in folders] == [True, False, False]


def test_a_file_that_is_written_again_takes_the_place_of_the_old_one(files_in: Path) -> None:
    assert default_storage.save("one/two", ContentFile(b"old")) == "one/two"
    reader = default_storage.open("one/two")
    assert default_storage.save("one/two", ContentFile(b"new")) == "one/two"
    assert reader.read() == b"old"  # whoever reads it keeps what they began
    reader.close()
    assert (files_in / "one/two").read_bytes() == b"new"
    assert os.listdir(files_in / "one") == ["two"]


def test_a_file_is_on_the_disk_before_it_has_its_name_and_so_is_the_name_in_the_end(
    files_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, list[bool]]] = []
    to_disk = os.fsync

    def note(descriptor: int) -> None:
        it = os.fstat(descriptor)
        what = "the folder" if stat.S_ISDIR(it.st_mode) else f"{it.st_size} bytes"
        synced.append((what, [path.name == "two" for path in (files_in / "one").iterdir()]))
        to_disk(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    default_storage.save("one/two", ContentFile(b"content"))
    # It is written beside its place: from another disk it could not be moved there at once. Before
    # that come the folders that were made for it.
    assert synced[-2:] == [("7 bytes", [False]), ("the folder", [True])]
    assert {what for what, _ in synced[:-2]} == {"the folder"}


def test_only_folders_with_the_id_of_a_batch_are_folders_of_batches(files_in: Path) -> None:
    assert files.batch_folders() == []
    for folder in (ID, ID.replace("-", ""), ID.replace("4", "A"), "lost+found"):
        files.save(files.source_path(folder), ContentFile(b"x"))
    assert files.batch_folders() == [ID]


def store_some() -> list[str]:
    """Files of two batches; returns the names of those of the first."""
    other = ID.replace("0", "1")
    names = [f"batches/{ID}/source/upload", f"batches/{ID}/parts/1/rows", f"batches/{ID}/note"]
    for name in (*names, f"batches/{other}/source/upload"):
        default_storage.save(name, ContentFile(b"x"))
    return names


def test_removing_a_batch_removes_all_of_its_files_and_no_others(files_in: Path) -> None:
    store_some()
    files.remove_batch_files(ID)
    assert not (files_in / "batches" / ID).exists()
    assert len([path for path in files_in.rglob("*") if path.is_file()]) == 1
    files.remove_batch_files(ID)  # a second time is fine


def test_a_storage_without_folders_of_its_own_is_emptied_name_by_name(
    settings: Any, files_in: Path
) -> None:
    plain = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    settings.STORAGES = settings.STORAGES | {"default": plain | {"OPTIONS": {"location": files_in}}}
    names = store_some()
    files.remove_batch_files(ID)
    assert not any(default_storage.exists(name) for name in names)
    assert len([path for path in files_in.rglob("*") if path.is_file()]) == 1
