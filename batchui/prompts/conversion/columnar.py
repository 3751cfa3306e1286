"""Parquet and Arrow files (also Feather) -> a file of cells. Row 1 has the names of the columns.

pyarrow reads them, batch by batch. It is large, so it is an extra that need not be installed.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from batchui.prompts.conversion import cells
from batchui.prompts.conversion.converted import Sheet
from batchui.prompts.conversion.looking import File
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput, quoted

FORMATS: tuple[str, ...] = ("Parquet", "Arrow")
PARQUET, ENCRYPTED_PARQUET = b"PAR1", b"PARE"
ARROW, OLD_FEATHER = b"ARROW1", b"FEA1"
STREAM = b"\xff\xff\xff\xff"
STREAM_ENDINGS = {".arrow", ".arrows", ".ipc", ".feather"}
MAGIC = (PARQUET, ENCRYPTED_PARQUET, ARROW, OLD_FEATHER)
ROWS = "rows.jsonl.zst"
ROWS_AT_ONCE = 10_000
DAMAGED = (
    "This file is damaged, or was not copied whole, so its table cannot be read. Copy or download "
    "it again, or save its table as CSV, and upload that."
)
SAVE_AS_CSV = "Save its table as CSV, and upload that."

_json = msgspec.json.Encoder(decimal_format="number").encode


def is_of(file: File) -> bool:
    """Whether the file begins as one of these does."""
    if file.head.startswith(STREAM):  # four bytes that any file may begin with
        return file.ending in STREAM_ENDINGS
    return file.head.startswith(MAGIC)


def convert(file: File, out: Output) -> tuple[Sheet, ...]:
    """The table of a Parquet or Arrow file. Raises BadInput if it cannot be read."""
    if file.head.startswith(ENCRYPTED_PARQUET):
        raise BadInput(f"This Parquet file is encrypted. {SAVE_AS_CSV}")
    if file.head.startswith(OLD_FEATHER):
        raise BadInput(f"This Feather file is of version 1, which is too old. {SAVE_AS_CSV}")
    try:
        import pyarrow as arrow
    except ImportError:
        raise BadInput(
            "Parquet and Arrow files cannot be read here, because pyarrow is not installed. "
            f"{SAVE_AS_CSV} Whoever runs batchui can install it: pip install --require-hashes -r "
            "requirements/parquet.txt."
        ) from None
    arrow.set_cpu_count(1)
    arrow.set_io_thread_count(1)
    try:
        return _written(_Table(file, arrow), out)
    except arrow.ArrowException as exc:
        if isinstance(exc, MemoryError):
            raise
        raise BadInput(DAMAGED) from exc
    except OSError as exc:
        if exc.errno:  # a full disk
            raise
        raise BadInput(DAMAGED) from exc


class _Table:
    """names: of the columns. rows: how many; 0 if the file does not tell. batches: of them all."""

    def __init__(self, file: File, arrow: Any) -> None:
        if file.head.startswith(PARQUET):
            from pyarrow import parquet

            source = parquet.ParquetFile(file.path, pre_buffer=False, memory_map=False)
            self.names = source.schema_arrow.names
            self.rows = source.metadata.num_rows
            self.batches = source.iter_batches(ROWS_AT_ONCE, use_threads=False)
            return
        opened = arrow.OSFile(str(file.path))
        self.rows = 0
        if file.head.startswith(ARROW):
            reader = arrow.ipc.open_file(opened)
            parts = map(reader.get_batch, range(reader.num_record_batches))
        else:
            reader = arrow.ipc.open_stream(opened)
            parts = iter(reader)
        self.names = reader.schema.names
        self.batches = (
            part.slice(at, ROWS_AT_ONCE)
            for part in parts
            for at in range(0, part.num_rows, ROWS_AT_ONCE)
        )


def _written(table: _Table, out: Output) -> tuple[Sheet, ...]:
    if not table.names:
        raise BadInput(f"The table in this file has no columns. {SAVE_AS_CSV}")
    rows = 0
    with out.file(ROWS) as write:
        write(cells.lines([table.names]))
        for batch in table.batches:
            if batch.num_rows:
                columns = map(_column, batch.columns, table.names)
                write(cells.joined(list(columns)))
            rows += batch.num_rows
            out.progress(rows, table.rows)
    if not rows:
        raise BadInput("The table in this file has no rows. Choose a file with rows.")
    return (Sheet(file=ROWS, name="", rows=rows + 1, columns=len(table.names), header=True),)


def _column(column: Any, name: str) -> list[bytes]:
    """The JSON of each value of a column. Raises BadInput for values that no program shows."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        for is_of, encoded in ENCODERS:
            if getattr(types, is_of)(column.type):
                return encoded(column)
        return cells.encoded([_text(value) for value in column.to_pylist()])
    except (ValueError, OverflowError, TypeError) as exc:
        raise BadInput(
            f"The column {quoted(name)} has values of the type {column.type} that cannot be "
            "shown. Save the column as text, and upload the file again."
        ) from exc


