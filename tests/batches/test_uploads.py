"""Uploads as they are stored: texts compressed, anything else untouched, all as they came."""

import gzip
import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from batchui.batches import checking, files, intake, sources, uploads
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import Choices
from batchui.sandbox.testing import RunningSandbox
from tests.batches.books import book
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.cutting import prepared, started

__all__ = ["started"]

pytestmark = pytest.mark.django_db


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("texts.csv", rows(3))
    return packed.getvalue()


TEXTS = {
    "texts.csv": rows(300),
    "texts.tsv": b"id\ttext\n1\tone\n",
    "texts.txt": b"one\ntwo\n\n\n",
    "texts.jsonl": b'{"text": "one"}\n{"text": "two"}',
    "bom.csv": b"\xef\xbb\xbf" + rows(3),
    "utf-16.csv": b"\xff\xfe" + 'id;text\r\n1;"é"\r\n\r\n'.encode("utf-16-le"),
}
OTHERS = {
    "texts.csv.gz": gzip.compress(rows(3)),
    "texts.zip": zipped(),
    "texts.xlsx": book(("One", [["id", "text"], ["1", "a"], ["2", "b"]])),
    "texts.json": b'[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]',
}


def stored(batch: Batch) -> Path:
    return Path(default_storage.path(batch.source_file))


def upload_of(batch: Batch) -> bytes:
    return b"".join(uploads.chunks_of(batch))


def as_before(batch: Batch) -> Batch:
    """The batch as an older version left it: its upload is stored as it came."""
    name = files.source_path(batch.pk)
    default_storage.save(name, ContentFile(upload_of(batch)))
    stored(batch).unlink()
    Batch.objects.filter(pk=batch.pk).update(source_file=name, source_stored_size=0)
    batch.refresh_from_db()
    return batch


@pytest.mark.parametrize("name", TEXTS)
def test_a_plain_text_is_stored_compressed(receive: MakeBatch, name: str) -> None:
    content = TEXTS[name]
    batch = receive(content, name)
    assert batch.source_file == f"batches/{batch.pk}/source/upload.zst"
    packed = stored(batch).read_bytes()
    assert zstandard.ZstdDecompressor().stream_reader(packed).readall() == content
    assert zstandard.get_frame_parameters(packed).has_checksum
    assert upload_of(batch) == content
    assert batch.source_size == len(content)
    assert batch.source_stored_size == len(packed)
    assert batch.source_sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_is_stored_untouched(receive: MakeBatch, name: str) -> None:
    content = OTHERS[name]
    batch = receive(content, name)
    assert batch.source_file == f"batches/{batch.pk}/source/upload"
    assert stored(batch).read_bytes() == upload_of(batch) == content
    assert batch.source_size == batch.source_stored_size == len(content)
    assert batch.source_sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("head", [b"id,text\n", b"PK\x03\x04"])
def test_an_upload_is_measured_and_hashed_from_its_beginning(head: bytes) -> None:
    content = head + b"x" * 700_000
    upload = ContentFile(content)
    upload.seek(500_000)
    kept = uploads.store("source", upload, called="texts.csv")
    assert kept.size == len(content)
    assert kept.sha256 == hashlib.sha256(content).hexdigest()
    assert kept.stored_size == default_storage.size(kept.name)


# -- run again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("older", [False, True])
def test_what_is_run_again_has_a_copy_of_the_stored_file_as_it_is(
    receive: MakeBatch, older: bool
) -> None:
    batch = receive(rows(60))
    if older:
        batch = as_before(batch)
    copy = intake.run_again(batch, by=None)
    assert copy.source_file == batch.source_file.replace(str(batch.pk), str(copy.pk))
    assert stored(copy).read_bytes() == stored(batch).read_bytes()
    assert copy.source_stored_size == stored(copy).stat().st_size
    assert (copy.source_size, copy.source_sha256) == (batch.source_size, batch.source_sha256)
    assert (copy.rows, copy.problem) == (60, "")


def test_what_is_run_again_was_neither_unpacked_nor_packed(receive: MakeBatch) -> None:
    batch = receive(rows(60))
    packed = zstandard.ZstdCompressor(9).compress(rows(60))  # as no version packs it
    stored(batch).write_bytes(packed)
    Batch.objects.update(source_stored_size=len(packed))
    copy = intake.run_again(Batch.objects.get(), by=None)
    assert stored(copy).read_bytes() == packed


@pytest.mark.parametrize("older", [False, True])
def test_an_upload_that_was_cut_short_is_not_run_again(receive: MakeBatch, older: bool) -> None:
    batch = receive(rows(60))
    if older:
        batch = as_before(batch)
    stored(batch).write_bytes(stored(batch).read_bytes()[:-1])
    with pytest.raises(BadInput, match=f"The stored file {batch.source_file} is damaged"):
        intake.run_again(batch, by=None)
    assert Batch.objects.count() == 1


