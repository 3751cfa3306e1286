"""Copies of a database, as somebody makes one and puts it back."""

from collections.abc import Callable

from django.db import transaction

from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.worker.models import Installation

WHY = "It was restored."
WHAT_MOVES = (Installation, Batch, Part, Attempt, Event)


def copied() -> Callable[[], None]:
    """Copy what the database knows now. Returns what puts it back; the files stay as they are."""
    kept = [(model, list(model._base_manager.values())) for model in WHAT_MOVES]

    @transaction.atomic
    def put_back() -> None:
        for model in (Batch, Installation):
            model._base_manager.all().delete()
        for model, rows in kept:
            model._base_manager.bulk_create(model(**row) for row in rows)

    return put_back
