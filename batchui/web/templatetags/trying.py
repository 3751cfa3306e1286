"""The cells of tries in the rows of a sheet."""

from django import template

from batchui.batches.models import Batch
from batchui.web.trying.columns import TryCell, TryColumn, TryColumns, columns_of

register = template.Library()


@register.filter
def cells_of(tried: TryColumns, number: int) -> list[TryCell]:
    """The cells of one row: one for each try."""
    return tried.cells_of(number)


@register.filter
def tries_of(batch: Batch) -> list[TryColumn]:
    """What was tried before a batch was started, in order."""
    return columns_of(batch)
