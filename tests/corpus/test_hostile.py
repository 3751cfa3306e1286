"""Files made to take the server down: each ends in a sentence, within 10 CPU seconds and 300 MB."""

import gzip
import io
import os
import struct
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in
from tests.corpus.test_books import in_folder
from tests.prompts.conversion.conversions import hand_written
from tests.prompts.conversion.test_hostile_conversions import (
    MEMORY,
    cells_far_apart,
    entities_in_a_sheet,
    forged_parquet,
    repeated_ods,
)

pytestmark = [pytest.mark.django_db, pytest.mark.processes]

SECONDS, MEGABYTES = 10.0, 300.0
SAMPLED_EVERY = 0.005


class Peak:
    """The most memory that a child had, and that this process took besides, in megabytes."""

    child = own = 0.0


def _read(path: str) -> str:
    """The text of a file of /proc; "" if the process has ended."""
    with suppress(OSError):
        return Path(path).read_text()
    return ""


def _status(pid: int | str, name: str) -> float:
    """A figure of /proc/PID/status in megabytes; 0 if the process has ended."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _children() -> list[str]:
    """Those that run a program of their own: until then they have the memory of this process."""
    own = _read("/proc/self/cmdline")
    tasks = Path("/proc/self/task").iterdir()
    children = [pid for task in tasks for pid in _read(f"{task}/children").split()]
    return [pid for pid in children if _read(f"/proc/{pid}/cmdline") != own]


@contextmanager
def memory_watched() -> Iterator[Peak]:
    """The peaks of memory while the body runs. The kernel keeps that of each process."""
    peak, done = Peak(), threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLED_EVERY):
            peak.child = max([peak.child, *(_status(pid, "VmHWM") for pid in _children())])

    Path("/proc/self/clear_refs").write_text("5")
    before = _status("self", "VmRSS")
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()
        peak.own = _status("self", "VmHWM") - before


def rows_of_one_column_each() -> bytes:
    """A JSON document of objects, none of which has a name that another has."""
    return b"[" + b",".join(b'{"c%d":1}' % number for number in range(20_000)) + b"]"


def wide_workbook() -> bytes:
    cells = "<c><v>1</v></c>" * 16_384
    return in_folder(lambda path: hand_written(path, f"<row>{cells}</row><row>{cells}</row>"))()


def zip_of_zeros(size: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("r.csv", b"0" * size)
    return made.getvalue()


def zip_that_lies() -> bytes:
    """It says that its file has 100 bytes, which is not so."""
    data = bytearray(zip_of_zeros(1_000_000))
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 100)
    return bytes(data)


def zip_of_many_names() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(5_000):
            archive.writestr(f"{number}.csv", b"")
    return made.getvalue()


NAMES_TOO_LONG = (
    "The first line of the file is longer than 256 KB, too long for a line of column names. …"
)

ENTRIES = [
    Entry("17 billion cells", "r.xlsx", in_folder(cells_far_apart), MEMORY + "…"),
    Entry(
        "16,384 columns",
        "r.xlsx",
        wide_workbook,
        "The table has 16,384 columns; at most 2,000 can be read. …",
    ),
    Entry(
        "an entity bomb",
        "r.xlsx",
        in_folder(entities_in_a_sheet),
        "In this workbook, “xl/worksheets/data.xml” defines entities, which no spreadsheet …",
    ),
    Entry(
        "17 billion repeated cells",
        "r.ods",
        in_folder(repeated_ods),
        "This workbook is damaged or was not copied whole. …",
    ),
    Entry("a zip bomb", "r.zip", lambda: zip_of_zeros(50_000_000), NAMES_TOO_LONG),
    Entry(
        "a zip that lies about its size",
        "r.zip",
        zip_that_lies,
        "This packed file is damaged or was not copied whole. …",
    ),
    Entry(
        "a zip of 5,000 files",
        "r.zip",
        zip_of_many_names,
        "This ZIP archive has 5,000 files: “0.csv”, “1.csv”, …",
    ),
    Entry(
        "gzip of one endless line",
        "r.csv.gz",
        lambda: gzip.compress(b"x" * 50_000_000),
        NAMES_TOO_LONG,
    ),
    Entry(
        "JSON nested 100,000 deep",
        "r.json",
        b"[" * 100_000,
        "Item 1 (line 1): this is no JSON (its lists and objects are nested …",
    ),
    Entry(
        "objects nested 100,000 deep",
        "r.json",
        b'{"a":' * 100_000,
        "Line 1: this is no JSON (its lists and objects are nested too deeply). Correct it, and …",
    ),
    Entry(
        "a line of JSON nested 100,000 deep",
        "r.jsonl",
        b'{"a":1}\n{"a":' + b"[" * 100_000,
        Table(("a",), 2, {"a": 1}, bad=1),
    ),
    Entry(
        "20,000 names in a document",
        "r.json",
        rows_of_one_column_each,
        "Row 2,001: with this object the file has more than 2,000 different keys, or keys of …",
    ),
    Entry(
        "a number of a million digits",
        "r.json",
        b'[{"a": ' + b"9" * 1_000_000 + b"}]",
        "Item 1 (line 1): this is no JSON (it has a number with more than 4,300 digits). …",
    ),
    Entry("one endless line", "r.csv", lambda: b"x" * 20_000_000, NAMES_TOO_LONG),
    Entry(
        "one endless line below good ones",
        "r.csv",
        lambda: b"id,text\n1,one\n2," + b"x" * 20_000_000,
        "Line 3: what begins here is longer than 8 MB, too long for one row. …",
    ),
    Entry(
        "one endless cell in quotation marks",
        "r.csv",
        lambda: b'id,text\n1,"' + b"x\n" * 10_000_000,
        "Row 2, column “text”: a quotation mark opens the cell here and nothing closes it. …",
    ),
    Entry("endless commas", "r.csv", lambda: b"," * 10_000_000, NAMES_TOO_LONG),
    Entry(
        "endless quotation marks",
        "r.csv",
        lambda: b"id,text\n1," + b'"' * 10_000_000,
        "Line 2: what begins here is longer than 8 MB, too long for one row. …",
    ),
    Entry(
        "endless blank lines",
        "r.csv",
        lambda: b"\n" * 10_000_000,
        "The first 256 KB of the file are blank. …",
    ),
    Entry(
        "endless braces",
        "r.txt",
        lambda: b"{" * 10_000_000,
        "Line 1: what begins here is longer than 8 MB, too long for one row. …",
    ),
    Entry(
        "endless backslashes",
        "r.csv",
        lambda: b'id,text\n1,"' + b'\\"' * 5_000_000,
        "Line 2: what begins here is longer than 8 MB, too long for one row. …",
    ),
    Entry(
        "a forged footer of Parquet",
        "r.parquet",
        in_folder(forged_parquet),
        "This file is damaged, or was not copied whole, so its table cannot be read. …",
    ),
    Entry(
        "a footer of Parquet of four gigabytes",
        "r.parquet",
        b"PAR1" + bytes(100) + b"\xff\xff\xff\xff" + b"PAR1",
        "This file is damaged, or was not copied whole, so its table cannot be read. …",
    ),
]


@each(ENTRIES)
def test_a_hostile_file_costs_little(receive: MakeBatch, entry: Entry) -> None:
    entry = entry._replace(data=entry.content)
    before = os.times()
    with memory_watched() as peak:
        found = found_in(receive, entry)
    after = os.times()
    assert found == entry.expected
    assert sum(after[:4]) - sum(before[:4]) < SECONDS
    assert peak.child < MEGABYTES
    assert peak.own < MEGABYTES
