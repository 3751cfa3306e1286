"""`manage.py bench --format`: reads and writes each format, beside the bare library.

Where the product converts a file before it reads it, the bare library is measured twice: its rows
alone (`rows`), and as a script that keeps them like the product (`read`; see `bare_files.py`).
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from batchui.batches.phrases import Say
from batchui.bench import bare_files, stays
from batchui.bench.sides import measured
from batchui.bench.surroundings import BenchFailed, clean_environment

BARE, PRODUCT = "batchui.bench.bare_files", "batchui.bench.product_files"
OFFICE_SECONDS = 600
ODS_HAS_NO_LIBRARY = "the product depends on no other library that writes ODS"


@dataclass(frozen=True)
class Work:
    """One thing that is measured.

    action: rows, read or write. bare, product: what each side does. without: why there is no bare
    side, or "". most_rows: that such a file can have; 0 if there is no limit.
    """

    action: str
    form: str
    bare: str
    product: str
    without: str = ""
    most_rows: int = 0


def _converted(form: str, bare: str, product: str, *, most_rows: int = 0) -> tuple[Work, Work]:
    """Reading a file that the product converts."""
    kept = f"{bare}, each kept as a line of JSON and read from there"
    return (
        Work("rows", form, bare, product, most_rows=most_rows),
        Work("read", form, kept, product, most_rows=most_rows),
    )


CHILD = "the child process, its start, every cell as shown; then every row"
SHEET = "calamine: the sheet's rows"
PYARROW = "pyarrow: the rows of batches, to_pylist"
WORKS = (
    Work("read", "csv", "csv.reader", "kind of file, dialect, every row"),
    Work("write", "csv", "csv.writer", "CSV for Excel: no cell runs as a formula"),
    Work("read", "tsv", "csv.reader", "kind of file, dialect, every row"),
    Work("write", "tsv", "csv.writer", "plain CSV: every cell exactly as it is"),
    Work("read", "txt", "the lines of the file", "kind of file, every row"),
    Work("read", "jsonl", "msgspec, line by line", "kind of file, names, every row"),
    Work("write", "jsonl", "json", "the object as it was read, answer, status, reference, usage"),
    *_converted("json", "ijson: the objects", "the child process, its start; then every row"),
    Work("write", "json", "json", "the object as it was read, answer, status, reference, usage"),
    *_converted("xlsx", SHEET, CHILD),
    Work(
        "write",
        "xlsx",
        "xlsxwriter, constant_memory, a method for each type",
        "the same; rows kept in a file first; widths, filter, what is too long, exact texts",
    ),
    *_converted("xls", SHEET, CHILD, most_rows=65_535),
    *_converted("ods", SHEET, CHILD),
    Work(
        "write",
        "ods",
        "",
        "rows kept in a file first, then XML row by row",
        without=ODS_HAS_NO_LIBRARY,
    ),
    *_converted("parquet", PYARROW, CHILD),
    Work(
        "write",
        "parquet",
        "pyarrow: batches of 20,000 rows, zstd, types known",
        "the same; rows kept in a file first, types found",
    ),
    *_converted("arrow", PYARROW, CHILD),
    Work(
        "write",
        "workbook",
        "openpyxl: load and save, as no library puts cells into a workbook in place",
        "cells put between the bytes of the sheet",
    ),
)
FORMATS = tuple(dict.fromkeys(work.form for work in WORKS))
ALL = "all"


@dataclass(frozen=True)
class Figures:
    """What one side took: seconds by the clock, CPU seconds, the peak of its largest process."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def measure(form: str, rows: int, repeat: int, say: Say) -> None:
    """Measure a format, or ALL, with a file of `rows` rows, `repeat` times; print the figures.

    Raises BenchFailed if a side fails, its result is wrong, or the format has no room for the rows.
    """
    works = [_fitted(work, rows, form) for work in WORKS if form in (ALL, work.form)]
    rounds = "one round" if repeat == 1 else f"medians of {repeat} rounds, the sides in turn"
    say(f"{rows:,} rows of {len(stays.COLUMNS)} columns; {rounds}; each in a process of its own.\n")
    sides = ("", "bare library", "", "", "product", "", "", "product / bare", "")
    of_side = ("seconds", "CPU s", "peak MB")
    heads = ("", *of_side, *of_side, "clock", "CPU")
    for line in (sides, heads):
        say(_row(line))
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as name:
        for work, count in works:
            _measure(work, count, repeat, Path(name), say)
    say(
        "\nThe peak is that of the larger process where there is a child. The child is niced, so "
        "on a machine with other work compare CPU seconds."
    )
    for work, count in works:
        say(_about(work, rows, count))


def _fitted(work: Work, rows: int, form: str) -> tuple[Work, int]:
    """The work with the rows that its format has room for. One that was asked for alone must."""
    if work.most_rows and rows > work.most_rows:
        if form != ALL:
            raise BenchFailed(f"A file in {form.upper()} has at most {work.most_rows:,} rows.")
        return work, work.most_rows
    return work, rows


def _measure(work: Work, rows: int, repeat: int, folder: Path, say: Say) -> None:
    source = _source("xlsx" if work.form == "workbook" else work.form, rows, folder)
    sides = [PRODUCT] if work.without else [BARE, PRODUCT]
    taken: dict[str, list[Figures]] = {side: [] for side in sides}
    for _ in range(repeat):
        for side in sides:
            taken[side].append(_run(side, work, rows, source, folder))
    bare = taken.get(BARE)
    cells = [f"{work.action} {work.form}", *_medians(bare), *_medians(taken[PRODUCT])]
    say(_row([*cells, *_ratios(taken[PRODUCT], bare)]))


