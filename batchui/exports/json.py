"""Writes JSON and JSONL: structured answers stay structured."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict

from batchui.exports.names import ANSWER, free_name
from batchui.exports.rows import Cell, ExportRow, cell_text, groups, with_cells
from batchui.exports.table import EVERYTHING, Layout, Selection, Table

_encode_lines = msgspec.json.Encoder(decimal_format="number").encode_lines
_NULL = msgspec.Raw(b"null")


class _Line(msgspec.Struct, gc=False):
    """One row as it is written.

    whole_answer: the answer as it came, where `answer` has its fields, and it goes out, too.
    extra_cells: only for a row with cells beyond the header. edited, own_answer: only for an answer
    that a person corrected by hand: true, and what the model had answered.
    """

    row: int
    columns: dict[str, Any]
    answer: Any
    status: str
    error: str | None
    external_reference: str | None
    usage: msgspec.Raw
    whole_answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    extra_cells: Sequence[Any] | msgspec.UnsetType = msgspec.UNSET
    edited: bool | msgspec.UnsetType = msgspec.UNSET
    own_answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def json_chunks(
    rows: Iterable[ExportRow], table: Table, selection: Selection = EVERYTHING
) -> Iterator[bytes]:
    """One JSON array of {row, columns, answer, status, error, external_reference, usage}.

    Answer and usage are the JSON that came back, with numbers as they were written. The `columns`
    of a row are its own object (JSONL), or the names of the columns with its cells: texts, numbers,
    booleans. Where the answers have fields, an answer is an object of these. Another name that was
    chosen for the answer is the key of the answer. Chunks have
    about 64 KiB; the first is the opening bracket. Raises ValueError for a row that does not have
    one cell for each column.
    """
    yield b"["
    between = b""
    for lines in jsonl_chunks(rows, table, selection):
        yield between + lines[:-1].replace(b"\n", b",\n")
        between = b",\n"
    yield b"]"


def jsonl_chunks(
    rows: Iterable[ExportRow], table: Table, selection: Selection = EVERYTHING
) -> Iterator[bytes]:
    """The same objects, one on each line."""
    layout = Layout(table, selection)
    key = answer_key(selection.answer)
    rows = layout.rows(rows)
    if table.typed:
        rows = (with_cells(row, _json_values) for row in rows)
    for group in groups(rows):
        lines: list[Any] = _lines(group, layout)
        if key != ANSWER:
            lines = [_named(line, key) for line in lines]
        yield _encode_lines(lines)


def answer_key(name: str) -> str:
    """The key of the answer in an object: its name, with a number if another key has that name."""
    return free_name(name, {*_Line.__struct_fields__} - {ANSWER})


def _lines(group: Sequence[ExportRow], layout: Layout) -> list[_Line]:
    columns, fields = layout.columns, layout.fields
    return [
        _Line(
            row.row,
            dict(zip(columns, row.cells, strict=True)) if row.columns is None else row.columns,
            _fields(row, fields) if fields else _raw(row.answer),
            row.status,
            row.error,
            row.external_reference,
            _raw(row.usage),
            _raw(row.answer) if fields and layout.has_whole else msgspec.UNSET,
            row.extras or msgspec.UNSET,
            row.edited or msgspec.UNSET,
            _raw(row.own_answer) if row.edited else msgspec.UNSET,
        )
        for row in group
    ]


def _raw(found: bytes | None) -> msgspec.Raw:
    return _NULL if found is None else _on_one_line(found)


def _fields(row: ExportRow, fields: Sequence[str]) -> dict[str, Any] | None:
    """The values of an answer by name; None for a row without an answer."""
    return None if row.answer is None else dict(zip(fields, row.fields, strict=True))


def _named(line: _Line, key: str) -> dict[str, Any]:
    """The line with another key for its answer."""
    return {
        key if name == ANSWER else name: value
        for name, value in asdict(line).items()
        if value is not msgspec.UNSET
    }


def _json_values(cells: Sequence[Cell]) -> list[Any]:
    """The cells as JSON has them: a date or a percentage is its text."""
    return [cell_text(cell) if isinstance(cell, dict) else cell for cell in cells]


def _on_one_line(raw: bytes) -> msgspec.Raw:
    if b"\n" in raw or b"\r" in raw:  # between tokens: in a string they are escaped
        raw = msgspec.json.format(raw, indent=-1)
    return msgspec.Raw(raw)
