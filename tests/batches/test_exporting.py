"""What people download: every row of the file, whatever became of it."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest
from django.core.files.storage import default_storage

from batchui.batches import decisions, exporting, intake, making
from batchui.batches.compressed import Compressed, read_lines
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.exports.csv import csv_chunks
from batchui.exports.table import EVERYTHING
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MODEL, MakeBatch, rows, work
from tests.batches.read_back import by_calamine

pytestmark = pytest.mark.django_db

UNREADABLE = "not an object"
LINES = f'{{"text": "one"}}\n{UNREADABLE}\n{{"text": "three"}}\n'.encode()


def test_a_line_that_was_no_object_is_kept_as_it_was(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(LINES, "texts.jsonl", skip_invalid=True))
    first, unreadable, third = map(json.loads, b"".join(exporting.jsonl(batch)).splitlines())
    assert (first["columns"], third["columns"]) == ({"text": "one"}, {"text": "three"})
    assert "extra_cells" not in first
    assert (unreadable["columns"], unreadable["extra_cells"]) == ({"text": ""}, [UNREADABLE])
    assert unreadable["status"] == "invalid"
    in_csv = b"".join(exporting.csv_plain(batch)).decode().splitlines()
    assert in_csv[2].endswith(UNREADABLE)


@pytest.mark.parametrize("what", ["lost", "damaged"])
@pytest.mark.parametrize("header", [[b"id", b"text"], None], ids=["named", "unnamed"])
def test_answers_come_out_though_the_upload_is_damaged(
    sandbox: RunningSandbox, start: MakeBatch, what: str, header: list[bytes] | None
) -> None:
    names = b"id,text\n" if header else b""
    content = gzip.compress(b"Reviews of May,\n,\n" + names + b"1,one\n2,two\n")
    column = "text" if header else "Column 2"
    batch = work(start(content, "texts.csv.gz", template=f"{{{{{column}}}}}"))
    whole = b"".join(exporting.csv_plain(batch)), b"".join(exporting.json(batch))
    assert whole[0].startswith(b"Reviews of May,")
    stored = Path(default_storage.path(batch.converted_file))
    if what == "lost":
        stored.unlink()
    else:
        stored.write_bytes(b"no longer what it was")
    assert (b"".join(exporting.csv_plain(batch)), b"".join(exporting.json(batch))) == whole


def test_a_download_tells_after_every_thousand_rows_how_far_it_is(
    start: MakeBatch, tmp_path: Path
) -> None:
    batch = start(rows(2_001))
    for kind in ("csv", "csv-plain", "json", "jsonl"):
        told: list[int] = []
        for choice in (Choice(only="answered"), exporting.ALL):
            told.clear()
            making.write(batch, kind, choice, tmp_path / kind, told.append)
            assert told == [1_000, 2_000], (kind, choice)


TYPED = b"""[
{"ok": true, "share": 0.3333333333333333, "price": 1.50, "code": "007", "n": "7", "mix": 1},
{"ok": null, "share": 0.0, "price": 2, "code": "008", "n": "8", "mix": false}
]"""


def test_values_of_json_have_their_types_in_a_workbook_and_in_parquet(
    sandbox: RunningSandbox, start: MakeBatch, tmp_path: Path
) -> None:
    batch = work(start(TYPED, "things.json", template="{{code}}"))
    sheets = {}
    for kind in ("xlsx", "ods", "parquet"):
        made = tmp_path / kind
        making.write(batch, kind, Choice(), made)
        sheets[kind] = made.read_bytes()
    rows_found = [
        [True, 0.3333333333333333, 1.5, "007", "7", 1],
        ["", 0, 2, "008", "8", False],
    ]
    for kind in ("xlsx", "ods"):
        assert [row[:6] for row in by_calamine(sheets[kind])[1:]] == rows_found
    sheet = openpyxl.load_workbook(io.BytesIO(sheets["xlsx"])).active
    assert sheet is not None
    assert [cell.data_type for cell in sheet[2]][:6] == list("bnnssn")
    assert (sheet["B3"].number_format, sheet["C2"].number_format) == ("0.0", "0.00")
    table = pyarrow.parquet.read_table(io.BytesIO(sheets["parquet"]))
    types = [str(field.type) for field in table.schema][:6]
    assert types == ["bool", "double", "double", "string", "string", "string"]
    assert table.column("ok").to_pylist() == [True, None]
    assert table.column("share").to_pylist() == [0.3333333333333333, 0.0]


def test_values_of_json_are_in_csv_and_json_as_they_were(start: MakeBatch) -> None:
    batch = start(TYPED, "things.json", template="{{code}}")
    first = b"".join(exporting.csv_plain(batch)).decode().splitlines()[1]
    assert first.startswith("true,0.3333333333333333,1.50,007,7,1,")
    found = json.loads(b"".join(exporting.json(batch)))[0]["columns"]
    assert found == json.loads(TYPED)[0]
    assert b'"price":1.50,' in b"".join(exporting.jsonl(batch))


def test_a_column_of_decimal_numbers_in_a_csv_can_be_summed(
    sandbox: RunningSandbox, start: MakeBatch, tmp_path: Path
) -> None:
    csv = b"id,price,phone,long\n00123,1.50,+491715550,123456789012345678\n00124,0.0,+5,1\n"
    batch = work(start(csv, "prices.csv", template="{{id}}"))
    for kind in ("xlsx", "ods", "parquet"):
        making.write(batch, kind, Choice(), tmp_path / kind)
    rows_found = [["00123", 1.5, "+491715550", "123456789012345678"], ["00124", 0, "+5", "1"]]
    for kind in ("xlsx", "ods"):
        found = by_calamine((tmp_path / kind).read_bytes())[1:]
        assert [row[:4] for row in found] == rows_found
    sheet = openpyxl.load_workbook(io.BytesIO((tmp_path / "xlsx").read_bytes())).active
    assert sheet is not None
    assert [sheet[at].number_format for at in ("B2", "B3", "A2")] == ["0.00", "0.0", "General"]
    table = pyarrow.parquet.read_table(tmp_path / "parquet")
    assert [str(field.type) for field in table.schema][:4] == ["string", "double", *["string"] * 2]
    assert b"".join(exporting.csv_plain(batch)).splitlines()[1].startswith(csv.splitlines()[1])
    columns = json.loads(b"".join(exporting.json(batch)))[0]["columns"]
    assert columns["price"] == "1.50"


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        (b"price,id\n1.50,01\n2.00,02\n", [[1.5, "01"], [2, "02"]]),
        (b"price\n1.50\n2.00\n", [[1.5], [2]]),
    ],
)
def test_numbers_of_a_csv_are_numbers_in_a_workbook_of_its_further_question(
    sandbox: RunningSandbox,
    start: MakeBatch,
    tmp_path: Path,
    content: bytes,
    cells: list[list[Any]],
) -> None:
    asked = Ask(model=MODEL, template="{{price}}")
    first = work(start(content, template=asked.template))
    draft = intake.ask_further(first, by=None)
    assert decisions.start(draft, by=None, ask=asked, prepare_now=True)
    draft.refresh_from_db()
    making.write(draft, "xlsx", Choice(), tmp_path / "made")
    found = by_calamine((tmp_path / "made").read_bytes())[1:]
    assert [row[: len(cells[0])] for row in found] == cells


def test_how_many_cells_a_whole_csv_has_changed_is_kept_with_the_batch(start: MakeBatch) -> None:
    batch = start(b"id,text\n=1,-x\n2,y\n", template="{{text}}")
    for choice, count in ((Choice(only="answered"), None), (Choice(), 2), (Choice(), 2)):
        list(exporting.csv(batch, choice))
        batch.refresh_from_db()
        assert batch.cells_made_inert == count


def one_by_one(batch: Batch) -> bytes:
    """The CSV of a batch, made of one row after the other."""
    table = exporting.table(batch, exporting.ALL)
    found = exporting.export_rows(batch)
    delimiter = batch.format.delimiter
    return b"".join(csv_chunks(found, table, EVERYTHING, delimiter=delimiter, plain=True))


@pytest.mark.parametrize("what", ["whole", "answers lost", "rows lost", "cut short", "one more"])
def test_a_csv_of_many_rows_at_once_is_that_of_each_row(
    sandbox: RunningSandbox, start: MakeBatch, what: str
) -> None:
    texts = [b"one; two", b'"a ""quoted"" cell, with a comma"', "Grüße 👋".encode(), b"=1+1"]
    lines = [b"%d;%b" % (at, texts[at % 4]) for at in range(1_400)]
    lines[700], lines[701], lines[1_399] = b"700;a;b", b"701;", b"1399"
    sandbox.script({"fault": "failed", "items": [0, 3]}, {"fault": "empty", "items": [1]})
    content = b"id;text\n" + b"\n".join(lines) + b"\n"
    batch = work(start(content, skip_invalid=True, template="Say {{text}}"))
    middle = batch.parts.get(number=9)
    if what == "answers lost":
        Path(default_storage.path(middle.answers_file)).unlink()
    elif what == "rows lost":
        Path(default_storage.path(middle.rows_file)).unlink()
    elif what != "whole":
        stored = list(read_lines(middle.answers_file, lines=middle.rows))
        changed = stored[:40] if what == "cut short" else [*stored, b"null\n"]
        lines_of = Compressed.of_lines(line.rstrip() for line in changed)
        Path(default_storage.path(middle.answers_file)).unlink()
        lines_of.store(middle.answers_file)
    made = b"".join(exporting.csv_plain(batch))
    assert made == one_by_one(batch)
    assert made.count(b"\r\n") == 1_401


def test_rows_that_wait_or_were_given_up_are_in_the_csv_as_well(start: MakeBatch) -> None:
    batch = start(rows(1_100))
    assert b"".join(exporting.csv_plain(batch)) == one_by_one(batch)
    assert b"".join(exporting.csv_plain(batch)).count(b",waiting,") == 1_100
    decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert b"".join(exporting.csv_plain(batch)) == one_by_one(batch)
    assert b"".join(exporting.csv_plain(batch)).count(b",unsent,") == 1_100
