"""The items that a batch sends, one for each row, and the reference that each of them carries."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import find
from batchui.prompts.ask import Ask
from batchui.prompts.items import LONGEST_FIELDS, ItemWriter


def item_writer(batch: Batch, *, longest: int | None = None) -> ItemWriter:
    """The writer of a batch's request items, in the format that its model takes.

    longest: the longest answer, in tokens, in place of the batch's own. Raises UnknownModel, and
    BadInput where nothing can be asked of these columns.
    """
    asked = batch.ask
    if longest is not None:
        raised = dict.fromkeys(LONGEST_FIELDS.intersection(asked.options), longest)
        asked = replace(asked, max_tokens=longest, options={**asked.options, **raised})
    return writer_for(asked, batch.columns)


def writer_for(asked: Ask, columns: Sequence[str]) -> ItemWriter:
    """The writer of the items of a question about a file with these columns. Raises the same."""
    model = find(asked.model)
    return ItemWriter(model.item_format, asked, columns, takes_schema=model.takes_schema)


def has_own_references(batch: Batch) -> bool:
    """Whether rows may carry a reference other than their number."""
    asked = batch.ask
    return bool(asked.reference_column) or asked.as_items


def reference_of(batch: Batch) -> Callable[[int, Any], str]:
    """A function for the `external_reference` of a row: its number, or the text of a column."""
    if has_own_references(batch):
        return item_writer(batch).reference
    return lambda row, _cells: str(row)
