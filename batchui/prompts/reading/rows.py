"""Stores rows as lines of JSON, and shows the cells of a row as a list, an object or extras.

Numbers with a fraction are `Decimal`, so that 1.10 or a long measurement comes back as it was
written. `encode_row` can encode such values, the standard `json` cannot.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from batchui.prompts.reading.blocks import Cells

# In characters: the longest cell and the longest row of the first ones, which the page shows.
SAMPLE_CELL = 2_000
SAMPLE_ROW = 40_000
# Of objects within objects that become columns.
DEEPEST = 8

# Cells to one line of JSON (an array of texts, or the JSONL object) without a line break, and back.
# They are methods of the compiled codec, because they run for every row.
_encoder = msgspec.json.Encoder(decimal_format="number")
_json = _encoder.encode
encode_row: Callable[[Cells], bytes] = _json
decode_row: Callable[[bytes], Cells] = msgspec.json.Decoder(float_hook=Decimal).decode
# The same for many rows at once; each line ends with a line break.
encode_rows: Callable[[Sequence[Cells]], bytes] = _encoder.encode_lines
decode_rows: Callable[[bytes], list[Cells]] = msgspec.json.Decoder(float_hook=Decimal).decode_lines
# The same for showing and exporting a row: the values of an object stay JSON.
decode_to_show: Callable[[bytes], Cells] = msgspec.json.Decoder(
    list[Any] | dict[str, msgspec.Raw], float_hook=Decimal
).decode
_text = msgspec.json.Decoder(str).decode
_value = msgspec.json.Decoder(float_hook=Decimal).decode
# How JSON begins that is no number and no boolean.
_NO_TYPE = (b'"', b"{", b"[", b"null")


def cell_text(value: Any) -> str:
    """A cell as text: a string as it is, "" for None, anything else as compact JSON.

    A value that is JSON already (`decode_to_show`) is as compact as `encode_row` wrote it.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    text = _json(value).decode()
    return _text_of_json(text) if isinstance(value, msgspec.Raw) else text


def typed_cell(value: msgspec.Raw | None) -> Any:
    """A value of an object (`decode_to_show`) as a cell: a number and a boolean stay one.

    A string is a text, also one of digits. null and None are "", a list or an object is JSON text.
    """
    if value is None or bytes(value).startswith(_NO_TYPE):
        return cell_text(value)
    return _value(value)


def shown_text(cell: Any) -> str:
    """A cell of a table as text, as a person sees it there.

    Text is a string, a number and a boolean are what they are in JSON. Anything else is an object
    whose first value is the text: `{"date": "2026-05-01"}`, `{"percent": "25%"}`.
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return str(next(iter(cell.values()))) if isinstance(cell, dict) else _json(cell).decode()


def _text_of_json(text: str) -> str:
    if text.startswith('"'):
        return _text(text)
    return "" if text == "null" else text


def as_list(
    cells: Cells, columns: Sequence[str], value_cell: Callable[[Any], Any] = cell_text
) -> list[Any]:
    """One cell for each column, "" if the row has nothing for it.

    value_cell: makes a cell of a value of an object; usually its text.
    """
    if isinstance(cells, dict):
        return [value_cell(cells.get(column)) for column in columns]
    width = len(columns)
    if len(cells) == width:
        return cells
    return (cells + [""] * width)[:width]


def extras(cells: Cells, columns: Sequence[str]) -> list[Any]:
    """The cells that fit no column: cells of a row with too many, or a line that is not JSON."""
    return [] if isinstance(cells, dict) else cells[len(columns) :]


def as_object(cells: Cells, columns: Sequence[str]) -> dict[str, Any]:
    """The row as column names and values. A JSONL object is returned as it was read."""
    if isinstance(cells, dict):
        return cells
    return dict(zip(columns, as_list(cells, columns), strict=True))


def sample_text(cells: Cells) -> str:
    """A row as JSON text to show, with long cells cut: at most about SAMPLE_ROW characters.

    The names of an object may take as many again; then the others are left out.
    """
    room = names = SAMPLE_ROW

    def shortened(value: Any) -> Any:
        nonlocal room
        text = cell_text(value)
        most = max(0, min(SAMPLE_CELL, room))
        room -= min(len(text), most)
        return value if len(text) <= most else f"{text[:most]} …"

    if not isinstance(cells, dict):
        return encode_row([shortened(cell) for cell in cells[:SAMPLE_ROW]]).decode()
    shown = {}
    for name, value in cells.items():
        names -= len(name)
        if names >= 0:
            shown[name] = shortened(value)
    return encode_row(shown).decode()


def flat(cells: dict[str, Any]) -> dict[str, Any]:
    """An object without objects in it: the value of `b` within `a` is at `a.b`.

    Lists stay as they are, and so does what lies deeper than DEEPEST. A name that is there already
    keeps its own value; the other one is not flattened.
    """
    if not any(type(value) is dict for value in cells.values()):
        return cells
    found: dict[str, Any] = {}
    _flatten(cells, "", DEEPEST, found, cells)
    return found


def _flatten(
    cells: dict[str, Any], above: str, left: int, found: dict[str, Any], whole: dict[str, Any]
) -> None:
    for name, value in cells.items():
        path = above + name
        inner = type(value) is dict and value and left
        if inner and not any(f"{path}.{key}" in whole for key in value):
            _flatten(value, f"{path}.", left - 1, found, whole)
        else:
            found[path] = value