def test_an_upload_that_is_lost_is_not_run_again(receive: MakeBatch) -> None:
    batch = receive(rows(60))
    stored(batch).unlink()
    with pytest.raises(BadInput, match="could not read or store the file"):
        intake.run_again(batch, by=None)
    assert Batch.objects.count() == 1


# -- an older version ---------------------------------------------------------------------------


def test_a_batch_of_an_older_version_is_read_started_and_answered(
    sandbox: RunningSandbox, receive: MakeBatch, start: MakeBatch
) -> None:
    draft = as_before(receive(rows(60)))
    Batch.objects.update(draft_rows_file="")
    assert intake.read_differently(draft, Choices(delimiter=";"), by=None)
    assert intake.read_differently(Batch.objects.get(), Choices(), by=None)
    draft.refresh_from_db()
    assert (draft.columns, draft.rows, draft.problem) == (("id", "text"), 60, "")
    batch = as_before(start(rows(60)))
    assert work(batch).answered == 60
    assert upload_of(batch) == rows(60)


def test_an_upload_of_an_older_version_that_was_cut_short_is_named_at_start(
    started: MakeBatch,
) -> None:
    batch = as_before(started(rows(60)))
    size = batch.source_size
    stored(batch).write_bytes(rows(60)[:-7])
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem.startswith(
        f"The stored file {batch.source_file} is damaged: it has {size - 7:,} bytes in place of "
        f"{size:,}."
    )


def test_a_text_that_a_later_version_converts_is_unpacked_for_that(receive: MakeBatch) -> None:
    batch = receive(OTHERS["texts.json"], "texts.json")
    name = f"{batch.source_file}{uploads.COMPRESSED}"
    default_storage.save(name, ContentFile(zstandard.compress(OTHERS["texts.json"])))
    unread: dict[str, Any] = {"converted_file": "", "source_format": {}, "rows": 0}
    Batch.objects.update(
        status=BatchStatus.CHECKING,
        source_file=name,
        source_stored_size=default_storage.size(name),
        **unread,
    )
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert (batch.problem, batch.rows, batch.columns) == ("", 2, ("id", "text"))


# -- damage -------------------------------------------------------------------------------------


def test_an_upload_that_was_cut_short_is_named_at_start(started: MakeBatch) -> None:
    batch = started(rows(60))
    packed = stored(batch).read_bytes()
    stored(batch).write_bytes(packed[:-3])
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem == (
        f"The stored file {batch.source_file} is damaged: it has {len(packed) - 3:,} bytes in "
        f"place of {len(packed):,}. Upload the file again; what you wrote is kept."
    )


@pytest.mark.parametrize("damage", ["gone", "cut short", "changed"])
def test_a_damaged_upload_is_named_when_it_is_read(receive: MakeBatch, damage: str) -> None:
    batch = receive(rows(3_000))
    packed = stored(batch).read_bytes()
    if damage == "gone":
        stored(batch).unlink()
    elif damage == "cut short":
        stored(batch).write_bytes(packed[:-3])
    else:
        stored(batch).write_bytes(packed[:-1] + bytes([packed[-1] ^ 1]))  # of the checksum
    Batch.objects.update(status=BatchStatus.CHECKING, rows=0)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert batch.is_unusable
    if damage == "gone":
        assert batch.problem.startswith("This server could not read or store the file")
    else:
        assert batch.problem.startswith(f"The stored file {batch.source_file} is damaged")
        assert batch.problem.endswith("Upload the file again; what you wrote is kept.")


def test_a_byte_that_was_changed_is_noticed_by_the_checksum(receive: MakeBatch) -> None:
    batch = receive(rows(3_000))
    packed = bytearray(stored(batch).read_bytes())
    packed[-1] ^= 1
    stored(batch).write_bytes(packed)
    with pytest.raises(DamagedFile, match=f"The stored file {batch.source_file} is damaged."):
        upload_of(batch)
    with sources.open_rows(batch) as opened, pytest.raises(DamagedFile):
        list(iter(lambda: opened.read(100), b""))


def test_an_upload_that_is_shorter_unpacked_is_not_taken_for_whole(receive: MakeBatch) -> None:
    batch = receive(rows(60))
    stored(batch).write_bytes(zstandard.compress(rows(59)))
    with pytest.raises(DamagedFile) as damaged:
        upload_of(batch)
    assert str(damaged.value) == (
        f"The stored file {batch.source_file} is damaged: it has {len(rows(59)):,} bytes unpacked "
        f"in place of {len(rows(60)):,}."
    )
