"""Batches that were started and not cut yet."""

import pytest

from batchui.batches import preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from tests.batches.conftest import MODEL, MakeBatch

# Of rows 3 and 5 there is nothing to ask: their prompt comes out blank.
TWO_BLANK = b"id,text\n1,one\n2,\n3,three\n4,\n5,five\n"

# Rows 3 and 5 cannot be asked: a cell is missing.
TWO_SHORT = TWO_BLANK.replace(b",\n", b"\n")


@pytest.fixture
def started(receive: MakeBatch) -> MakeBatch:
    """A batch that was started and not cut yet."""

    def make(content: bytes, **ask: object) -> Batch:
        batch = receive(content)
        batch.events.all().delete()
        Batch.objects.filter(pk=batch.pk).update(
            **{
                "status": BatchStatus.PREPARING,
                "started_at": batch.created_at,
                "model": MODEL,
                "template": "{{text}}",
            }
            | ask
        )
        return Batch.objects.get(pk=batch.pk)

    return make


def prepared(batch: Batch) -> Batch:
    preparing.prepare(batch.pk)
    return Batch.objects.get(pk=batch.pk)
