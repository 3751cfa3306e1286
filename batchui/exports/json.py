"""Writes JSON and JSONL: structured answers stay structured."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from batchui.exports.rows import ExportRow, groups

_encode_lines = msgspec.json.Encoder(decimal_format="number").encode_lines
_NULL = msgspec.Raw(b"null")


class _Line(msgspec.Struct, gc=False):
    """One row as it is written. extra_cells: only for a row with cells beyond the header."""

    row: int
    columns: dict[str, Any]
    answer: msgspec.Raw
    status: str
    error: str | None
    external_reference: str | None
    usage: msgspec.Raw
    extra_cells: list[str] | msgspec.UnsetType = msgspec.UNSET


def json_chunks(rows: Iterable[ExportRow], *, columns: Sequence[str] = ()) -> Iterator[bytes]:
    """One JSON array of {row, columns, answer, status, error, external_reference, usage}.

    Answer and usage are the JSON that came back, with numbers as they were written. The `columns`
    of a row are its own object (JSONL), or the names in `columns` with its cells. Chunks have about
    64 KiB; the first is the opening bracket. Raises ValueError for a row that does not have one
    cell for each column.
    """
    yield b"["
    between = b""
    for group in groups(rows):
        yield between + _lines(group, columns)[:-1].replace(b"\n", b",\n")
        between = b",\n"
    yield b"]"


def jsonl_chunks(rows: Iterable[ExportRow], *, columns: Sequence[str] = ()) -> Iterator[bytes]:
    """The same objects, one on each line."""
    for group in groups(rows):
        yield _lines(group, columns)


def _lines(group: Sequence[ExportRow], columns: Sequence[str]) -> bytes:
    return _encode_lines(
        [
            _Line(
                row.row,
                dict(zip(columns, row.cells, strict=True)) if row.columns is None else row.columns,
                _NULL if row.answer is None else _on_one_line(row.answer),
                row.status,
                row.error,
                row.external_reference,
                _NULL if row.usage is None else _on_one_line(row.usage),
                row.extras or msgspec.UNSET,
            )
            for row in group
        ]
    )


def _on_one_line(raw: bytes) -> msgspec.Raw:
    if b"\n" in raw or b"\r" in raw:  # between tokens: in a string they are escaped
        raw = msgspec.json.format(raw, indent=-1)
    return msgspec.Raw(raw)
