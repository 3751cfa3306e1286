"""The panel of a draft's row: all its cells, and what it will be asked."""

from typing import Any

from django.http import Http404

from batchui.batches.models import Batch
from batchui.batches.results import Result
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import as_object, cell_text, shown_text
from batchui.web.damaged_files import without_path
from batchui.web.prompt_preview import prompt_filler
from batchui.web.sheet.draft_grid import row_of_draft, rows_known
from batchui.web.sheet.pictures import picture_of

# The panel shows so many characters of each text.
LONGEST_TEXT_SHOWN = 100_000
BEFORE, AFTER = ("row-before", "chevron-left"), ("row-after", "chevron-right")


def draft_row_context(batch: Batch, number: int) -> dict[str, Any]:
    """What the panel of a row needs. Raises Http404 if the draft has no such row."""
    found = row_of_draft(batch, number)
    if found is None:
        raise Http404(f"This file has no row {number:,}.")
    columns = as_object(found.cells, batch.columns)
    as_text = cell_text if isinstance(found.cells, dict) else shown_text
    most = LONGEST_TEXT_SHOWN + 1
    row = {
        "number": found.row,
        "error": without_path(found.error or ""),
        "columns": [(name, as_text(value)[:most]) for name, value in columns.items()],
        "prompt": _prompt(batch, found, most),
        "beside": _beside(batch, found.row),
    }
    return {
        "batch": batch,
        "row": row,
        "picture": picture_of(batch, found.cells, found.row),
        "opened": found.row,
        "most": LONGEST_TEXT_SHOWN,
    }


def _prompt(batch: Batch, row: Result, most: int) -> str:
    """The prompt of a row; "" as long as the question cannot be asked, or of a row that cannot."""
    if row.error:
        return ""
    try:
        fill = prompt_filler(batch, batch.ask.template, as_items=batch.ask.as_items)
    except BadInput:
        return ""
    return fill(row.cells, most)


def _beside(batch: Batch, number: int) -> list[dict[str, Any]]:
    """The rows before and after, where there are some."""
    first = batch.format.first_row
    last = first + rows_known(batch) - 1
    return [
        {"number": other, "id": identity, "icon": icon}
        for other, (identity, icon) in ((number - 1, BEFORE), (number + 1, AFTER))
        if first <= other <= last
    ]
