"""Reads and writes a table with the library that a programmer would take, and nothing of ours.

    python -m batchui.bench.stopwatch batchui.bench.bare_files read|rows FORMAT FILE ROWS
    python -m batchui.bench.stopwatch batchui.bench.bare_files write FORMAT FILE ROWS [FILE]

Each reader is a generator of rows without their header; each writer takes rows. The one library
that is needed is imported before the clock starts, except to read what the product converts: that
takes it a new process, whose start and imports are in its seconds.

A text can be read as often as a script likes. The rows of any other file are kept first, as the
product keeps them: each is a line of JSON in a file, with whole numbers without a point and moments
as people write them. The lines are then read. So neither side needs the library again, or memory
for all rows, when they are checked, and once more when they are sent. With `rows` in place of
`read`, nothing is kept.

The cells to write are what a program has that read a file of this format: texts (CSV), values of
JSON, or numbers, dates and booleans. They are made before the clock starts. csv.writer writes CSV,
json JSON, xlsxwriter XLSX cell by cell, and pyarrow Parquet: batches of ROWS_AT_ONCE rows, of types
that are known beforehand, with zstd and otherwise its own settings.
"""

import csv
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from batchui.bench import stays

# What is imported for each format, to read and to write.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "jsonl": ("msgspec",),
    "json": ("ijson", "msgspec"),
    "xlsx": ("python_calamine", "msgspec", "xlsxwriter"),
    "xls": ("python_calamine", "msgspec"),
    "ods": ("python_calamine", "msgspec"),
    "parquet": ("pyarrow.parquet", "msgspec"),
    "arrow": ("pyarrow", "msgspec"),
    "workbook": ("openpyxl",),
}
TEXTS, OBJECTS = ("csv", "tsv", "txt"), ("json", "jsonl")
READ_AGAIN = (*TEXTS, "jsonl")
ROWS_AT_ONCE, LINES_AT_ONCE = 20_000, 1_000
Rows = Iterable[Sequence[Any]]

_cells: list[list[Any]] = []


def prepare(action: str, form: str, _file: str, rows: str, *_: str) -> None:
    """Import the library, and make the cells that are written."""
    if action == "write" or form in TEXTS:
        for name in LIBRARIES.get(form, ()):
            import_module(name)
    if action == "write":
        _cells.extend(stored(row, form) for row in stays.pool(int(rows)))


def main(action: str, form: str, file: str, rows: str, source: str = "") -> dict[str, Any]:
    """Read or write the file. Returns how many rows were read, and the texts of some."""
    path, count = Path(file), int(rows)
    if action != "write":
        rows_read = READERS[form](path)
        if action == "read" and form not in READ_AGAIN:
            rows_read = _as_lines(rows_read)
        found, kept = stays.seen(rows_read, count)
        return {"rows": found, "seen": kept_texts(kept)}
    if form == "workbook":
        into_workbook(Path(source), path, _cells)
        return {}
    made = str if form in TEXTS else int
    written = ([*row, stays.STATUS, ""] for row in stays.numbered(_cells, count, made=made))
    WRITERS[form](path, written, (*stays.COLUMNS, *stays.ADDED))
    return {}


def _as_lines(rows: Rows) -> Iterator[Sequence[Any]]:
    """The rows, read from a file with a line of JSON for each of them, which is made first."""
    import msgspec

    encode, decode = msgspec.json.Encoder().encode_lines, msgspec.json.Decoder(list[Any]).decode
    iterator = iter(rows)
    with tempfile.TemporaryFile() as file:
        while block := list(islice(iterator, LINES_AT_ONCE)):
            file.write(encode([[c if type(c) is str else _shown(c) for c in row] for row in block]))
        file.seek(0)
        yield from map(decode, file)


def _shown(cell: Any) -> Any:
    """A cell as JSON has it, and as people write it."""
    kind = type(cell)
    if kind is float:
        return int(cell) if cell.is_integer() else cell
    return cell.isoformat(" ") if kind is datetime else cell


def stored(row: Sequence[Any], form: str) -> list[Any]:
    """The cells of a row as a file of this format has them."""
    if form in TEXTS:
        return list(map(stays.text_of, row))
    if form in OBJECTS:
        return [stays.text_of(cell) if isinstance(cell, date) else cell for cell in row]
    return list(row)


def kept_texts(kept: dict[int, Sequence[Any]]) -> dict[int, list[str]]:
    """The texts of the cells of these rows."""
    return {number: [stays.text_of(cell) for cell in row] for number, row in kept.items()}