def _run(side: str, work: Work, rows: int, source: Path, folder: Path) -> Figures:
    """Run a side once, and check what it read or wrote. Raises BenchFailed."""
    name = f"{work.action} {work.form}, {'product' if side == PRODUCT else 'bare library'}"
    target = folder / f"made.{'xlsx' if work.form == 'workbook' else work.form}"
    file = target if work.action == "write" else source
    more = [source] if work.form == "workbook" else []
    found = measured(name, side, [work.action, work.form, file, rows, *more], clean_environment())
    cells = stays.wanted(stays.pool(rows), rows)
    if work.action == "write":
        count, kept = _written(target, work.form, rows)
        _compare(name, rows, count, cells, kept)
        target.unlink()
    else:
        read = found["details"]
        kept = {int(number): row for number, row in read["seen"].items()}
        _compare(name, rows, read["rows"], _as_read(cells, work.form), kept)
    peak = max(found["peak_bytes"], found["largest_child_bytes"])
    return Figures(found["seconds"], found["cpu_seconds"], peak)


def _compare(
    name: str, rows: int, found: int, wanted: dict[int, list[str]], kept: dict[int, list[str]]
) -> None:
    if found != rows:
        raise BenchFailed(f"{name}: {found:,} rows instead of {rows:,}.")
    for number, cells in wanted.items():
        if kept[number] != cells:
            raise BenchFailed(f"{name}: row {number:,} is {kept[number]} instead of {cells}.")


def _as_read(cells: dict[int, list[str]], form: str) -> dict[int, list[str]]:
    """The texts of these rows in a file without answers; one of texts alone has the reviews."""
    if form == "txt":
        return {number: [row[2].replace("\n", " ")] for number, row in cells.items()}
    return {number: row[:-1] for number, row in cells.items()}


def _written(path: Path, form: str, rows: int) -> tuple[int, dict[int, list[str]]]:
    """The rows of a file that a side wrote: how many, and the texts of some, with the answers."""
    width = len(stays.COLUMNS) + 1
    found, kept = stays.seen(_read_back(path, form), rows)
    texts = bare_files.kept_texts(kept)
    return found, {number: row[:width] for number, row in texts.items()}


def _read_back(path: Path, form: str) -> Iterator[Sequence[Any]]:
    if form in ("json", "jsonl"):
        with path.open("rb") as file:
            items = json.load(file) if form == "json" else map(json.loads, file)
            for item in items:  # the product keeps the columns apart
                columns = item.get("columns", item)
                values = [columns[name] for name in stays.COLUMNS]
                yield [*values, item["answer"]]
        return
    yield from bare_files.READERS["xlsx" if form == "workbook" else form](path)


def _source(form: str, rows: int, folder: Path) -> Path:
    """The file of this format without answers. It is made when it is first asked for."""
    path = folder / f"stays-{rows}.{form}"
    if path.exists():
        return path
    if form in bare_files.WRITERS:
        cells = [bare_files.stored(row[:-1], form) for row in stays.pool(rows)]
        bare_files.WRITERS[form](path, stays.numbered(cells, rows), stays.COLUMNS)
        return path
    return _by_office(_source("ods" if form == "xls" else "xlsx", rows, folder), path)


def _by_office(source: Path, path: Path) -> Path:
    """The workbook in another format, as LibreOffice saves it. Raises BenchFailed."""
    program = shutil.which("soffice")
    if program is None:
        raise BenchFailed(f"LibreOffice makes the {path.suffix[1:]} file: install it (soffice).")
    profile = f"-env:UserInstallation=file://{path.parent / 'office'}"
    to = ["--convert-to", path.suffix[1:], "--outdir", str(path.parent), str(source)]
    done = subprocess.run(
        [program, profile, "--headless", *to],
        capture_output=True,
        check=False,
        timeout=OFFICE_SECONDS,
    )
    if not path.exists():
        raise BenchFailed(f"LibreOffice did not make the file: {done.stderr.decode()}")
    return path


def _medians(taken: Sequence[Figures] | None) -> list[str]:
    if taken is None:
        return ["-", "-", "-"]
    seconds = median(run.seconds for run in taken)
    cpu = median(run.cpu_seconds for run in taken)
    return [f"{seconds:.2f}", f"{cpu:.2f}", f"{max(run.peak_bytes for run in taken) / 1e6:.0f}"]


def _ratios(product: Sequence[Figures], bare: Sequence[Figures] | None) -> list[str]:
    """How many times the bare library's time the product takes: medians of the rounds' ratios."""
    if bare is None:
        return ["-", "-"]
    pairs = list(zip(product, bare, strict=True))
    by_clock = median(ours.seconds / theirs.seconds for ours, theirs in pairs)
    by_cpu = median(ours.cpu_seconds / theirs.cpu_seconds for ours, theirs in pairs)
    return [f"{by_clock:.2f}", f"{by_cpu:.2f}"]


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f"{first:16}" + "".join(f"{cell:>10}" for cell in rest)


def _about(work: Work, rows: int, count: int) -> str:
    bare = f"no bare side, {work.without}" if work.without else work.bare
    fewer = "" if count == rows else f" ({count:,} rows, as many as fit)"
    return f"{work.action} {work.form}{fewer}: bare: {bare}; product: {work.product}."
