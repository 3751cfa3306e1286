"""Stores rows as lines of JSON, and shows the cells of a row as a list, an object or extras.

Numbers with a fraction are `Decimal`, so that 1.10 or a long measurement comes back as it was
written. `encode_row` can encode such values, the standard `json` cannot.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from batchui.prompts.blocks import Cells

# Cells to one line of JSON (an array of texts, or the JSONL object) without a line break, and back.
# They are methods of the compiled codec, because they run for every row.
_json = msgspec.json.Encoder(decimal_format="number").encode
encode_row: Callable[[Cells], bytes] = _json
decode_row: Callable[[bytes], Cells] = msgspec.json.Decoder(float_hook=Decimal).decode


def cell_text(value: Any) -> str:
    """A cell as text: a string as it is, "" for None, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else _json(value).decode()


def as_list(cells: Cells, columns: Sequence[str]) -> list[str]:
    """One text for each column, "" if the row has nothing for it."""
    if isinstance(cells, dict):
        return [cell_text(cells.get(column)) for column in columns]
    width = len(columns)
    if len(cells) == width:
        return cells
    return (cells + [""] * width)[:width]


def extras(cells: Cells, columns: Sequence[str]) -> list[str]:
    """The cells that fit no column: cells of a row with too many, or a line that is not JSON."""
    return [] if isinstance(cells, dict) else cells[len(columns) :]


def as_object(cells: Cells, columns: Sequence[str]) -> dict[str, Any]:
    """The row as column names and values. A JSONL object is returned as it was read."""
    if isinstance(cells, dict):
        return cells
    return dict(zip(columns, as_list(cells, columns), strict=True))
