"""The digests of the parts of a batch: made when somebody looks, kept, and summed up.

A request makes a few; a worker makes the others. Until all are there, the page says "so far".
"""

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple, TypeVar
from uuid import UUID

import msgspec
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from batchui.batches.clock import is_free
from batchui.batches.long_tasks import MOST_READINGS, Beat, StoppedError
from batchui.batches.models import Batch, Part
from batchui.batches.results import READ_FOR_ROWS
from batchui.batches.sheet.digesting import FieldDigest, ReasonCount, summary_of
from batchui.batches.sheet_models import DIGEST_FORMAT, DIGESTED, HAS_DIGEST, Counting, Digest
from batchui.batches.signals import work_waits

# A request spends so much time of the processor on digests.
SECONDS_IN_A_REQUEST = 0.04
LEASE = timedelta(minutes=2)
Half = TypeVar("Half")
_REASONS = msgspec.json.Decoder(dict[str, ReasonCount])
_FIELDS = msgspec.json.Decoder(list[FieldDigest])
# Parts that have rows with a status of their own.
HAS_SOMETHING = (
    Q(answered__gt=0)
    | Q(empty__gt=0)
    | Q(unfit__gt=0)
    | Q(failed__gt=0)
    | Q(missing__gt=0)
    | Q(unsent__gt=0)
    | Q(invalid__gt=0)
)


class Digested(NamedTuple):
    """The digests of a batch that are there: so many, of a version of it.

    is_whole: none is missing.
    """

    batch: UUID
    version: int
    number: int
    is_whole: bool

    @property
    def reasons(self) -> tuple[dict[str, ReasonCount], ...]:
        """Why rows of each part need attention."""
        return _read("reasons", _REASONS, self.batch, self.version, self.number)

    @property
    def fields(self) -> tuple[list[FieldDigest], ...]:
        """What each part has in the answer columns."""
        return _read("fields", _FIELDS, self.batch, self.version, self.number)


def of(batch: Batch) -> Digested:
    """The digests of a batch. Some that are missing are made now; a worker makes the others."""
    is_whole = make_some(batch)
    number = batch.parts.filter(HAS_DIGEST).count()
    return Digested(batch.pk, batch.version, number, is_whole)


@lru_cache(maxsize=8)
def _read(
    column: str, decoder: msgspec.json.Decoder[Half], batch: UUID, _version: int, _number: int
) -> tuple[Half, ...]:
    """One half of all digests. It is kept until the batch changes, or there are more of them."""
    found = Part.objects.filter(HAS_DIGEST, batch=batch).order_by("number")
    # As text: to make Python's own objects of 1,000 digests first takes five times as long.
    texts = found.annotate(text=Cast(f"digest__{column}", TextField()))
    return tuple(map(decoder.decode, texts.values_list("text", flat=True)))


def forget() -> None:
    """Forget the digests that this process has read."""
    _read.cache_clear()


def make_some(batch: Batch) -> bool:
    """Make digests for a moment. False: some are missing, and a worker makes them."""
    until = time.thread_time() + SECONDS_IN_A_REQUEST
    for part in _without(batch):
        if time.thread_time() > until:
            _ask_a_worker(batch)
            return False
        store(batch, part)
    return True


def _without(batch: Batch) -> QuerySet[Part]:
    """The parts of a batch that have no digest of their answers as they are now."""
    # Not `exclude`: a part without any digest has none of these columns.
    there = Digest.objects.filter(part__batch=batch, part__in=batch.parts.filter(HAS_DIGEST))
    missing = batch.parts.filter(HAS_SOMETHING).exclude(pk__in=there.values("part"))
    return missing.order_by("number").only(*READ_FOR_ROWS)


def store(batch: Batch, part: Part) -> None:
    """Make the digest of a part as it was read."""
    summary = msgspec.to_builtins(summary_of(batch, part))
    seen = {column: getattr(part, of_part) for column, of_part in DIGESTED.items()}
    Digest.objects.update_or_create(
        part=part, defaults={**seen, **summary, "format": DIGEST_FORMAT}
    )


# -- by a worker --------------------------------------------------------------------------------


def _ask_a_worker(batch: Batch) -> None:
    _, is_new = Counting.objects.get_or_create(batch=batch, defaults={"wanted_at": timezone.now()})
    if is_new:
        work_waits.send(Batch, batch=batch)


def next_wanted() -> Counting | None:
    """The batch whose digests have been waited for longest."""
    free = Counting.objects.filter(is_free(), begun__lt=MOST_READINGS, batch__deleted_at=None)
    if not free.exists():  # as nearly always; to ask for a whole batch costs more
        return None
    return free.select_related("batch").order_by("wanted_at").first()


def make_all(wanted: Counting, *, beat: Beat) -> None:
    """Make the digests of a batch that are missing. Does nothing if another worker is at it."""
    mine = Counting.objects.filter(pk=wanted.pk)
    begun = wanted.begun + 1
    claim = mine.filter(is_free(), begun=wanted.begun)
    if not claim.update(lease_until=timezone.now() + LEASE, begun=begun):
        return
    try:
        for part in _missing(wanted.batch):
            store(wanted.batch, part)
            beat()
            mine.update(lease_until=timezone.now() + LEASE)
    except StoppedError:
        mine.update(lease_until=None, begun=wanted.begun)
        return
    mine.delete()


def _missing(batch: Batch) -> Iterator[Part]:
    """Each part is read just before its digest is made; one that changes meanwhile comes again."""
    numbers: Iterable[int] = list(_without(batch).values_list("pk", flat=True))
    for pk in numbers:
        part = Part.objects.filter(pk=pk).only(*READ_FOR_ROWS).first()
        if part is not None:
            yield part
