"""A file in, the same file with answers out."""

import csv
import io
import json
from typing import Any

import msgspec
import pytest

from batchui.batches import (
    checking,
    deleting,
    exporting,
    files,
    intake,
    part_answers,
    uploads,
)
from batchui.batches.models import Batch
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import CHAT_COMPLETIONS, MODEL, MakeBatch, rows, work

pytestmark = pytest.mark.django_db

MADE = {"csv": exporting.csv, "csv-plain": exporting.csv_plain}


def table(batch: Batch, kind: str = "csv-plain") -> list[list[str]]:
    text = b"".join(MADE[kind](batch)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("model", [MODEL, CHAT_COMPLETIONS])
def test_every_row_comes_back_in_its_place(
    sandbox: RunningSandbox, start: MakeBatch, model: str
) -> None:
    batch = work(start(rows(130), model=model))
    assert batch.status == BatchStatus.FINISHED
    assert (batch.answered, batch.rows) == (130, 130)
    header, *body = table(batch)
    assert header == ["id", "text", "answer", "status", "error"]
    assert [line[0] for line in body] == [str(number) for number in range(1, 131)]
    for number, (_, text, answer, status, error) in enumerate(body, 1):
        assert text == f"text number {number}"
        assert f"text number {number}" in answer
        assert (status, error) == ("answered", "")


def test_the_original_cells_are_unchanged(sandbox: RunningSandbox, start: MakeBatch) -> None:
    content = 'id;text\r\n" 1 ";"two\nlines; ""quoted"""\r\n2; spaces \r\n'.encode("utf-16")
    batch = work(start(content))
    text = b"".join(exporting.csv_plain(batch)).decode()
    parsed = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    assert [line[:2] for line in parsed] == [
        ["id", "text"],
        [" 1 ", 'two\nlines; "quoted"'],
        ["2", " spaces "],
    ]


def test_json_has_rows_columns_answers_and_references(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(3), reference_column="id"))
    array = json.loads(b"".join(exporting.json(batch)))
    lines = [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]
    assert array == lines
    assert set(array[0]) == {
        "row",
        "columns",
        "answer",
        "status",
        "error",
        "external_reference",
        "usage",
    }
    assert array[1]["columns"] == {"id": "2", "text": "text number 2"}
    assert array[1]["external_reference"] == "2"
    assert array[1]["status"] == "answered"


def test_structured_answers_are_json_text_in_csv_and_json_in_json(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"companies": {"type": "array", "items": {"type": "string"}}},
        "required": ["companies"],
    }
    options = {"response_format": {"type": "json_schema", "json_schema": schema}}
    batch = work(start(rows(6), options=options))
    answers = [line["answer"] for line in json.loads(b"".join(exporting.json(batch)))]
    parsed = [json.loads(a) if isinstance(a, str) else a for a in answers]
    assert all(isinstance(answer["companies"], list) for answer in parsed)
    for line in table(batch)[1:]:
        assert isinstance(json.loads(line[2])["companies"], list)


@pytest.mark.parametrize(
    ("model", "ask", "check"),
    [
        ("@cf/baai/bge-base-en-v1.5", {}, lambda a: len(a) == 768),
        ("@cf/meta/m2m100-1.2b", {"target_lang": "fr", "source_lang": "en"}, lambda a: "fr" in a),
        ("@cf/openai/gpt-oss-20b", {}, lambda a: "text number" in a),
        ("@cf/qwen/qwen3-30b-a3b-fp8", {}, lambda a: "text number" in a),
    ],
)
def test_every_kind_of_model_answers(
    sandbox: RunningSandbox, start: MakeBatch, model: str, ask: Any, check: Any
) -> None:
    batch = work(start(rows(3), model=model, template="{{text}}", **ask))
    assert batch.status == BatchStatus.FINISHED
    for line in json.loads(b"".join(exporting.json(batch))):
        answer = line["answer"]
        assert check(answer[0] if isinstance(answer, list) and len(answer) == 1 else answer)


