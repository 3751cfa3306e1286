"""Reads and writes a table as the product does: by `prompts/` and by `exports/`.

    python -m batchui.bench.stopwatch batchui.bench.product_files read|rows FORMAT FILE ROWS
    python -m batchui.bench.stopwatch batchui.bench.product_files write FORMAT FILE ROWS [FILE]

Reading is what a worker does for an upload: the child process that converts it, if it needs one,
and then every row. Writing begins with rows as they come from the store of a batch, their answers
in JSON. CSV and JSON go out as they are made; for XLSX, ODS and Parquet the rows are kept in a
temporary file until the kinds of their columns are known, and that is part of the time.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from batchui.bench import stays
from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.ods import write_ods
from batchui.exports.parquet import write_parquet
from batchui.exports.rows import ExportRow
from batchui.exports.table import Table
from batchui.exports.workbook.writer import add_columns
from batchui.exports.xlsx import write_xlsx
from batchui.prompts.conversion import converting
from batchui.prompts.conversion.converted import Jsonl, Sheet, open_lines
from batchui.prompts.conversion.looking import read_head
from batchui.prompts.reading.blocks import Block, Cells
from batchui.prompts.reading.format import HEAD_BYTES
from batchui.prompts.reading.readers import read_blocks
from batchui.prompts.reading.rows import as_list, shown_text
from batchui.prompts.reading.sniffing import sniff, sniff_table

TEXTS, OBJECTS = ("csv", "tsv", "txt", "jsonl"), ("json", "jsonl")
MOST_BYTES = 100_000_000_000

_cells: list[list[Any]] = []


def prepare(action: str, form: str, _file: str, rows: str, *_: str) -> None:
    """Make the cells that are written, as they are stored with a batch."""
    if action == "write":
        if form == "parquet":  # a worker imports them once
            import_module("pyarrow.parquet")
            import_module("pyarrow.compute")
        _cells.extend(_stored(row, form) for row in stays.pool(int(rows)))


def main(action: str, form: str, file: str, rows: str, source: str = "") -> dict[str, Any]:
    """Read or write the file. Returns how many rows were read, and the texts of some."""
    path, count = Path(file), int(rows)
    if action != "write":
        return _read(path, form, count)
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        if form == "workbook":
            _into_workbook(Path(source), path, count)
        elif form in CHUNKS:
            table = Table(stays.COLUMNS)
            with path.open("wb") as out:
                out.writelines(CHUNKS[form](_rows(count, form), table))
        else:
            table = Table(stays.COLUMNS, typed=True)
            WHOLE[form](_rows(count, form), table, target=path, folder=Path(folder))
    return {}


def _read(path: Path, form: str, rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        columns, blocks = (_read_text if form in TEXTS else _converted)(path, Path(folder))
        cells = chain.from_iterable(block.cells for block in blocks)
        found, kept = stays.seen(cells, rows)
    return {"rows": found, "seen": {at: _texts(row, columns) for at, row in kept.items()}}


def _texts(row: Cells, columns: Sequence[str]) -> list[str]:
    if isinstance(row, dict):
        return [stays.text_of(row[name]) for name in columns]
    return list(map(shown_text, as_list(row, columns)))


def _read_text(path: Path, _: Path | None = None) -> tuple[Sequence[str], Iterator[Block]]:
    with path.open("rb") as file:
        return _sniffed(read_head(file), path.open("rb"), path.name)


def _sniffed(head: bytes, opened: BinaryIO, name: str) -> tuple[Sequence[str], Iterator[Block]]:
    form = sniff(head, name=name, whole=len(head) < HEAD_BYTES)
    return form.columns, read_blocks(opened, form)


def _converted(path: Path, folder: Path) -> tuple[Sequence[str], Iterator[Block]]:
    made = converting.convert(
        path, folder, name=path.name, most_bytes=MOST_BYTES, progress=lambda news: None
    )
    if isinstance(made, Jsonl):
        lines = folder / made.file
        return _sniffed(_head(lines), open_lines(lines), "objects.jsonl")
    assert isinstance(made, tuple)  # noqa: S101  sheets
    sheet: Sheet = made[0]
    lines = folder / sheet.file
    head = _head(lines)
    form = sniff_table(
        head, whole=len(head) < HEAD_BYTES, columns=sheet.columns, named=sheet.header
    )
    return form.columns, read_blocks(open_lines(lines), form)


def _head(lines: Path) -> bytes:
    with open_lines(lines) as stream:
        return read_head(stream)


def _rows(rows: int, form: str) -> Iterator[ExportRow]:
    """Rows as `batches.exporting.export_rows` has them."""
    made = str if form in CHUNKS else int
    for cells in stays.numbered(_cells, rows, made=made):
        answer = cells.pop()
        columns = None
        if form in OBJECTS:
            columns = dict(zip(stays.COLUMNS, cells, strict=True))
        yield ExportRow(
            row=int(cells[0]) + 1,
            cells=cells,
            extras=[],
            columns=columns,
            answer=answer,
            status=stays.STATUS,
            error=None,
            external_reference=None,
            usage=None,
        )


def _stored(row: Sequence[stays.Value], form: str) -> list[Any]:
    """The cells of a row as a batch stores them; the answer, last, in JSON."""
    *cells, answer = row
    stored: Iterable[Any]
    if form in OBJECTS:
        stored = [_raw(cell) for cell in cells]
    elif form in CHUNKS:
        stored = map(stays.text_of, cells)
    else:
        stored = map(_typed, cells)
    return [*stored, msgspec.json.encode(answer)]


def _raw(cell: stays.Value) -> msgspec.Raw:
    """As `prompts.reading.rows.decode_to_show` has the values of an object."""
    value = stays.text_of(cell) if isinstance(cell, date) else cell
    return msgspec.Raw(msgspec.json.encode(value))


def _typed(cell: stays.Value) -> Any:
    """As `prompts.reading.table_rows` has the cells of a workbook."""
    if isinstance(cell, float):
        return Decimal(stays.text_of(cell))
    if isinstance(cell, datetime):
        return {"datetime": stays.text_of(cell)}
    return {"date": cell.isoformat()} if isinstance(cell, date) else cell


def _into_workbook(source: Path, target: Path, rows: int) -> None:
    answers = (
        (row.row, (msgspec.json.decode(row.answer or b"null"), row.status, row.error))
        for row in _rows(rows, "workbook")
    )
    with source.open("rb") as given, target.open("w+b") as out:
        add_columns(
            given,
            out,
            sheet="Sheet1",
            header_row=1,
            columns=stays.ADDED,
            rows=answers,
            last_row=rows + 1,
        )


def _csv(rows: Iterable[ExportRow], table: Table) -> Iterator[bytes]:
    return csv_chunks(rows, table)


def _tsv(rows: Iterable[ExportRow], table: Table) -> Iterator[bytes]:
    return csv_chunks(rows, table, delimiter="\t", plain=True)


CHUNKS: dict[str, Callable[[Iterable[ExportRow], Table], Iterator[bytes]]] = {
    "csv": _csv,
    "tsv": _tsv,
    "json": json_chunks,
    "jsonl": jsonl_chunks,
}
WHOLE: dict[str, Callable[..., object]] = {
    "xlsx": write_xlsx,
    "ods": write_ods,
    "parquet": write_parquet,
}
