"""Answers as they stand in cells."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec

from batchui.exports.rows import Cell, ExportRow
from batchui.exports.table import Layout

# Between the values of a list in a cell.
BETWEEN = "; "

_decode_text = msgspec.json.Decoder(str).decode
_decode_texts = msgspec.json.Decoder(str).decode_lines
_decode = msgspec.json.Decoder(float_hook=Decimal).decode


def answer_text(answer: bytes | None) -> str:
    """The text of a cell for an answer in raw JSON."""
    if answer is None:
        return ""
    try:
        if answer.startswith(b'"'):
            return _decode_text(answer)
        text = msgspec.json.format(answer, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _damaged_text(answer)
    return "" if text == "null" else text


def _damaged_text(answer: bytes) -> str:
    """The text of an answer that is not valid JSON, for example cut off within a character.

    JavaScript writes such a character as half a surrogate pair; it becomes a question mark.
    """
    text = answer.decode(errors="replace")
    try:
        loaded = json.loads(text)
    except ValueError:
        return text
    return loaded.encode(errors="replace").decode() if isinstance(loaded, str) else text


def answer_cell(answer: bytes | None) -> Cell:
    """The cell for an answer in raw JSON: a text, a number, a boolean; "" for null or none.

    An object or a list is compact JSON.
    """
    text = answer_text(answer)
    if not text or answer is None or answer.startswith(b'"') or text.startswith(("{", "[")):
        return text
    try:
        value: Cell = _decode(text)
    except msgspec.DecodeError:  # not JSON
        return text
    return value


def answer_cells(answers: Sequence[bytes | None]) -> Sequence[Cell]:
    """The cells for answers in raw JSON. Where all are texts, it takes half of the time."""
    texts = _all_texts(answers)
    return [answer_cell(answer) for answer in answers] if texts is None else texts


def answer_texts(answers: Sequence[bytes | None]) -> Sequence[str]:
    """The texts of the cells for answers in raw JSON, as quickly."""
    texts = _all_texts(answers)
    return [answer_text(answer) for answer in answers] if texts is None else texts


def _all_texts(answers: Sequence[bytes | None]) -> list[str] | None:
    """The answers, where all of them are valid texts."""
    try:
        texts = _decode_texts(b"\n".join(filter(None, answers)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return texts if len(texts) == len(answers) else None


def field_cell(value: Any) -> Cell:
    """The cell for the value of a field: that value, a list as one text, "" for None."""
    if value is None:
        return ""
    return BETWEEN.join(value) if isinstance(value, list) else value


def field_cells(rows: Sequence[ExportRow], fields: Sequence[str]) -> list[Sequence[Cell]]:
    """The cells of the answers' fields, by column. Raises ValueError for a row that has others."""
    if not fields:
        return []
    if wrong := {len(row.fields) for row in rows} - {len(fields)}:
        raise ValueError(f"{wrong.pop()} values in an answer of {len(fields)} fields")
    columns = zip(*(row.fields for row in rows), strict=True)
    return [list(map(field_cell, values)) for values in columns]


def columns_of(rows: Sequence[ExportRow], layout: Layout) -> list[Sequence[Cell]]:
    """The cells of these rows by column: those of the file, then `layout.added`.

    Raises ValueError for a row that has fewer or more cells.
    """
    width = len(layout.columns)
    cells = [row.cells for row in rows]
    if wrong := set(map(len, cells)) - {width}:
        raise ValueError(f"{wrong.pop()} cells in a row of {width} columns")
    return [
        *zip(*cells, strict=True),
        *field_cells(rows, layout.fields),
        *([answer_cells([row.answer for row in rows])] if layout.has_whole else []),
        [row.status for row in rows],
        [row.error or "" for row in rows],
    ]
