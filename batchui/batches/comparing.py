"""Comparing two runs of one file: which rows have other answers, and what share agrees.

Rows are held against each other by their numbers. Small batches are compared at once, others by a
worker.
"""

from collections.abc import Iterator
from time import monotonic
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import part_answers
from batchui.batches.agreeing import agree, compared
from batchui.batches.clock import is_free
from batchui.batches.comparison_models import Comparison
from batchui.batches.compressed import IF_DAMAGED, DamagedFile
from batchui.batches.long_tasks import (
    MOST_READINGS,
    PROGRESS_SECONDS,
    READING_LEASE,
    Beat,
    StoppedError,
)
from batchui.batches.models import Batch
from batchui.batches.part_answers import NOTHING
from batchui.batches.results import READ_FOR_ROWS
from batchui.batches.signals import work_waits
from batchui.batches.states import AnswerStatus

# Batches with so many rows are compared in the request.
AT_ONCE_ROWS = 2_000
# Other runs that are offered, the latest ones; and comparisons of a batch that are kept.
MOST_OFFERED, MOST_KEPT = 50, 20
# The progress is told after so many rows at the earliest.
ROWS_BETWEEN = 500
ENDLESS = (
    f"batchui began {MOST_READINGS} times, and each time it was cut off before the end. Ask the "
    "person who runs batchui to look into the log."
)


def other_runs(batch: Batch) -> QuerySet[Batch]:
    """The latest other batches of the team that asked the same file: its bytes are the same.

    Of a workbook they asked the same sheet, too: row 4 of another one is another row.
    """
    same = Q(source_sha256=batch.source_sha256)
    if batch.sheet is not None:
        same &= Q(converted__chosen=batch.converted["chosen"])
    if batch.asked_after_id is not None:
        same |= Q(asked_after=batch.asked_after_id)
    found = Batch.objects.of_team(batch.team_id).filter(same, part_count__gt=0)
    return found.exclude(pk=batch.pk).exclude(source_sha256="").order_by("-created_at")


def other_sheets(one: Batch, other: Batch) -> list[str]:
    """The names of the sheets that two batches asked of one workbook; none if it was the same."""
    names = [batch.sheet["name"] for batch in (one, other) if batch.sheet is not None]
    is_one_file = one.source_sha256 == other.source_sha256
    return names if is_one_file and len({*names}) == 2 else []


def compare(one: Batch, other: Batch) -> Comparison:
    """The comparison of two batches as they are: one that is there, or a new one."""
    as_they_are = Q(one_version=one.version, other_version=other.version)
    # While answers come in, one that was begun is ended before the next one begins.
    there = Comparison.objects.filter(
        as_they_are | Q(status=Comparison.Status.RUNNING), one=one, other=other
    )
    if found := there.order_by("-created_at").first():
        return found
    first = min(one.first_row, other.first_row)
    made = Comparison.objects.create(
        one=one,
        other=other,
        one_version=one.version,
        other_version=other.version,
        first_row=first,
        rows=max(batch.first_row + batch.rows for batch in (one, other)) - first,
    )
    kept = Comparison.objects.filter(one=one).order_by("-created_at").values_list("pk", flat=True)
    Comparison.objects.filter(pk__in=list(kept[MOST_KEPT:])).delete()
    if made.rows <= AT_ONCE_ROWS:
        carry_out(made, beat=lambda: None)
        made.refresh_from_db()
    else:
        work_waits.send(Batch, batch=one)
    return made


def next_wanted() -> Comparison | None:
    """The comparison that waits longest for a worker."""
    waiting = Comparison.objects.filter(
        is_free(),
        status=Comparison.Status.RUNNING,
        one__deleted_at=None,
        other__deleted_at=None,
    )
    if not waiting.exists():  # as nearly always; to ask for two whole batches costs ten times more
        return None
    return waiting.select_related("one", "other").order_by("created_at").first()


def carry_out(wanted: Comparison, *, beat: Beat) -> None:
    """Compare two batches. Does nothing if another worker does."""
    mine = Comparison.objects.filter(pk=wanted.pk, status=Comparison.Status.RUNNING)
    begun = wanted.begun + 1
    lease = timezone.now() + READING_LEASE
    if not mine.filter(is_free(), begun=wanted.begun).update(lease_until=lease, begun=begun):
        return
    mine = mine.filter(begun=begun)
    if wanted.begun >= MOST_READINGS:
        mine.update(status=Comparison.Status.FAILED, problem=ENDLESS)
        return
    try:
        _hold_against(wanted, mine, beat)
    except DamagedFile as problem:
        mine.update(status=Comparison.Status.FAILED, problem=f"{problem} {IF_DAMAGED}")
    except StoppedError:
        mine.update(lease_until=None, begun=wanted.begun)
        work_waits.send(Batch, batch=wanted.one)


class _Count:
    """What has been found so far."""

    def __init__(self, wanted: Comparison) -> None:
        self.names, self._one, self._other = compared(
            wanted.one.ask.answer_columns, wanted.other.ask.answer_columns
        )
        self._bits = bytearray((wanted.rows + 7) // 8)
        self._same = [0] * max(1, len(self.names))
        self._answered = self._agree = self._different = 0

    def add(self, at: int, one: bytes | None, other: bytes | None) -> None:
        """Hold the answers of a row against each other; None: it has no good one."""
        differs = (one is None) != (other is None)
        if one is not None and other is not None:
            self._answered += 1
            pairs = zip(self._one(one), self._other(other), strict=True)
            for column, (left, right) in enumerate(pairs):
                is_same = agree(left, right)
                self._same[column] += is_same
                differs |= not is_same
            self._agree += not differs
        if differs:
            self._different += 1
            self._bits[at >> 3] |= 1 << (at & 7)

    def found(self) -> dict[str, Any]:
        """The fields of the comparison."""
        return {
            "answered": self._answered,
            "agree": self._agree,
            "different": self._different,
            "columns": [
                [name, self._answered, same]
                for name, same in zip(self.names, self._same, strict=False)
            ],
            "differs": bytes(self._bits),
        }


def _hold_against(wanted: Comparison, mine: QuerySet[Comparison], beat: Beat) -> None:
    """Compare row by row, and tell now and then how far it is."""
    count = _Count(wanted)
    told = monotonic()
    pairs = zip(_answers(wanted.one, wanted), _answers(wanted.other, wanted), strict=True)
    for at, (one, other) in enumerate(pairs):
        count.add(at, one, other)
        if at % ROWS_BETWEEN == 0 and monotonic() - told > PROGRESS_SECONDS:
            told = monotonic()
            beat()
            if not mine.update(rows_done=at, lease_until=timezone.now() + READING_LEASE):
                return
    mine.update(status=Comparison.Status.DONE, rows_done=wanted.rows, **count.found())


def _answers(batch: Batch, wanted: Comparison) -> Iterator[bytes | None]:
    """The good answer of each row that is compared, by number; None: it has none."""
    at, end = wanted.first_row, wanted.first_row + wanted.rows
    for part in batch.parts.order_by("number").only(*READ_FOR_ROWS).iterator():
        for answer in part_answers.read_answers(part):
            while at < part.first_row and at < end:
                at += 1
                yield None
            if at == end:
                return
            at += 1
            is_good = answer is not None and answer.status == AnswerStatus.ANSWERED
            yield None if answer is None or not is_good else _bytes(answer)
    yield from (None for _ in range(at, end))


def _bytes(answer: part_answers.Answer) -> bytes | None:
    return None if answer.answer == NOTHING else bytes(answer.answer)
