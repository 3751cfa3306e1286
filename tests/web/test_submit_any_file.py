"""`manage.py submit`: every kind of file, read as it is or as an option says, and what is said."""

import gzip
import io
import os
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from batchui.batches.models import Batch
from batchui.worker import heartbeat
from tests.batches.conftest import MODEL
from tests.web.submitting import PROMPT, Ran, Submit, workbook, written
from tests.web.visiting import nothing_is_left

pytestmark = pytest.mark.django_db

SANDBOX = "The sandbox answers: no AI model runs there."
TABLE = [["id", "text"], [1, "one"], [2, "two"]]
CSV = b"id,text\n1,one\n2,two\n"
JSON = b'[{"id": 1, "text": "one"}, {"id": 2, "text": "two"}]'


@pytest.fixture(autouse=True)
def a_worker_runs(db: None) -> None:
    heartbeat.beat("worker:beside")


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("texts.csv", content)
    return packed.getvalue()


def in_parquet(folder: Path) -> Path:
    rows = pa.table({"id": [1, 2], "text": ["one", "two"]})
    parquet.write_table(rows, folder / "texts.parquet")
    return folder / "texts.parquet"


FILES: dict[str, Callable[[Path], Path]] = {
    "xlsx": lambda folder: workbook(folder, {"May": TABLE}),
    "parquet": in_parquet,
    "json": lambda folder: written(folder, JSON, "texts.json"),
    "gz": lambda folder: written(folder, gzip.compress(CSV), "texts.csv.gz"),
    "zip": lambda folder: written(folder, zipped(CSV), "texts.zip"),
    "tsv": lambda folder: written(folder, CSV.replace(b",", b"\t"), "texts.tsv"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_any_kind_can_be_submitted(tmp_path: Path, kind: str) -> None:
    ran = Ran(FILES[kind](tmp_path), *PROMPT)
    assert (ran.status, ran.err) == (0, f"{SANDBOX}\n")
    batch = Batch.objects.get()
    assert (batch.rows, batch.part_count, batch.columns) == (2, 1, ("id", "text"))


def test_a_file_whose_name_is_no_utf_8_can_be_submitted(tmp_path: Path) -> None:
    texts = written(tmp_path, CSV, os.fsdecode(b"K\xf6ln.csv"))
    assert Ran(texts, *PROMPT).status == 0
    batch = Batch.objects.get()
    assert (batch.source_name, batch.name) == ("K\ufffdln.csv", "K\ufffdln")


# -- from a pipe --------------------------------------------------------------------------------


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Path]:
    """Let bytes come from the standard input; returns what names it."""

    def come(content: bytes) -> Path:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return Path("-")

    return come


@pytest.mark.parametrize("kind", ["csv", "xlsx", "json", "gz"])
def test_what_comes_through_a_pipe_shows_itself_what_it_is(
    pipe: Callable[[bytes], Path], tmp_path: Path, kind: str
) -> None:
    content = CSV if kind == "csv" else FILES[kind](tmp_path).read_bytes()
    assert Ran(pipe(content), *PROMPT).status == 0
    batch = Batch.objects.get()
    assert (batch.rows, batch.columns) == (2, ("id", "text"))
    assert (batch.source_name, batch.name) == ("From the terminal", "From the terminal")


def test_what_comes_through_a_pipe_can_be_named(pipe: Callable[[bytes], Path]) -> None:
    assert Ran(pipe(b"text\none\n"), *PROMPT, "--file-name", "reviews.csv").status == 0
    batch = Batch.objects.get()
    assert (batch.source_name, batch.name, batch.columns) == ("reviews.csv", "reviews", ("text",))


def test_a_pipe_that_has_a_name_is_read_like_the_standard_input(tmp_path: Path) -> None:
    pipe = tmp_path / "texts.csv"  # a shell makes one of <(…)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(CSV,), daemon=True)
    writer.start()
    assert Ran(pipe, *PROMPT).status == 0
    writer.join()
    batch = Batch.objects.get()
    assert (batch.rows, batch.source_name) == (2, "texts.csv")


def test_without_a_standard_input_a_file_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    ran = Ran(Path("-"), *PROMPT)
    assert (ran.status, ran.err) == (2, "-: nothing comes through a pipe. Name a file.\n")


def test_a_pipe_is_not_read_beyond_the_limit(
    pipe: Callable[[bytes], Path], files_in: Path, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 1_000
    ran = Ran(pipe(b"text\n" + b"x\n" * 1_000_000), *PROMPT)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("The file has ")
    assert sys.stdin.buffer.read(1)  # the rest is still there
    assert nothing_is_left(files_in)


# -- read as an option says ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "columns", "first"),
    [
        ("text\nKöln\n".encode("latin1"), ("--encoding", "latin1"), ("text",), ["Köln"]),
        ("text\nДа\n".encode("koi8-r"), ("--encoding", "KOI8-R"), ("text",), ["Да"]),
        (b"text;a,b\n1;2,3\n", ("--delimiter", "comma"), ("text;a", "b"), ["1;2", "3"]),
        (b"text;a,b\n1;2,3\n", ("--delimiter", ";"), ("text", "a,b"), ["1", "2,3"]),
        (b"text\ta,b\n1\t2,3\n", ("--delimiter", "Tab"), ("text", "a,b"), ["1", "2,3"]),
        (b"text,b\n1,2\n", ("--delimiter", "none"), ("text,b",), ["1,2"]),
        (b"a,b\ntext,id\nx,1\n", ("--header-row", "2"), ("text", "id"), ["x", "1"]),
        (b"text,b\n1,2\n", ("--no-header",), ("Column 1", "Column 2"), ["text", "b"]),
    ],
)
def test_a_text_is_read_as_the_options_say(
    tmp_path: Path, content: bytes, options: tuple[str, ...], columns: tuple[str, ...], first: Any
) -> None:
    prompt = ("--prompt", "Say {{" + columns[0] + "}}")
    assert Ran(written(tmp_path, content), *prompt, *options).status == 0
    batch = Batch.objects.get()
    assert (batch.columns, batch.first_rows[0]) == (columns, first)


@pytest.mark.parametrize(
    ("nested", "columns"), [("columns", ("text", "who.name")), ("text", ("text", "who"))]
)
def test_nested_objects_become_what_the_option_says(
    tmp_path: Path, nested: str, columns: tuple[str, ...]
) -> None:
    lines = written(tmp_path, b'{"text": "a", "who": {"name": "Ana"}}\n', "texts.jsonl")
    assert Ran(lines, *PROMPT, "--nested", nested).status == 0
    assert Batch.objects.get().columns == columns


def test_a_sheet_is_named(tmp_path: Path) -> None:
    book = workbook(tmp_path, {"April": TABLE, "May": [["text"], ["x"], ["y"], ["z"]]})
    ran = Ran(book, *PROMPT, "--sheet", "May")
    assert (ran.status, ran.err) == (0, f"{SANDBOX}\n")
    batch = Batch.objects.get()
    assert (batch.rows, batch.columns) == (3, ("text",))


# -- what is said -------------------------------------------------------------------------------


def test_without_a_choice_it_says_which_sheet_it_took(tmp_path: Path) -> None:
    book = workbook(tmp_path, {"Notes": [["Hello"]], "May": TABLE, "June": TABLE})
    ran = Ran(book, *PROMPT)
    assert ran.err.splitlines() == [
        "The sheet “May” is read. The workbook has “Notes”, “May” and “June”; --sheet names "
        "another one.",
        SANDBOX,
    ]


@pytest.mark.parametrize(
    ("content", "prompt", "said"),
    [
        (
            "id;text\n1;Grüße aus Köln\n2;Schöne Straße\n".encode("cp1252"),
            "{{text}}",
            "The text was recognised as Windows-1252 (Western European). If letters come out "
            "wrong, name its encoding: --encoding.",
        ),
        (
            b"1,a\n2,b\n3,c\n",
            "{{Column 2}}",
            "No row was recognised as the names of the columns, so they are called “Column 1” and "
            "“Column 2”. If there is one, give its number: --header-row.",
        ),
        (
            b"id,text,text\n1,a,x\n2,b,y\n",
            "{{text}}",
            "2 columns have the name “text”. Here they are called “text” and “text (2)”.",
        ),
    ],
)
def test_it_says_what_was_guessed_and_mended(
    tmp_path: Path, content: bytes, prompt: str, said: str
) -> None:
    ran = Ran(written(tmp_path, content), "--prompt", prompt)
    assert (ran.status, ran.err.splitlines()) == (0, [said, SANDBOX])


def test_rows_that_are_skipped_are_counted(tmp_path: Path) -> None:
    ran = Ran(written(tmp_path, b"id,text\n1,a\n2\n3,\n"), *PROMPT, "--skip-invalid")
    assert ran.err.splitlines() == ["2 rows are skipped, and the downloads say so.", SANDBOX]


# -- refused ------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, bytes, tuple[str, ...], str]] = {
    "a sheet of a text": ("a.csv", CSV, ("--sheet", "May"), "--sheet: a.csv has no sheets."),
    "a sheet of JSON": ("a.json", JSON, ("--sheet", "May"), "--sheet: a.json has no sheets."),
    "an encoding of JSON": (
        "a.json",
        JSON,
        ("--encoding", "latin1"),
        "--encoding: a.json says itself how it is to be read.",
    ),
    "a delimiter of JSON": (
        "a.json",
        JSON,
        ("--delimiter", "tab"),
        "--delimiter: a.json says itself how it is to be read.",
    ),
    "a row of names in JSONL": (
        "a.jsonl",
        b'{"text": 1}\n',
        ("--header-row", "1"),
        "--header-row: the names of the columns are in each object of a.jsonl.",
    ),
    "a row of names in plain text": (
        "a.txt",
        b"one\ntwo\n",
        ("--header-row", "1"),
        "--header-row: a.txt is read as plain text, a row on each line. If it is a table, say what "
        "is between its cells: --delimiter.",
    ),
    "objects in a CSV": (
        "a.csv",
        CSV,
        ("--nested", "text"),
        "--nested: a.csv has no JSON objects.",
    ),
    "a row of names before the first": (
        "a.csv",
        CSV,
        ("--header-row", "0"),
        "--header-row: write a number from 1 to 1,000.",
    ),
    "a row of names too far below": (
        "a.csv",
        CSV,
        ("--header-row", "1001"),
        "--header-row: write a number from 1 to 1,000.",
    ),
    "a delimiter without a sign": (
        "a.csv",
        CSV,
        ("--delimiter", ""),
        "--delimiter: “” cannot be between cells. Write comma, semicolon, tab, pipe or none.",
    ),
    "an unknown delimiter": (
        "a.csv",
        CSV,
        ("--delimiter", "x"),
        "--delimiter: “x” cannot be between cells. Write comma, semicolon, tab, pipe or none.",
    ),
    "a delimiter of no sign": (
        "a.csv",
        CSV,
        ("--delimiter", ""),
        "--delimiter: “” cannot be between cells. Write comma, semicolon, tab, pipe or none.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_option_that_fits_no_such_file_ends_with_2(
    tmp_path: Path, files_in: Path, what: str
) -> None:
    name, content, options, sentence = REFUSED[what]
    ran = Ran(written(tmp_path, content, name), *PROMPT, *options)
    assert (ran.status, ran.out, ran.err) == (2, "", f"{sentence}\n")
    assert nothing_is_left(files_in)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--sheet", "Mai"),
            "This workbook has no sheet “Mai”. Choose another one; it has “April” and “May”.",
        ),
        (("--encoding", "utf-8"), "--encoding: May.xlsx says itself how it is to be read."),
        (("--sheet", "May", "--nested", "text"), "--nested: May.xlsx has no JSON objects."),
    ],
)
def test_an_option_that_fits_no_such_workbook_ends_with_2(
    tmp_path: Path, files_in: Path, options: tuple[str, ...], sentence: str
) -> None:
    ran = Ran(workbook(tmp_path, {"April": TABLE, "May": TABLE}), *PROMPT, *options)
    assert (ran.status, ran.out, ran.err) == (2, "", f"{sentence}\n")
    assert nothing_is_left(files_in)


def test_an_unknown_encoding_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    ran = Ran(written(tmp_path, CSV), *PROMPT, "--encoding", "klingon")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("--encoding: batchui knows no encoding “klingon”. It knows UTF-8, ")
    assert ran.err.endswith("GB18030 (Chinese, simplified), Big5 (Chinese, traditional).\n")


def test_a_row_of_names_and_no_names_are_not_chosen_together(tmp_path: Path) -> None:
    words = (str(written(tmp_path, CSV)), "--model", MODEL, "--header-row", "1", "--no-header")
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command(Submit(), *words)
