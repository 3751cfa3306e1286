"""`manage.py submit --output`: every kind of file, and what of a batch goes out."""

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import heartbeat
from tests.batches.conftest import MODEL
from tests.web.submitting import PROMPT, Ran, Submit, Terminal, work_a_little, workbook, written
from tests.web.visiting import nothing_is_left

pytestmark = pytest.mark.django_db

CSV = b"id,text\n007,one\n8,two\n"
TABLE = [["id", "text"], [7, "one"], [8, "two"]]
ADDED = ["answer", "status", "error"]


@pytest.fixture(autouse=True)
def a_worker_runs(db: None) -> None:
    heartbeat.beat("worker:beside")


def values(path: Path, sheet: str) -> list[list[Any]]:
    return [list(row) for row in openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)]


# -- the kind -----------------------------------------------------------------------------------


def test_the_ending_xlsx_means_a_new_workbook_of_what_was_none(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    output = tmp_path / "Out.XLSX"
    assert Ran(written(tmp_path, CSV), *PROMPT, "--output", str(output)).status == 0
    [sheet] = openpyxl.load_workbook(output).sheetnames
    header, first, _ = values(output, sheet)
    assert header == ["id", "text", *ADDED]
    assert (first[0], first[1], first[3]) == ("007", "one", "answered")


def test_the_ending_parquet_means_parquet(sandbox: RunningSandbox, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    assert Ran(written(tmp_path, CSV), *PROMPT, "--output", str(output)).status == 0
    rows = parquet.read_table(output).to_pylist()
    assert [(row["id"], row["status"]) for row in rows] == [("007", "answered"), ("8", "answered")]


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("out.ods", b"PK\x03\x04"),
        ("out.csv", b"\xef\xbb\xbfid,text,answer,status,error\r\n007,"),
        ("out.plain.csv", b"id,text,answer,status,error\r\n007,"),
        ("out.jsonl", b'{"row":2,'),
        ("out", b"\xef\xbb\xbfid,text"),
    ],
)
def test_the_ending_decides(
    sandbox: RunningSandbox, tmp_path: Path, name: str, beginning: bytes
) -> None:
    output = tmp_path / name
    assert Ran(written(tmp_path, CSV), *PROMPT, "--output", str(output)).status == 0
    assert output.read_bytes().startswith(beginning)


def test_a_workbook_comes_back_as_itself(sandbox: RunningSandbox, tmp_path: Path) -> None:
    book = workbook(tmp_path, {"Notes": [["Hello"]], "May": TABLE})
    output = tmp_path / "out.xlsx"
    ran = Ran(book, *PROMPT, "--output", str(output))
    assert ran.status == 0
    assert "The answers are in the columns C to E of the sheet “May”." in ran.err.splitlines()
    assert values(output, "Notes") == [["Hello"]]
    header, first, second = values(output, "May")
    assert header == ["id", "text", *ADDED]
    assert (first[:2], first[3], second[:2]) == ([7, "one"], "answered", [8, "two"])


def test_a_new_workbook_can_be_asked_for(sandbox: RunningSandbox, tmp_path: Path) -> None:
    book = workbook(tmp_path, {"Notes": [["Hello"]], "May": TABLE})
    output = tmp_path / "out.xlsx"
    asked = ("--output", str(output), "--format", "xlsx")
    assert Ran(book, *PROMPT, *asked, "--columns", "text").status == 0
    [sheet] = openpyxl.load_workbook(output).sheetnames
    assert values(output, sheet)[0] == ["text", *ADDED]


