"""Guesses which column of a file a question is about, by its names and its first rows."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from batchui.batches.models import Batch
from batchui.prompts.reading.rows import as_list, cell_text
from batchui.web.forms.pictures import picture_columns

# Columns that are looked at: a name among thousands is no better a guess than one among these.
LOOKED_AT = 200
# Characters of a cell that count: one very long text is no more a text than a long one.
COUNTED = 2_000


def text_column(batch: Batch, hints: Sequence[str] = ()) -> str:
    """The column with the texts of a file; "" if it has no columns.

    A column whose name has one of the `hints` is taken first, in their order. Else the one whose
    cells are longest in the first rows: people ask about reviews, not about numbers.
    """
    columns = _not_pictures(batch, batch.format.shown_columns[:LOOKED_AT])
    for hint in hints:
        for column in columns:
            if hint in column.casefold():
                return column
    lengths = _lengths(batch)
    return max(columns, key=lambda column: lengths.get(column, 0.0), default="")


def second_column(batch: Batch, besides: str) -> str:
    """The next best column with texts, `besides` if there is no other one."""
    lengths = _lengths(batch)
    shown = _not_pictures(batch, batch.format.shown_columns[:LOOKED_AT])
    others = [column for column in shown if column != besides]
    return max(others, key=lambda column: lengths.get(column, 0.0), default=besides)


def _not_pictures(batch: Batch, columns: Sequence[str]) -> Sequence[str]:
    """The columns without those that name pictures, whose addresses are long; all if all do."""
    pictures = picture_columns(batch)
    return [column for column in columns if column not in pictures] or columns


def _lengths(batch: Batch) -> dict[str, float]:
    """How long the cells of each column are in the first rows, in characters."""
    columns = batch.columns[:LOOKED_AT]
    rows = [as_list(cells, batch.columns)[:LOOKED_AT] for cells in batch.first_rows]
    return {
        column: fmean([_length(row[at]) if at < len(row) else 0 for row in rows] or [0])
        for at, column in enumerate(columns)
    }


def _length(cell: Any) -> int:
    return min(len(cell_text(cell).strip()), COUNTED)
