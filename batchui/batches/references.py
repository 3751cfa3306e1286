"""The items that a batch sends, one for each row, and the reference that each of them carries."""

from collections.abc import Callable, Sequence
from typing import Any

from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import find
from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter


def item_writer(batch: Batch) -> ItemWriter:
    """The writer of a batch's request items, in the format that its model takes.

    Raises UnknownModel, and BadInput where nothing can be asked of these columns.
    """
    return writer_for(batch.ask, batch.columns)


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