def test_a_workbook_with_macros_may_come_back_under_its_ending_alone(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    book = workbook(tmp_path, {"May": TABLE}, "May.xlsm")
    assert Ran(book, *PROMPT, "--output", str(tmp_path / "out.xlsm")).status == 0
    assert values(tmp_path / "out.xlsm", "May")[1][:2] == [7, "one"]
    assert Ran(book, *PROMPT, "--output", str(tmp_path / "new.xlsx")).status == 0
    assert openpyxl.load_workbook(tmp_path / "new.xlsx").sheetnames != ["May"]


# -- the rows and columns -----------------------------------------------------------------------


def test_only_the_rows_and_columns_asked_for_go_out(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    texts = written(tmp_path, b'id,"a, b",text,more\n1,x,one,\n2,y,two,\n')
    output = tmp_path / "out.plain.csv"
    asked = ("--only", "attention", "--columns", '"a, b",id', "--answer-column", "said")
    assert Ran(texts, *PROMPT, "--output", str(output), *asked).status == 1
    header, *found = csv.reader(output.read_text().splitlines())
    assert header == ["id", "a, b", "said", "status", "error"]
    assert [line[:4] for line in found] == [["1", "x", "", "failed"]]


def test_columns_may_be_named_one_by_one(sandbox: RunningSandbox, tmp_path: Path) -> None:
    texts = written(tmp_path, b'id,"a, b",text\n1,x,one\n')
    output = tmp_path / "out.json"
    asked = ("--columns", "a, b", "--columns", "text", "--only", "answered")
    assert Ran(texts, *PROMPT, "--output", str(output), *asked).status == 0
    [row] = json.loads(output.read_bytes())
    assert row["columns"] == {"a, b": "x", "text": "one"}


# -- refused before anything is sent ------------------------------------------------------------

OUT = ("--output", "{folder}/out.csv")
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "a workbook of a text": (
        (*OUT, "--format", "workbook"),
        "--format workbook: this batch did not come from an XLSX or XLSM file. For a new workbook "
        "write --format xlsx.",
    ),
    "an unknown column": (
        (*OUT, "--columns", "id,txt"),
        "--columns: The file has no column “txt”. Choose another.",
    ),
    "an endless name": (
        (*OUT, "--answer-column", "x" * 101),
        "--answer-column: At most 100 characters are possible, and this has 101. Shorten it.",
    ),
    "an old workbook": (
        ("--output", "{folder}/out.xls"),
        "--output {folder}/out.xls: batchui writes no .xls file of this batch. Use the ending "
        ".csv, .json, .jsonl, .ods, .parquet, .plain.csv, .xlsx, or name the kind: --format.",
    ),
    "a text document": (
        ("--output", "{folder}/out.plain.docx"),
        "--output {folder}/out.plain.docx: batchui writes no .docx file of this batch. Use the "
        "ending .csv, .json, .jsonl, .ods, .parquet, .plain.csv, .xlsx, or name the kind: "
        "--format.",
    ),
    "macros from nowhere": (
        ("--output", "{folder}/out.xlsm"),
        "--output {folder}/out.xlsm: batchui writes no .xlsm file of this batch. Use the ending "
        ".csv, .json, .jsonl, .ods, .parquet, .plain.csv, .xlsx, or name the kind: --format.",
    ),
    "a format of nothing": (
        ("--format", "json"),
        "--format: name the file to be written, too: --output.",
    ),
    "a column of nothing": (
        ("--answer-column", "said"),
        "--answer-column: name the file to be written, too: --output.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_written_is_refused_before_anything_is_sent(
    sandbox: RunningSandbox, tmp_path: Path, files_in: Path, what: str
) -> None:
    options, sentence = REFUSED[what]
    options = tuple(option.replace("{folder}", str(tmp_path)) for option in options)
    ran = Ran(written(tmp_path, CSV), *PROMPT, *options)
    refused = sentence.replace("{folder}", str(tmp_path))
    assert (ran.status, ran.out, ran.err) == (2, "", f"{refused}\n")
    assert nothing_is_left(files_in)


def test_a_workbook_that_goes_back_keeps_its_columns(
    sandbox: RunningSandbox, tmp_path: Path, files_in: Path
) -> None:
    asked = ("--output", str(tmp_path / "out.xlsx"), "--columns", "id")
    ran = Ran(workbook(tmp_path, {"May": TABLE}), *PROMPT, *asked)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "--columns: your workbook keeps all its columns. For a new one with some of them add "
        "--format xlsx.\n"
    )
    assert nothing_is_left(files_in)


# -- 1: it could not be written -----------------------------------------------------------------


def test_a_workbook_that_was_damaged_meanwhile_is_said_and_nothing_is_lost(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    book = workbook(tmp_path, {"May": TABLE})
    source = book.read_bytes()

    class Spoiled(Submit):
        """Beside it, the stored upload is cut short."""

        @staticmethod
        def pause(seconds: float) -> None:
            work_a_little(seconds)
            stored = Path(str(Batch.objects.get().source_file))
            for path in tmp_path.rglob(stored.name):
                path.chmod(0o600)
                path.write_bytes(source[: len(source) // 2])

    output = tmp_path / "out.xlsx"
    words = (str(book), "--model", MODEL, *PROMPT, "--output", str(output))
    with pytest.raises(CommandError) as raised:
        call_command(Spoiled(), *words, stdout=Terminal(), stderr=Terminal())
    assert raised.value.returncode == 1
    assert str(raised.value) == (
        f"The answers could not be written to {output}: The workbook is damaged, or was cut short. "
        "Upload it once more. Nothing is lost: download them at "
        f"{Batch.objects.get().get_absolute_url()}"
    )
    assert not output.exists()


# -- on a terminal ------------------------------------------------------------------------------


def test_a_terminal_shows_a_bar_and_then_how_much_is_written(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    texts = written(tmp_path, b"text\n" + b"hello\n" * 1_001)
    out, err = Terminal(), Terminal()
    words = (str(texts), "--model", MODEL, *PROMPT, "--output", str(tmp_path / "out.csv"))
    call_command(Submit(), *words, stdout=out, stderr=err)
    said = err.getvalue().split("\n")
    assert said[1].startswith("\r[..............................] Queued: 0 of 1,001 rows answered")
    assert said[1].endswith(
        "\r[##############################] Finished: 1,001 of 1,001 rows answered   "
    )
    assert said[2] == "\r1,000 of 1,001 rows written"
    assert said[3] == (f"Finished: 1,001 of 1,001 rows answered, written to {tmp_path / 'out.csv'}")