def _read_csv(path: Path, delimiter: str = ",") -> Iterator[Sequence[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        yield from islice(csv.reader(file, delimiter=delimiter), 1, None)


def _read_tsv(path: Path) -> Iterator[Sequence[Any]]:
    return _read_csv(path, "\t")


def _read_txt(path: Path) -> Iterator[Sequence[Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield [line.rstrip("\n")]


def _read_jsonl(path: Path) -> Iterator[Sequence[Any]]:
    import msgspec

    decode = msgspec.json.Decoder(dict[str, Any]).decode
    with path.open("rb") as file:
        for line in file:
            yield list(decode(line).values())


def _read_json(path: Path) -> Iterator[Sequence[Any]]:
    import ijson

    with path.open("rb") as file:
        for item in ijson.items(file, "item", use_float=True):
            yield list(item.values())


def _read_workbook(path: Path) -> Iterator[Sequence[Any]]:
    from python_calamine import CalamineWorkbook

    return islice(CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows(), 1, None)


def _read_parquet(path: Path) -> Iterator[Sequence[Any]]:
    from pyarrow import parquet

    for batch in parquet.ParquetFile(path).iter_batches(ROWS_AT_ONCE):
        yield from _arrow_rows(batch)


def _read_arrow(path: Path) -> Iterator[Sequence[Any]]:
    from pyarrow import ipc

    with ipc.open_file(path) as reader:
        for at in range(reader.num_record_batches):
            yield from _arrow_rows(reader.get_batch(at))


def _arrow_rows(batch: Any) -> Iterator[Sequence[Any]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _write_csv(path: Path, rows: Rows, names: Sequence[str], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(names)
        writer.writerows(rows)


def _write_tsv(path: Path, rows: Rows, names: Sequence[str]) -> None:
    _write_csv(path, rows, names, "\t")


def _write_txt(path: Path, rows: Rows, _: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(row[2].replace("\n", " ") + "\n" for row in rows)


def _write_jsonl(path: Path, rows: Rows, names: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in _objects(rows, names))


def _write_json(path: Path, rows: Rows, names: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        between = "["
        for text in _objects(rows, names):
            file.write(f"{between}{text}")
            between = ",\n"
        file.write("]")


def _objects(rows: Rows, names: Sequence[str]) -> Iterator[str]:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for row in rows:
        yield encode(dict(zip(names, row, strict=True)))


def _write_xlsx(path: Path, rows: Rows, names: Sequence[str]) -> None:
    from xlsxwriter import Workbook

    book = Workbook(str(path), {"constant_memory": True})
    sheet = book.add_worksheet()
    # Without the last one, LibreOffice saves booleans as numbers.
    shown = ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", '"TRUE";"TRUE";"FALSE"')
    day, moment, truth = (book.add_format({"num_format": how}) for how in shown)
    number, text = sheet.write_number, sheet.write_string
    sheet.write_row(0, 0, names)
    for at, cells in enumerate(rows, 1):
        for column, write in ((0, number), (1, text), (2, text), (3, number), (4, number)):
            write(at, column, cells[column])
        sheet.write_datetime(at, 5, cells[5], day)
        sheet.write_datetime(at, 6, cells[6], moment)
        sheet.write_boolean(at, 7, cells[7], truth)
        for column in range(8, len(cells)):
            if cells[column]:
                text(at, column, cells[column])
    book.close()


def _write_parquet(path: Path, rows: Rows, names: Sequence[str]) -> None:
    from pyarrow import parquet

    made = _schema(names)
    with parquet.ParquetWriter(path, made, compression="zstd") as writer:
        for batch in _batches(rows, made):
            writer.write_batch(batch)


def _write_arrow(path: Path, rows: Rows, names: Sequence[str]) -> None:
    from pyarrow import ipc

    made = _schema(names)
    with path.open("wb") as file, ipc.new_file(file, made) as writer:
        for batch in _batches(rows, made):
            writer.write_batch(batch)


def _batches(rows: Rows, made: Any) -> Iterator[Any]:
    import pyarrow

    iterator = iter(rows)
    while block := list(islice(iterator, ROWS_AT_ONCE)):
        columns = zip(*block, strict=True)
        arrays = [pyarrow.array(c, type=f.type) for c, f in zip(columns, made, strict=True)]
        yield pyarrow.RecordBatch.from_arrays(arrays, schema=made)


def _schema(names: Sequence[str]) -> Any:
    import pyarrow

    integer, text = pyarrow.int64(), pyarrow.string()
    kinds = (
        *(integer, text, text, integer, pyarrow.float64()),
        *(pyarrow.date32(), pyarrow.timestamp("us"), pyarrow.bool_(), text, text, text),
    )
    return pyarrow.schema(list(zip(names, kinds, strict=False)))


def into_workbook(source: Path, target: Path, cells: Sequence[Sequence[Any]]) -> None:
    """Load a whole workbook, put the answers beside its columns, and save it."""
    from openpyxl import load_workbook

    book = load_workbook(source)
    sheet = book.worksheets[0]
    first = len(stays.COLUMNS) + 1
    for at, name in enumerate(stays.ADDED):
        sheet.cell(1, first + at, name)
    for row in stays.numbered(cells, sheet.max_row - 1):
        sheet.cell(row[0] + 1, first, row[-1])
        sheet.cell(row[0] + 1, first + 1, stays.STATUS)
    book.save(target)


READERS: dict[str, Callable[[Path], Iterator[Sequence[Any]]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "txt": _read_txt,
    "jsonl": _read_jsonl,
    "json": _read_json,
    "xlsx": _read_workbook,
    "xls": _read_workbook,
    "ods": _read_workbook,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
WRITERS: dict[str, Callable[[Path, Rows, Sequence[str]], None]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "txt": _write_txt,
    "jsonl": _write_jsonl,
    "json": _write_json,
    "xlsx": _write_xlsx,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
}