def _plain(column: Any) -> list[bytes]:
    return cells.encoded(column.to_pylist())


def _float(column: Any) -> list[bytes]:
    """As short as they can be written: as a double, 0.1 would be 0.10000000149011612."""
    texts = column.cast("string").to_pylist()
    return cells.encoded([None if text is None else float(text) for text in texts])


def _temporal(tag: str, column: Any) -> list[bytes]:
    """pyarrow writes dates and times much faster than it makes Python's own."""
    from pyarrow import compute

    seconds = _whole_seconds(column, tag)
    texts = (column if seconds is None else seconds).cast("string")
    for pattern, replacement in TIDY[tag] if seconds is None else ():
        texts = compute.replace_substring_regex(texts, pattern, replacement)
    made = compute.binary_join_element_wise(f'{{"{tag}":"', texts, '"}', "")
    # "<value out of range: …>"
    strange = compute.binary_join_element_wise('"', texts, '"', "")
    made = compute.if_else(compute.starts_with(texts, "<"), strange, made)
    return list(made.fill_null('""').cast("binary").to_pylist())


def _whole_seconds(column: Any, tag: str) -> Any:
    """The moments of a column in seconds; None if one has a fraction, or a time zone."""
    import pyarrow as arrow

    if tag not in SECONDS or getattr(column.type, "tz", None):
        return None
    try:
        return column.cast(SECONDS[tag])
    except arrow.ArrowInvalid:
        return None


def _duration(column: Any) -> list[bytes]:
    return cells.encoded(column.cast("duration[us]", safe=False).to_pylist())


def _text(value: object) -> str | None:
    """A list or an object as JSON; bytes in Base64; anything else as its own text."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return _json(value)[1:-1].decode()
    return _json(value).decode() if isinstance(value, (list, dict)) else str(value)


FRACTION = ((r"\.0+($|[Z+-])", r"\1"), (r"(\.\d*[1-9])0+($|[Z+-])", r"\1\2"))
ZONE = ((r"([+-]\d\d)(\d\d)$", r"\1:\2"),)
# What is not needed of the text of a date or time: zeros at the end of a fraction. And a colon.
TIDY: dict[str, Sequence[tuple[str, str]]] = {
    "date": (),
    "time": FRACTION,
    "datetime": FRACTION + ZONE,
}
SECONDS = {"time": "time32[s]", "datetime": "timestamp[s]"}
ENCODERS: tuple[tuple[str, Callable[[Any], list[bytes]]], ...] = (
    ("is_string", _plain),
    ("is_large_string", _plain),
    ("is_integer", _plain),
    ("is_boolean", _plain),
    ("is_float64", _plain),
    ("is_floating", _float),
    ("is_decimal", _plain),
    ("is_date", partial(_temporal, "date")),
    ("is_timestamp", partial(_temporal, "datetime")),
    ("is_time", partial(_temporal, "time")),
    ("is_duration", _duration),
    ("is_null", _plain),
)
