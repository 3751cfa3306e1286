"""Downloads: what arrives, under which name, and how."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.web import download_limit, downloads
from batchui.web.download_limit import MOST_AT_ONCE, Counted, TooManyDownloads
from tests.batches.conftest import MakeBatch, rows, work
from tests.teams.people import join, outsider
from tests.web.visiting import STREAMED, drafted, said, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(start: MakeBatch) -> Batch:
    return start(rows(60), "May reviews.csv")


def get(web: Client, batch: Batch, kind: str) -> Any:
    return web.get(reverse("download", args=[batch.pk, kind]))


def body(web: Client, batch: Batch, kind: str) -> bytes:
    return b"".join(get(web, batch, kind).streaming_content)


def table(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize(
    ("kind", "content_type", "ending"),
    [
        ("csv", "text/csv; charset=utf-8", "csv"),
        ("csv-plain", "text/csv; charset=utf-8", "plain.csv"),
        ("json", "application/json", "json"),
        ("jsonl", "application/x-ndjson", "jsonl"),
    ],
)
def test_a_download_is_a_file_named_after_the_batch_and_the_day(
    web: Client, batch: Batch, kind: str, content_type: str, ending: str
) -> None:
    response = get(web, batch, kind)
    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    expected = rf'attachment; filename="May reviews \d{{4}}-\d\d-\d\d\.{re.escape(ending)}"'
    assert re.fullmatch(expected, response["Content-Disposition"])
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"


def of_outside(web: Client, batch: Batch) -> list[Any]:
    """What a browser gets of things that came from outside."""
    kept = [reverse("source", args=[batch.pk]), reverse("raw_reply", args=[batch.pk, 1, 1])]
    kinds = [reverse("download", args=[batch.pk, kind]) for kind in STREAMED]
    return [web.get(address) for address in [*kept, *kinds]]


@pytest.mark.parametrize("name", ["x.js", "x.html", "x.svg", "x.css", "x.mjs"])
def test_nothing_that_came_from_outside_can_be_a_part_of_a_page(
    web: Client, sandbox: RunningSandbox, batch: Batch, name: str
) -> None:
    work(batch)
    Batch.objects.filter(pk=batch.pk).update(source_name=name)
    for response in of_outside(web, batch):
        assert response["Content-Type"].partition(";")[0] in (
            "application/octet-stream",
            "application/json",
            "application/x-ndjson",
            "text/csv",
        )
        assert response["Content-Disposition"].startswith("attachment; filename")
        assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert response["Cross-Origin-Resource-Policy"] == "same-origin"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert b"".join(response.streaming_content)
    source: Any = web.get(reverse("source", args=[batch.pk]))
    assert source["Content-Type"] == downloads.UNTYPED
    assert b"".join(source.streaming_content) == rows(60)


def out_of_reach(stored: Path) -> None:
    """Let a stored file be unreadable, as where the disk fails. A lost one only costs its rows."""
    stored.unlink()
    stored.mkdir()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_first_byte_comes_before_any_row_is_read(
    web: Client, batch: Batch, files_in: Path, kind: str
) -> None:
    response = get(web, batch, kind)
    assert isinstance(response, StreamingHttpResponse)
    # Nothing of the rows can be read any more; the beginning comes all the same.
    for stored in files_in.rglob("rows-*.jsonl.zst"):
        out_of_reach(stored)
    content: Iterator[bytes] = iter(response)
    assert next(content) in (b"\xef\xbb\xbfid,text,answer,status,error\r\n", b"[")
    assert next(content) == downloads.BROKEN_OFF


def test_one_part_is_read_at_a_time(web: Client, start: MakeBatch, files_in: Path) -> None:
    text = "x" * 4000
    batch = start("".join(["id,text\n", *(f"{n},{text}\n" for n in range(60))]).encode())
    content = iter(get(web, batch, "csv"))
    next(content), next(content)
    out_of_reach(files_in / batch.parts.get(number=3).rows_file)
    assert list(content)[-1] == downloads.BROKEN_OFF


@pytest.mark.parametrize("kind", STREAMED)
def test_a_download_that_broke_off_does_not_look_whole(
    web: Client, batch: Batch, files_in: Path, kind: str
) -> None:
    out_of_reach(files_in / batch.parts.get(number=2).rows_file)
    text = body(web, batch, kind).decode()
    assert "THIS FILE IS NOT COMPLETE" in text.splitlines()[-1]
    if kind.startswith("json"):
        with pytest.raises(ValueError, match="Expecting"):
            [json.loads(part) for part in ([text] if kind == "json" else text.splitlines())]


def test_before_the_end_every_row_is_there(web: Client, batch: Batch) -> None:
    lines = table(body(web, batch, "csv"))
    assert len(lines) == 61
    assert lines[1] == ["1", "text number 1", "", "waiting", ""]


def test_at_the_end_every_answer_is_beside_its_row(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    batch = work(batch)
    for number, line in enumerate(table(body(web, batch, "csv-plain"))[1:], 1):
        assert line[:2] == [str(number), f"text number {number}"]
        assert f"text number {number}" in line[2]
        assert line[3:] == ["answered", ""]
    assert [row["row"] for row in json.loads(body(web, batch, "json"))] == list(range(2, 62))


def test_formulas_are_inert_unless_the_plain_file_is_asked_for(
    web: Client, start: MakeBatch
) -> None:
    batch = start(b"id,text\n1,=1+1\n2,-5\n3,@SUM(A1)\n")
    inert, plain = body(web, batch, "csv"), body(web, batch, "csv-plain")
    assert [line[1] for line in table(inert)[1:]] == ["'=1+1", "-5", "'@SUM(A1)"]
    assert [line[1] for line in table(plain)[1:]] == ["=1+1", "-5", "@SUM(A1)"]
    assert inert.startswith(b"\xef\xbb\xbf")
    assert not plain.startswith(b"\xef\xbb\xbf")


def test_columns_the_file_has_already_keep_their_names(web: Client, start: MakeBatch) -> None:
    batch = start(b"text,answer,Status\nx,old answer,old\n", template="{{text}}")
    header, line = table(body(web, batch, "csv"))
    assert header == ["text", "answer", "Status", "answer_2", "status_2", "error"]
    assert line == ["x", "old answer", "old", "", "waiting", ""]


def test_the_upload_comes_back_byte_for_byte(web: Client, start: MakeBatch) -> None:
    content = b"\xff\xfe" + 'id;text\r\n1;"é"\r\n'.encode("utf-16-le")
    batch = start(content, "größe.csv")
    response: Any = web.get(reverse("source", args=[batch.pk]))
    assert b"".join(response.streaming_content) == content
    assert "filename*=utf-8''gr%C3%B6%C3%9Fe.csv" in response["Content-Disposition"]


def test_a_draft_and_an_unknown_kind_have_no_download(web: Client, batch: Batch) -> None:
    draft = drafted(web, rows(3))
    response = get(web, draft, "csv")
    assert response.status_code == 404
    assert "has not been started, so there are no answers" in said(response)
    assert "Choose one on the batch's page" in said(get(web, batch, "pdf"))


def test_another_team_downloads_nothing(batch: Batch) -> None:
    stranger = signed_in(outsider())
    for kind in STREAMED:
        assert get(stranger, batch, kind).status_code == 404
    assert stranger.get(reverse("source", args=[batch.pk])).status_code == 404
    assert stranger.get(reverse("raw_reply", args=[batch.pk, 1, 1])).status_code == 404


def test_one_person_downloads_a_few_files_at_a_time(web: Client, ana: User, batch: Batch) -> None:
    under_way = [get(web, batch, "csv") for _ in range(MOST_AT_ONCE)]
    assert [response.status_code for response in under_way] == [200] * MOST_AT_ONCE
    refused = get(web, batch, "csv")
    assert refused.status_code == 429
    assert f"You are downloading {MOST_AT_ONCE} files at the moment." in said(refused)
    assert get(signed_in(join(ana)), batch, "csv").status_code == 200


@pytest.fixture(autouse=True)
def nobody_downloads() -> None:
    """What a test has not read to the end counts no more in the next one."""
    download_limit._running.clear()


def test_a_download_that_cannot_be_closed_counts_no_more() -> None:
    def chunks() -> Iterator[bytes]:
        try:
            yield b"a"
        finally:
            raise OSError("The disk is gone.")

    for _ in range(MOST_AT_ONCE + 1):
        download = Counted(chunks(), person=1)
        next(download)
        with pytest.raises(OSError, match="gone"):
            download.close()


def test_a_download_counts_until_it_is_closed_and_only_once() -> None:
    def chunks() -> Iterator[bytes]:
        try:
            yield b"a"
            yield b"b"
        finally:
            ended.append(True)

    ended: list[bool] = []
    first, *_ = [Counted(chunks(), person=1) for _ in range(MOST_AT_ONCE)]
    Counted(chunks(), person=2)
    assert next(first) == b"a"
    with pytest.raises(TooManyDownloads):
        Counted(chunks(), person=1)
    first.close()
    first.close()
    assert ended == [True]
    assert list(Counted(chunks(), person=1)) == [b"a", b"b"]
    with pytest.raises(TooManyDownloads):
        Counted(chunks(), person=1)
