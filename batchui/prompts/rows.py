"""Rows as they are stored (one JSON line each), and the three views of a row's cells.

Numbers with a fraction are `Decimal`, so that 1.10 or a long measurement comes back as it was
written; encode such values with `encode_row`, not with the standard `json`.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from batchui.prompts.blocks import Cells

# One line of JSON without its line break, an array of texts or the JSONL object; and back.
# Methods of the compiled codec, called for every row: no Python in between.
_json = msgspec.json.Encoder(decimal_format="number").encode
encode_row: Callable[[Cells], bytes] = _json
decode_row: Callable[[bytes], Cells] = msgspec.json.Decoder(float_hook=Decimal).decode


def cell_text(value: Any) -> str:
    """A cell as text: a string as it is, nothing for None, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else _json(value).decode()


def as_list(cells: Cells, columns: Sequence[str]) -> list[str]:
    """One text for each column; "" where the row has nothing for it."""
    if isinstance(cells, dict):
        return [cell_text(cells.get(column)) for column in columns]
    width = len(columns)
    if len(cells) == width:
        return cells
    return (cells + [""] * (width - len(cells)))[:width]


def extras(cells: Cells, columns: Sequence[str]) -> list[str]:
    """The cells beyond the header of a row that has too many, or the text of an unreadable line."""
    return [] if isinstance(cells, dict) else cells[len(columns) :]


def as_object(cells: Cells, columns: Sequence[str]) -> dict[str, Any]:
    """Column names and values; a JSONL object as it was read."""
    if isinstance(cells, dict):
        return cells
    return dict(zip(columns, as_list(cells, columns), strict=True))