def test_a_cell_that_would_run_as_a_formula_runs_in_no_spreadsheet(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(b"id,text\n1,=1+1\n")
    for_sheets, plain = (b"".join(MADE[kind](batch)) for kind in ("csv", "csv-plain"))
    assert for_sheets.startswith(b"\xef\xbb\xbf")
    assert b",=1+1," not in for_sheets
    assert b",=1+1," in plain
    assert not plain.startswith(b"\xef")


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
def test_a_csv_for_excel_has_semicolons_or_commas_and_a_plain_one_what_the_upload_has(
    sandbox: RunningSandbox, start: MakeBatch, delimiter: bytes
) -> None:
    batch = start(b"id;text;more\n1;one;x\n".replace(b";", delimiter))
    for_sheets, plain = (b"".join(MADE[kind](batch)) for kind in ("csv", "csv-plain"))
    line = b"1;one;x;;waiting;"
    assert plain.splitlines()[1] == line.replace(b";", delimiter)
    assert for_sheets.splitlines()[1] == line.replace(b";", b";" if delimiter == b";" else b",")


@pytest.mark.parametrize("kind", ["csv", "csv-plain"])
def test_a_file_without_a_delimiter_is_downloaded_with_commas(
    sandbox: RunningSandbox, start: MakeBatch, kind: str
) -> None:
    batch = start(b'{"id": 1, "text": "one"}\n', "texts.jsonl")
    header, row = table(batch, kind)
    assert header[:2] == ["id", "text"]
    assert row[:2] == ["1", "one"]


def test_what_stands_beyond_the_columns_comes_back(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    content = rows(30) + b"31,one,and more\r\n"
    batch = work(start(content, skip_invalid=True))
    (last,) = [line for line in table(batch) if line[0] == "31"]
    assert "and more" in last
    exported = json.loads(b"".join(exporting.json(batch)))[-1]
    assert "and more" in json.dumps(exported)


def test_what_a_row_used_is_in_the_json(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(rows(1)))
    part = batch.parts.get()
    answer = part_answers.Answer(
        "answered", part_answers.NOTHING, None, msgspec.Raw(b'{"tokens":7}')
    )
    changes: Any = part_answers.merge(part, {0: answer}, missing=lambda _: None).store()
    type(part).objects.update(**changes)
    (row,) = json.loads(b"".join(exporting.json(batch)))
    assert row["usage"] == {"tokens": 7}


def test_ready_made_items_are_sent_as_they_are(sandbox: RunningSandbox, start: MakeBatch) -> None:
    lines = [
        {"messages": [{"role": "user", "content": f"say {n}"}], "external_reference": f"r{n}"}
        for n in range(3)
    ]
    content = "\n".join(map(json.dumps, lines)).encode()
    batch = work(start(content, "items.jsonl", as_items=True, template=""))
    array = json.loads(b"".join(exporting.json(batch)))
    assert [line["external_reference"] for line in array] == ["r0", "r1", "r2"]
    assert [line["columns"] for line in array] == lines
    assert all(f"say {n}" in line["answer"] for n, line in enumerate(array))


def test_a_download_before_the_end_has_every_row(sandbox: RunningSandbox, batch: Batch) -> None:
    body = table(batch)[1:]
    assert len(body) == 60
    assert {(line[2], line[3]) for line in body} == {("", "waiting")}


def test_pages_of_rows_follow_the_filter(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script(
        {"fault": "failed", "items": [0], "times": 2}, {"fault": "empty", "items": [1], "times": 2}
    )
    batch = work(batch)
    everything = pages.page(batch, offset=0, limit=100)
    assert [row.row for row in everything] == list(range(2, 62))
    wrong = pages.page(batch, parse("attention"), offset=0, limit=100)
    assert [row.row for row in wrong] == [row.row for row in everything if row.status != "answered"]
    assert len(wrong) == pages.count(batch, parse("attention")) == batch.failed + batch.empty
    assert batch.failed
    assert batch.empty
    second = pages.page(batch, parse("answered"), offset=30, limit=5)
    answered = [row.row for row in everything if row.status == "answered"]
    assert [row.row for row in second] == answered[30:35]


def test_run_again_makes_a_draft_with_the_same_file_and_settings(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    batch = work(batch)
    copy = intake.run_again(batch, by=None)
    checking.check_file(copy.pk)
    copy.refresh_from_db()
    assert copy.status == BatchStatus.DRAFT
    assert copy.source_sha256 == batch.source_sha256
    assert (copy.model, copy.template, copy.rows) == (batch.model, batch.template, 60)
    assert deleting.delete(batch, by=None)
    files.remove_batch_files(batch.pk)
    with uploads.open_upload(copy.source_file) as kept:
        assert kept.read() == rows(60)
