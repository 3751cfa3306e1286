"""The reference that travels with each row."""

from collections.abc import Callable
from typing import Any

from batchui.batches import results
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import find


def reference_of(batch: Batch) -> Callable[[int, Any], str]:
    """What gives a row's `external_reference`: its number, or what a column of it says."""
    if batch.reference_column or batch.as_items:
        return results.item_writer(batch, find(batch.model).takes).reference
    return lambda row, _cells: str(row)
