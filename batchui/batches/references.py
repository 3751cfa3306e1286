"""The items that a batch sends, one for each row, and the reference that each of them carries."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import Model, UnknownModel, find
from batchui.prompts.ask import Ask
from batchui.prompts.item_settings import LONGEST_FIELDS
from batchui.prompts.items import ItemWriter
from batchui.prompts.jobs import job_of
from batchui.prompts.model_facts import check_settings, longest_written
from batchui.prompts.ranking import RankWriter


def item_writer(batch: Batch, *, longest: int | None = None) -> ItemWriter:
    """The writer of a batch's request items, in the format that its model takes.

    longest: the longest answer, in tokens, in place of the batch's own. Raises UnknownModel, and
    BadInput where nothing can be asked of these columns.
    """
    asked = batch.ask if longest is None else with_longest(batch.ask, longest)
    model = of_batch(batch).find(asked.model)
    made = _writer_class(model, asked)
    return made(model.item_format, asked, batch.columns, model=model)


def checked_writer(batch: Batch, asked: Ask | None = None) -> ItemWriter:
    """The same before anything is sent: settings and ready-made items must fit the model.

    What was started before a bound was known is sent as it is, by `item_writer`. asked: another
    question about the file of the batch.
    """
    asked, columns = asked or batch.ask, batch.columns
    model = of_batch(batch).find(asked.model)
    check_settings(model, asked)
    made = _writer_class(model, asked)
    return made(model.item_format, asked, columns, model=model, checks_items=True)


def _writer_class(model: Model, asked: Ask) -> type[ItemWriter]:
    ranks = job_of(asked, model.item_format).slug == "rank"
    return RankWriter if ranks else ItemWriter


def with_longest(asked: Ask, longest: int) -> Ask:
    """The question with another longest answer, in tokens, also where an option names it."""
    raised = dict.fromkeys(LONGEST_FIELDS.intersection(asked.options), longest)
    return replace(asked, max_tokens=longest, options={**asked.options, **raised})


def longest_answer(asked: Ask) -> int:
    """The tokens that one answer may have, its reasoning included, of a known or unknown model."""
    try:
        return longest_written(find(asked.model), asked)
    except UnknownModel:
        return asked.max_tokens


def has_own_references(batch: Batch) -> bool:
    """Whether rows may carry a reference other than their number."""
    asked = batch.ask
    return bool(asked.reference_column) or asked.as_items


def reference_of(batch: Batch) -> Callable[[int, Any], str]:
    """A function for the `external_reference` of a row: its number, or the text of a column."""
    if has_own_references(batch):
        return item_writer(batch).reference
    return lambda row, _cells: str(row)
