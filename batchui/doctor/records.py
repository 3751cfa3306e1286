"""A batch as it was at one moment, with its parts, attempts and events."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from batchui.batches import settling
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.doctor.findings import Finding
from batchui.doctor.ledger import NO_LEDGER, Ledger


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is examined, and what is known besides the database.

    batch: this one alone; None: all. ledger: what the API accepted. receipts: the request ids of
    attempts as they were seen earlier. skew: how far the clocks of hosts may differ.
    """

    batch: UUID | None = None
    ledger: Ledger = NO_LEDGER
    receipts: Mapping[int, str] = field(default_factory=dict)
    skew: timedelta = timedelta(seconds=2)

    def batch_ids(self) -> Sequence[UUID]:
        """The batches to examine, the oldest first. The files of deleted ones are removed."""
        batches = Batch.objects.filter(deleted_at=None).order_by("created_at")
        if self.batch is not None:
            batches = batches.filter(pk=self.batch)
        return list(batches.values_list("pk", flat=True))


@dataclass(frozen=True, kw_only=True)
class Record:
    """What the database says about a batch at one moment.

    parts: by number. events: the oldest first. The stored files never change, so what they hold
    belongs to the same moment.
    """

    batch: Batch
    parts: Sequence[Part]
    attempts_by_part: Mapping[int, Sequence[Attempt]]
    events: Sequence[Event]
    at: datetime
    scope: Scope

    def attempts(self, part: Part) -> Sequence[Attempt]:
        """The attempts of a part, by number."""
        return self.attempts_by_part.get(part.pk, ())

    def of_part(self, part: Part) -> Sequence[Event]:
        """The events of a part, the oldest first."""
        return self._events_by_part.get(part.number, ())

    @cached_property
    def _events_by_part(self) -> dict[int | None, list[Event]]:
        found: dict[int | None, list[Event]] = defaultdict(list)
        for event in self.events:
            for number in event.part_numbers or [event.part_number]:
                found[number].append(event)
        return found

    @property
    def of_batch(self) -> Sequence[Event]:
        """The events of the batch as a whole, the oldest first."""
        return self._events_by_part.get(None, ())

    @property
    def is_started(self) -> bool:
        """Whether its parts are on record."""
        return bool(self.parts) or self.batch.part_count > 0

    def finding(
        self,
        invariant: int,
        kind: str,
        what: str,
        *,
        do: str,
        part: Part | None = None,
        row: int | None = None,
        since: datetime | None = None,
    ) -> Finding:
        """A finding about this batch. Without `since`: since the latest event before it."""
        return Finding(
            invariant=invariant,
            kind=kind,
            what=what,
            do=do,
            batch=self.batch.pk,
            part=part.number if part else None,
            row=row,
            since=since or self._latest(part),
        )

    def _latest(self, part: Part | None) -> datetime:
        events = (self.of_part(part) if part else ()) or self.events
        return events[-1].at if events else self.batch.created_at


def records(scope: Scope) -> Iterator[Record]:
    """The batches to examine, one at a time."""
    for batch_id in scope.batch_ids():
        record = load(batch_id, scope)
        if record is not None:
            yield record


def load(batch_id: UUID, scope: Scope) -> Record | None:
    """A batch as it is now; None if it was deleted meanwhile.

    A move of a part locks its batch. So what is read under that lock belongs to one moment.
    """
    with transaction.atomic():
        batch = Batch.objects.filter(pk=batch_id, deleted_at=None).first()
        if batch is None:
            return None
        batch = settling.lock(batch_id)
        parts = list(batch.parts.order_by("number"))
        attempts: dict[int, list[Any]] = defaultdict(list)
        # The rows of an attempt may be thousands of numbers: they are read where they are needed.
        for attempt in Attempt.objects.filter(part__batch=batch).defer("positions"):
            attempts[attempt.part_id].append(attempt)
        events = list(batch.events.order_by("pk"))
    for part in parts:
        part.batch = batch
        for attempt in attempts.get(part.pk, ()):
            attempt.part = part
    return Record(
        batch=batch,
        parts=parts,
        attempts_by_part=attempts,
        events=events,
        at=timezone.now(),
        scope=scope,
    )
