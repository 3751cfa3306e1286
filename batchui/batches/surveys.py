"""Holds the question of a draft against all its rows, before anything is sent.

How many rows ask exactly what another row asks, how many have nothing to ask, and how many are too
long for the model. It takes as long as reading the file, so a worker does it, once the question has
not been changed for a moment.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from batchui.batches import references, sources
from batchui.batches.clock import is_free
from batchui.batches.long_tasks import (
    MOST_READINGS,
    PROGRESS_SECONDS,
    READING_LEASE,
    SMALL_BYTES,
    StoppedError,
    sentence_for,
)
from batchui.batches.models import Batch
from batchui.batches.preparing import limits_for
from batchui.batches.row_problems import SHOWN
from batchui.batches.signals import work_waits
from batchui.batches.states import BatchStatus
from batchui.cloudflare.catalogue import UnknownModel, find
from batchui.prompts.cutting import Limits
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.readers import Row, read
from batchui.prompts.reading.rows import encode_row
from batchui.prompts.repeats import Repeats

# The question has not been changed for so long.
SETTLED = timedelta(seconds=1.5)
# What the survey depends on, besides how the file is read.
ASKED = ("model", "template", "instruction", "as_items", "max_tokens", "options", "target_lang")
ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Survey:
    """What was found out about a question.

    same: rows that ask exactly what an earlier row asks. blank: rows with nothing to ask. too_long:
    rows that are too long for the model, or for a request. first_too_long: the number of the first.
    blank_rows: the numbers of the first blank ones, SHOWN at most.
    """

    same: int
    blank: int
    too_long: int
    first_too_long: int | None
    blank_rows: list[int] = field(default_factory=list)


def survey_of(batch: Batch) -> Survey | None:
    """What is known about the question of a draft as it is now; None if nothing is yet.

    Then a worker finds out, or this call does where the file is small.
    """
    key = _key(batch)
    if batch.survey.get("key") == key:
        found = batch.survey["found"]
        return Survey(**found) if found else None
    if batch.status != BatchStatus.DRAFT or not batch.rows or not _can_be_asked(batch):
        return None
    if batch.source_size <= SMALL_BYTES:
        survey = _taken(batch)
        _keep(batch, key, survey)
        return survey
    if batch.survey_wanted != key:
        batch.survey_wanted, batch.survey_wanted_at = key, timezone.now()
        Batch.objects.filter(pk=batch.pk).update(
            survey_wanted=key, survey_wanted_at=batch.survey_wanted_at
        )
        work_waits.send(Batch, batch=batch)
    return None


def next_wanted() -> Batch | None:
    """The draft whose question has waited longest to be held against its rows."""
    settled = Q(survey_wanted_at__lte=timezone.now() - SETTLED)
    return (
        Batch.objects.filter(
            settled, is_free("survey_lease"), status=BatchStatus.DRAFT, deleted_at=None
        )
        .exclude(survey_wanted="")
        .order_by("survey_wanted_at")
        .first()
    )


def find_out(batch_id: UUID, *, beat: Callable[[], None] | None = None) -> None:
    """Hold the question of a draft against its rows. Does nothing if another worker does.

    A process that takes too long or too much memory is killed, and no exception says so: a question
    at which that has happened MOST_READINGS times is left alone.
    """
    claimed = Batch.objects.filter(is_free("survey_lease"), pk=batch_id).update(
        survey_lease=timezone.now() + READING_LEASE
    )
    if not claimed:
        return
    batch = Batch.objects.get(pk=batch_id)
    key = _key(batch)
    times = batch.survey.get("begun", {}).get(key, 0)
    if times == MOST_READINGS:
        _keep(batch, key, None)
        return
    Batch.objects.filter(pk=batch_id).update(survey={"begun": {key: times + 1}})
    try:
        survey = _taken(batch, beat=beat)
    except StoppedError:
        Batch.objects.filter(pk=batch_id).update(survey={"begun": {key: times}}, survey_lease=None)
    else:
        _keep(batch, key, survey)


def _taken(batch: Batch, *, beat: Callable[[], None] | None = None) -> Survey | None:
    """The survey of a draft's question; None where none can be taken: Start says why."""
    try:
        return take(batch, beat=beat)
    except StoppedError:
        raise
    except Exception as problem:  # neither a page nor a worker may stumble over a hint
        sentence_for(problem)  # logs what nobody expects
        return None


def take(batch: Batch, *, beat: Callable[[], None] | None = None) -> Survey:
    """The survey of a draft's question.

    Raises BadInput, UnknownModel, OSError, DamagedFile, and what `beat` raises.
    """
    writer = references.item_writer(batch)
    limits = limits_for(find(batch.ask.model), max_tokens=batch.ask.max_tokens)
    counted = _Counted(writer, limits, batch, beat)
    with sources.open_rows(batch) as source:
        repeats = Repeats(map(counted.row, read(source, batch.format)), writer)
    return Survey(
        same=repeats.rows,
        blank=counted.blank,
        too_long=counted.too_long,
        first_too_long=counted.first_too_long,
        blank_rows=counted.blank_rows,
    )


class _Counted:
    """Counts what is wrong with rows while they pass."""

    def __init__(
        self,
        writer: ItemWriter,
        limits: Limits,
        batch: Batch,
        beat: Callable[[], None] | None,
    ) -> None:
        self.blank = self.too_long = 0
        self.first_too_long: int | None = None
        self.blank_rows: list[int] = []
        self._size, self._most = writer.size, limits.question_bytes
        self._batch, self._beat = batch, beat
        self._next_beat = timezone.now()

    def row(self, row: Row) -> Row:
        """The row, counted."""
        if row.problem is None:
            try:
                stored = len(encode_row(row.cells))
                size = self._size(row.number, row.cells, stored=stored, enough=self._most)
            except BadInput:
                self.blank += 1
                if self.blank <= SHOWN:
                    self.blank_rows.append(row.number)
            else:
                if size > self._most:
                    self.too_long += 1
                    self.first_too_long = self.first_too_long or row.number
        if not row.number % ROWS_AT_ONCE:
            self._show_life()
        return row

    def _show_life(self) -> None:
        if self._beat and timezone.now() >= self._next_beat:
            self._next_beat = timezone.now() + timedelta(seconds=PROGRESS_SECONDS)
            self._beat()
            lease = timezone.now() + READING_LEASE
            Batch.objects.filter(pk=self._batch.pk).update(survey_lease=lease)


def _keep(batch: Batch, key: str, survey: Survey | None) -> None:
    """Store what came of a question; None, too, or it would be tried again for ever."""
    kept = {"key": key, "found": asdict(survey) if survey else None}
    Batch.objects.filter(pk=batch.pk).update(survey=kept, survey_lease=None)
    Batch.objects.filter(pk=batch.pk, survey_wanted=key).update(survey_wanted="")


def _can_be_asked(batch: Batch) -> bool:
    try:
        references.item_writer(batch)
    except (BadInput, UnknownModel):
        return False
    return True


def _key(batch: Batch) -> str:
    asked = [getattr(batch, name) for name in ASKED]
    return sha256(json.dumps([asked, batch.source_format]).encode()).hexdigest()[:32]
