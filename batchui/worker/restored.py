"""A database that is a copy: what it says is to be sent may have been sent since it was made.

A number in the database is raised now and then, and written down beside the files. A database whose
number is lower than the one beside the files is older than they are: it was restored.
"""

from contextlib import suppress
from typing import NamedTuple

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F

from batchui.batches import lifecycle
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.worker.models import Installation

# Beside the files: the id of the database they belong to, and its generation.
MARK = "installation"
TO_BE_SENT = (PartStatus.READY, PartStatus.HELD, PartStatus.SENDING)


class Mark(NamedTuple):
    """What is written down beside the files."""

    database_id: str
    generation: int


def begin() -> int:
    """Compare database and files when a worker starts. Returns the parts a person must decide."""
    mark, installation = read_mark(), Installation.here()
    decided = 0
    is_ours = mark is not None and mark.database_id == installation.database_id
    if mark and is_ours and mark.generation > installation.generation:
        decided = _let_people_decide("It is older than the files beside it.")
        Installation.objects.update(generation=mark.generation)
    raise_generation()
    return decided


def mark(reason: str) -> int:
    """Note that the database is a copy. Returns the number of parts that a person must decide."""
    decided = _let_people_decide(reason)
    found = read_mark()
    if found is not None:
        Installation.here()
        Installation.objects.update(generation=found.generation)
    raise_generation()
    return decided


def raise_generation() -> None:
    """Raise the number of this database, and write it down beside the files."""
    installation = Installation.here()
    Installation.objects.update(generation=F("generation") + 1)
    installation.refresh_from_db()
    if owns_files():
        _write_mark(Mark(installation.database_id, installation.generation))


def owns_files() -> bool:
    """Whether the files here belong to this database, or to none yet."""
    mark = read_mark()
    return mark is None or mark.database_id == Installation.here().database_id


def read_mark() -> Mark | None:
    """What is written down beside the files; None if there is nothing."""
    with suppress(FileNotFoundError, ValueError), default_storage.open(MARK) as stored:
        database_id, generation = stored.read().decode().split()
        return Mark(database_id, int(generation))
    return None


def _write_mark(mark: Mark) -> None:
    default_storage.save(MARK, ContentFile(f"{mark.database_id} {mark.generation}\n".encode()))


def _let_people_decide(reason: str) -> int:
    """Take what is to be sent from the workers, until a person decides. Returns how many parts."""
    parts = Part.objects.filter(status__in=TO_BE_SENT, batch__deleted_at=None)
    decided = 0
    for batch_id in parts.values_list("batch", flat=True).distinct().order_by():
        with transaction.atomic():
            batch = lifecycle.lock(batch_id)
            decided += _of_batch(batch, reason)
            lifecycle.settle(batch)
    return decided


def _of_batch(batch: Batch, reason: str) -> int:
    found = list(batch.parts.filter(status__in=TO_BE_SENT))
    Attempt.objects.filter(part__in=found, status=AttemptStatus.WRITTEN).update(
        status=AttemptStatus.UNSURE, message=reason
    )
    # Perhaps sent, by a worker that this database does not remember.
    Attempt.objects.bulk_create(
        Attempt(
            part=part,
            number=part.attempts.count() + 1,
            items=part.waiting,
            payload_size=0,
            status=AttemptStatus.UNSURE,
            message=reason,
        )
        for part in found
    )
    lifecycle.let_people_decide(batch.parts.filter(pk__in=[part.pk for part in found]), reason)
    if found:
        lifecycle.record(batch, "restored", f"This database is a copy. {reason}")
    return len(found)
