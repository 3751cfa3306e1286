"""What is true at the end of a campaign."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils import timezone

from batchui.batches import exporting
from batchui.batches.models import WAITING_FOR_COPIES, Attempt, Batch, Part
from batchui.batches.states import (
    ACTIVE_BATCHES,
    BEING_READ,
    OPEN_PARTS,
    AnswerStatus,
    PartStatus,
)
from batchui.chaos.figures import Figures
from batchui.doctor import ledger
from batchui.doctor.examine import look
from batchui.doctor.ledger import Ledger
from batchui.doctor.records import Scope


def is_quiet() -> bool:
    """Whether nothing more will happen by itself: all is closed, or waits for a person."""
    return not _going_on().exists() and not _being_read().exists()


def _going_on() -> QuerySet[Part]:
    """The parts that are open and do not wait for a person.

    Nor for the answers of a part that does: they would have to wait for ever.
    """
    going_on = OPEN_PARTS - {PartStatus.UNSURE}
    undecided = Part.objects.filter(status=PartStatus.UNSURE).values("batch")
    found = Part.objects.filter(status__in=going_on, batch__deleted_at=None)
    return found.exclude(WAITING_FOR_COPIES, batch__in=undecided)


def _being_read() -> QuerySet[Batch]:
    return Batch.objects.filter(status__in=BEING_READ, deleted_at=None)


def stuck() -> list[str]:
    """A sentence about each part and batch that should have come to its end."""
    now = timezone.now()
    parts = [
        f"Part {part.number} of batch {part.batch_id} is {part.status}: {part.message!r}, failures "
        f"{part.failures_in_a_row}, polls {part.polls}, lease {_left(part.lease_until, now)}, "
        f"resume {_left(part.resume_at, now)}, next poll {_left(part.next_poll_at, now)}."
        for part in _going_on()
    ]
    batches = [
        f"Batch {batch.pk} is {batch.status}: lease {_left(batch.lease_until, now)}."
        for batch in _being_read()
    ]
    return parts + batches


def _left(moment: datetime | None, now: datetime) -> str:
    """How long it is until this moment: "in 12 s", "none"."""
    return f"in {(moment - now).total_seconds():.0f} s" if moment else "none"


def open_batches() -> set[UUID]:
    """The batches with parts that are open and do not wait for a person."""
    return set(_going_on().values_list("batch", flat=True).order_by())


def receipts() -> dict[int, str]:
    """The receipts that are on record now, by the key of their attempt."""
    return dict(Attempt.objects.exclude(request_id="").values_list("pk", "request_id"))


def give(figures: Figures, *, store: Path, address: str, receipts: Mapping[int, str]) -> None:
    """Check everything, and fill in the figures. Call it when all is quiet, and no worker lives.

    store, address: of the sandbox. receipts: as they were seen during the campaign.
    """
    accepted = ledger.together(ledger.of_store(store), ledger.of_calls(address, is_whole=True))
    scope = Scope(ledger=accepted, receipts=receipts, skew=timedelta())
    known = {one.place for one in figures.findings}
    figures.findings += [one for one in look(scope).findings if one.place not in known]
    figures.accepted = len(accepted.accepted)
    figures.batches = Batch.objects.count()
    figures.rows = Batch.objects.aggregate(rows=Sum("rows"))["rows"] or 0
    figures.unsure = _unsure(accepted)
    figures.stuck = stuck()
    for batch in Batch.objects.filter(deleted_at=None, part_count__gt=0):
        figures.wrong_answers += wrong_answers(batch)


def _unsure(known: Ledger) -> int:
    """The number of accepted requests whose receipt is not on record: somebody was asked."""
    stored = set(Attempt.objects.exclude(request_id="").values_list("request_id", flat=True))
    return len(set(known.accepted) - stored)


def wrong_answers(batch: Batch) -> int:
    """The number of rows with an answer that is not about their own text, or at another number."""
    wrong = 0
    for row in exporting.export_rows(batch):
        if row.status != AnswerStatus.ANSWERED:
            continue
        number, text = map(str, row.cells)
        mark = text.partition(" ")[0].encode()
        wrong += number != str(row.row) or mark not in (row.answer or b"")
    return wrong


def waiting_for_people() -> int:
    """The number of parts that wait for a decision."""
    return Part.objects.filter(status=PartStatus.UNSURE, batch__status__in=ACTIVE_BATCHES).count()
