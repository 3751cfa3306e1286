"""Stored files: whole or not there at all, and gone when they should be."""

import hashlib
import io
import os
import random
import stat
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from batchui.batches import decisions, files, sending
from batchui.batches.models import Part
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, posts, rows, send_all, work

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


def test_an_upload_is_measured_and_hashed_from_its_beginning() -> None:
    upload = ContentFile(b"x" * 700_000)
    upload.seek(500_000)
    size, sha256 = files.save_source("source", upload)
    assert size == default_storage.size("source") == 700_000
    assert sha256 == hashlib.sha256(b"x" * 700_000).hexdigest()


def test_lines_come_back_as_they_were_however_many() -> None:
    chance = random.Random(5)
    lines = [chance.randbytes(chance.randrange(3000)).hex().encode() for _ in range(2000)]
    assert sum(map(len, lines)) > 20 * files.CHUNK_BYTES
    name = files.Compressed.of_lines(lines).store("lines")
    assert [line.rstrip(b"\n") for line in files.read_lines(name, lines=2000)] == lines


def test_lines_are_not_kept_in_memory_however_many() -> None:
    chance = random.Random(5)
    tracemalloc.start()
    try:
        made = files.Compressed.of_lines(
            chance.randbytes(1000).hex().encode() for _ in range(15_000)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    made.store("lines")
    assert default_storage.size("lines") > 14_000_000
    assert peak < 12_000_000


# -- a file that is not what it was --------------------------------------------------------------


@pytest.fixture
def stored(files_in: Path) -> Path:
    """A file of 1,000 lines in several blocks; its path on the disk."""
    chance = random.Random(5)
    lines = [chance.randbytes(400).hex().encode() for _ in range(1000)]
    name = files.Compressed.of_lines(lines).store("lines")
    assert (files_in / name).stat().st_size > 3 * 128 * 1024  # a block has 128 KiB at most
    return files_in / name


def blocks(content: bytes) -> list[int]:
    """Where each block of a zstd frame ends (RFC 8878, 3.1.1)."""
    descriptor = content[4]
    size_of_size = (1 if descriptor & 0x20 else 0, 2, 4, 8)[descriptor >> 6]
    place = 5 + (0 if descriptor & 0x20 else 1) + size_of_size
    ends, is_last = [], 0
    while not is_last:
        header = int.from_bytes(content[place : place + 3], "little")
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        place += 3 + (1 if kind == 1 else size)
        ends.append(place)
    assert place + 4 == len(content)  # its checksum
    return ends


def read_all(lines: int = 1000) -> int:
    return sum(1 for _ in files.read_lines("lines", lines=lines))


def test_a_whole_file_is_read_to_its_end(stored: Path) -> None:
    assert read_all() == 1000


@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_file_that_is_cut_short_after_a_block_is_damaged(stored: Path, block: int) -> None:
    content = stored.read_bytes()
    stored.write_bytes(content[: blocks(content)[block]])
    with pytest.raises(files.DamagedFile, match=r"lines is damaged: it has .* in place of 1,000"):
        read_all()


@pytest.mark.parametrize("kept", [0, 1, 4, 5, 8, 100, 200_000])
def test_a_file_that_is_cut_short_anywhere_is_damaged(stored: Path, kept: int) -> None:
    stored.write_bytes(stored.read_bytes()[:kept])
    with pytest.raises(files.DamagedFile, match="The stored file lines is damaged"):
        read_all()


def test_a_file_that_is_cut_short_after_a_frame_is_damaged(stored: Path) -> None:
    """Two frames, as if it had been put together from two; the second one is lost."""
    lines = [b"line"] * 500
    name = files.Compressed.of_lines(lines).store("lines")
    assert name == stored.name
    with pytest.raises(files.DamagedFile, match="it has 500 lines in place of 1,000"):
        read_all()


def test_a_file_with_more_lines_than_it_should_have_is_damaged(stored: Path) -> None:
    with pytest.raises(files.DamagedFile, match="it has more than 999 lines"):
        read_all(999)


def test_a_last_line_that_was_not_written_to_its_end_is_damaged(files_in: Path) -> None:
    whole = files.Compressed.of_file(io.BytesIO(b"one\ntwo\n")).store("lines")
    assert list(files.read_lines(whole, lines=2)) == [b"one\n", b"two\n"]
    files.Compressed.of_file(io.BytesIO(b"one\ntw")).store("lines")
    with pytest.raises(files.DamagedFile):
        read_all(2)


@pytest.mark.parametrize("place", [7, 1_000, 100_000, -1])
def test_a_file_with_a_byte_that_changed_is_damaged(stored: Path, place: int) -> None:
    content = bytearray(stored.read_bytes())
    content[place] ^= 0x10
    stored.write_bytes(content)
    with pytest.raises(files.DamagedFile, match="The stored file lines is damaged"):
        read_all()


def test_a_file_that_is_not_there_is_damaged(files_in: Path) -> None:
    with pytest.raises(files.DamagedFile, match="The stored file lines is not there any more"):
        read_all()


def test_what_is_wrong_with_a_file_tells_nothing_of_this_machine(files_in: Path) -> None:
    with pytest.raises(files.DamagedFile) as found:
        read_all()
    assert str(files_in) not in str(found.value)
    assert found.value.__cause__ is None
    assert found.value.__suppress_context__


@pytest.mark.django_db
@pytest.mark.parametrize("whole_lines", [0, 10, 24])
def test_nothing_is_sent_of_a_part_whose_file_was_cut_short(
    sandbox: RunningSandbox, part: Part, files_in: Path, whole_lines: int
) -> None:
    lines = [line.rstrip(b"\n") for line in files.read_lines(part.rows_file, lines=25)]
    files.Compressed.of_lines(lines[:whole_lines]).store(part.rows_file)
    assert sending.send(part) is False
    assert not part.attempts.exists()
    assert posts(sandbox) == 0
    assert "is damaged: it has" in part.message


@pytest.mark.django_db
def test_nothing_is_sent_again_of_a_part_whose_answers_were_cut_short(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [1]})
    batch = work(start(rows(5)))
    decisions.retry(batch, by=None)
    part = batch.parts.get()
    files.Compressed.of_lines([b"null"] * 3).store(part.answers_file)
    before = posts(sandbox)
    send_all()
    assert posts(sandbox) == before
    assert "it has 3 lines in place of 5" in batch.parts.get().message


def test_a_whole_file_is_compressed_from_its_beginning() -> None:
    spool = io.BytesIO(b"a reply " * 1000)
    spool.seek(500)
    name = files.Compressed.of_file(spool).store("reply")
    assert b"".join(files.read_compressed(name)) == spool.getvalue()


def test_only_folders_with_the_id_of_a_batch_are_folders_of_batches(files_in: Path) -> None:
    assert files.batch_folders() == []
    for folder in (ID, ID.replace("-", ""), ID.replace("4", "A"), "lost+found"):
        files.save_source(files.source_path(folder), ContentFile(b"x"))
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
