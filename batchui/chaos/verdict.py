"""What is true at the end of a campaign."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils import timezone

from batchui.batches import exporting
from batchui.batches.corrections import PUT_BACK
from batchui.batches.models import (
    WAITING_FOR_COPIES,
    Attempt,
    Batch,
    Event,
    Part,
    Search,
    TriedRow,
)
from batchui.batches.part_answers import COUNTED, read_answers
from batchui.batches.sheet_models import SearchStatus
from batchui.batches.states import (
    ACTIVE_BATCHES,
    BEING_READ,
    OPEN_PARTS,
    AnswerStatus,
    PartStatus,
)
from batchui.batches.try_models import UNDER_WAY
from batchui.chaos.figures import Figures
from batchui.doctor import ledger
from batchui.doctor.examine import look
from batchui.doctor.findings import LOOK_AT_LOG, Finding
from batchui.doctor.ledger import Ledger
from batchui.doctor.records import Scope


def is_quiet() -> bool:
    """Whether nothing more will happen by itself: all is closed, or waits for a person."""
    waiting = (_going_on(), _being_read(), _being_tried(), _being_searched())
    return not any(found.exists() for found in waiting)


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


def _being_tried() -> QuerySet[TriedRow]:
    return TriedRow.objects.filter(status__in=UNDER_WAY, in_try__batch__deleted_at=None)


def _being_searched() -> QuerySet[Search]:
    return Search.objects.filter(status=SearchStatus.RUNNING, batch__deleted_at=None)


def stuck() -> list[str]:
    """A sentence about each part, batch, try and search that should have come to its end."""
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
    tries = [f"{row!s} is {row.status}." for row in _being_tried().select_related("in_try")]
    searches = [f"{search!s} of batch {search.batch_id} runs." for search in _being_searched()]
    return parts + batches + tries + searches


def _left(moment: datetime | None, now: datetime) -> str:
    """How long it is until this moment: "in 12 s", "none"."""
    return f"in {(moment - now).total_seconds():.0f} s" if moment else "none"


def open_batches() -> set[UUID]:
    """The batches with parts that are open and do not wait for a person."""
    return set(_going_on().values_list("batch", flat=True).order_by())


def receipts() -> dict[int, str]:
    """The receipts that are on record now, by the key of their attempt."""
    return dict(Attempt.objects.exclude(request_id="").values_list("pk", "request_id"))


class Edited(NamedTuple):
    """A row that a person has corrected."""

    batch: UUID
    part: int
    position: int


def edits() -> set[Edited]:
    """The rows that are corrected now, but for those of parts in which rows were asked again."""
    parts = Part.objects.filter(edited__gt=0, times_chosen=0)
    return {
        Edited(part.batch_id, part.pk, position)
        for part in parts.iterator()
        for position, answer in enumerate(read_answers(part))
        if answer is not None and answer.edit is not None
    }


def lost_edits(seen: Collection[Edited]) -> Iterator[Finding]:
    """A finding about each batch from which more corrections went than people put back."""
    asked_again = set(Part.objects.filter(times_chosen__gt=0).values_list("pk", flat=True))
    lost = [one for one in set(seen) - edits() if one.part not in asked_again]
    for batch, times in Counter(one.batch for one in lost).items():
        back = Event.objects.filter(batch=batch, kind=PUT_BACK).aggregate(n=Sum("times"))["n"] or 0
        if times > back and Batch.objects.filter(pk=batch, files_removed=False).exists():
            what = f"{times} corrections are gone, and {back} were put back by a person."
            yield Finding(invariant=2, kind="lost edits", what=what, do=LOOK_AT_LOG, batch=batch)


def asked_twice(address: str) -> Iterator[Finding]:
    """A finding about each row of a try that was asked twice, by what the sandbox remembers.

    Each try has words of its own, so that no two rows of tries make the same request.
    """
    asked = Counter(ledger.runs(address))
    for digest, times in asked.items():
        if times > 1:
            what = f"The same row of a try was asked {times} times: {digest}."
            yield Finding(invariant=4, kind="tried twice", what=what, do=LOOK_AT_LOG, where=digest)


def give(
    figures: Figures,
    *,
    store: Path,
    address: str,
    receipts: Mapping[int, str],
    edited: Collection[Edited] = (),
) -> None:
    """Check everything, and fill in the figures. Call it when all is quiet, and no worker lives.

    store, address: of the sandbox. receipts, edited: as they were seen during the campaign.
    """
    accepted = ledger.together(ledger.of_store(store), ledger.of_calls(address, is_whole=True))
    scope = Scope(ledger=accepted, receipts=receipts, skew=timedelta())
    known = {one.place for one in figures.findings}
    figures.findings += [one for one in look(scope).findings if one.place not in known]
    figures.findings += [*asked_twice(address), *lost_edits(edited)]
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
        if row.status != AnswerStatus.ANSWERED or row.edited or row.error == COUNTED:
            continue
        number, text, *_ = map(str, row.cells)
        mark = text.partition(" ")[0].encode()
        wrong += number != str(row.row) or mark not in (row.answer or b"")
    return wrong


def waiting_for_people() -> int:
    """The number of parts that wait for a decision."""
    return Part.objects.filter(status=PartStatus.UNSURE, batch__status__in=ACTIVE_BATCHES).count()
