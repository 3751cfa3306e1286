"""The upload, downloaded again: byte for byte, or a download that breaks off."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from batchui.batches import files
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.web import download_limit
from batchui.web.download_limit import MOST_AT_ONCE
from tests.batches.books import book
from tests.batches.conftest import MakeBatch, rows
from tests.web.visiting import said

pytestmark = pytest.mark.django_db

UPLOADS = {
    "bom.csv": b"\xef\xbb\xbfid,text\r\n1,one\r\n",
    "utf-16.csv": b"\xff\xfe" + 'id;text\r\n1;"é"\r\n'.encode("utf-16-le"),
    "blank lines.csv": rows(3) + b"\r\n\r\n\n",
    "no last line end.csv": b"id,text\n1,one",
    "300 kB.csv": rows(13_000),
    "5 MB.jsonl": b'{"text": "one of many lines"}\n' * 170_000,
    "book.xlsx": book(("One", [["id", "text"], ["1", "a"]])),
}


@pytest.fixture(autouse=True)
def nobody_downloads() -> None:
    """What a test has not read to the end counts no more in the next one."""
    download_limit._running.clear()


def source(web: Client, batch: Batch) -> Any:
    return web.get(reverse("source", args=[batch.pk]))


def stored(batch: Batch) -> Path:
    return Path(default_storage.path(batch.source_file))


@pytest.mark.parametrize("name", UPLOADS)
def test_an_upload_comes_back_byte_for_byte(web: Client, receive: MakeBatch, name: str) -> None:
    batch = receive(UPLOADS[name], name)
    assert batch.source_file.endswith(".zst") is not name.endswith(".xlsx")
    response = source(web, batch)
    assert response.status_code == 200
    assert response["Content-Length"] == str(len(UPLOADS[name]))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert b"".join(response.streaming_content) == UPLOADS[name]


def test_its_length_is_known_before(web: Client, receive: MakeBatch) -> None:
    batch = receive(rows(60))
    head: Any = web.head(reverse("source", args=[batch.pk]))
    assert (head.status_code, head["Content-Length"]) == (200, str(len(rows(60))))


def test_an_upload_of_an_older_version_comes_back_as_it_is_stored(
    web: Client, receive: MakeBatch
) -> None:
    batch = receive(rows(60))
    name = files.source_path(batch.pk)
    default_storage.save(name, ContentFile(rows(60)))
    Batch.objects.update(source_file=name, source_stored_size=0)
    response = source(web, batch)
    assert response["Content-Length"] == str(len(rows(60)))
    assert b"".join(response.streaming_content) == rows(60)


def test_one_that_is_lost_is_said(web: Client, receive: MakeBatch) -> None:
    batch = receive(rows(60))
    stored(batch).unlink()
    response = source(web, batch)
    assert response.status_code == 404
    assert "The uploaded file is not there any more. Tell the person who" in said(response)


@pytest.mark.parametrize("damage", ["cut short", "changed", "nothing left"])
def test_the_download_of_a_damaged_upload_breaks_off(
    web: Client, receive: MakeBatch, damage: str
) -> None:
    content = rows(40_000)
    batch = receive(content)
    packed = stored(batch).read_bytes()
    changed = packed[:-1] + bytes([packed[-1] ^ 1])  # of the checksum
    damaged = {"cut short": packed[: len(packed) // 2], "changed": changed, "nothing left": b""}
    stored(batch).write_bytes(damaged[damage])
    response = source(web, batch)
    assert response["Content-Length"] == str(len(content))
    came: list[bytes] = []
    with pytest.raises(DamagedFile, match=f"The stored file {batch.source_file} is damaged"):
        came.extend(response.streaming_content)
    assert content.startswith(b"".join(came))


def test_it_counts_among_the_files_that_a_person_downloads_at_a_time(
    web: Client, receive: MakeBatch
) -> None:
    batch = receive(rows(60))
    under_way = [source(web, batch).status_code for _ in range(MOST_AT_ONCE)]
    assert under_way == [200] * MOST_AT_ONCE
    refused = source(web, batch)
    assert refused.status_code == 429
    assert f"You are downloading {MOST_AT_ONCE} files at the moment." in said(refused)
