"""Holds the question of a draft against all its rows, before anything is sent.

How many rows ask exactly what another row asks, how many have nothing to ask, and how many are too
long for the model. It takes as long as reading the file: of a large one a worker finds out, once
the question has not been changed for a moment.
"""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from batchui.batches import draft_rows, references
from batchui.batches.catalogues import of_batch
from batchui.batches.clock import is_free
from batchui.batches.long_tasks import (
    MOST_READINGS,
    READING_LEASE,
    SURVEYS,
    Beat,
    LeaseLostError,
    StoppedError,
    keeping,
    read_now_or_soon,
    sentence_for,
)
from batchui.batches.models import Batch
from batchui.batches.preparing import limits_for
from batchui.batches.progress import Progress, telling
from batchui.batches.row_problems import SHOWN
from batchui.batches.signals import work_waits
from batchui.batches.states import BatchStatus
from batchui.prompts.cutting import Limits
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import longest_written
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.readers import Row
from batchui.prompts.reading.rows import encode_row
from batchui.prompts.repeats import Repeats

# The question has not been changed for so long.
SETTLED = timedelta(seconds=1.5)
# What the survey depends on, besides how the file is read.
ASKED = (
    *("model", "template", "instruction", "answer_columns", "as_items", "max_tokens", "options"),
    *("target_lang", "effort", "query", "move_references", "picture_column"),
)


@dataclass(frozen=True)
class Survey:
    """What was found out about a question.

    same: rows that ask exactly what an earlier row asks. blank: rows with nothing to ask about,
    empty lines too. too_long: rows that are too long for the model, or for a request.
    first_too_long: the number of the first. blank_rows: the numbers of the first blank ones, SHOWN
    at most. unusable: ready-made requests that the model does not take. first_unusable: the number
    of the first.
    """

    same: int
    blank: int
    too_long: int
    first_too_long: int | None
    blank_rows: list[int] = field(default_factory=list)
    unusable: int = 0
    first_unusable: int | None = None


def survey_of(batch: Batch) -> Survey | None:
    """What is known about the question of a draft as it is now; None if nothing is yet.

    Then a worker finds out, or this call does where the file is small and it does not take long.
    """
    key = _key(batch)
    if batch.survey.get("key") != key and batch.survey_wanted != key and _can_be_taken(batch):
        wanted = Batch.objects.filter(pk=batch.pk)
        wanted.update(survey_wanted=key, survey_wanted_at=timezone.now())
        read_now_or_soon(batch, find_out, one_at_a_time=SURVEYS)
        batch.refresh_from_db(fields=("survey", "survey_wanted", "survey_wanted_at"))
    found = batch.survey.get("found") if batch.survey.get("key") == key else None
    return Survey(**found) if found else None


def _can_be_taken(batch: Batch) -> bool:
    """Whether a draft has a question and rows."""
    is_asked = batch.ask.template != "" or batch.ask.as_items
    return batch.status == BatchStatus.DRAFT and batch.rows > 0 and is_asked


def next_wanted() -> Batch | None:
    """The draft whose question has waited longest to be held against its rows."""
    settled = Q(survey_wanted_at__lte=timezone.now() - SETTLED)
    waiting = Batch.objects.filter(
        settled, is_free("survey_lease"), status=BatchStatus.DRAFT, deleted_at=None
    ).exclude(survey_wanted="")
    if not waiting.exists():  # as nearly always; to ask for a whole batch costs more
        return None
    return waiting.order_by("survey_wanted_at").first()


def find_out(batch_id: UUID, *, beat: Beat | None = None) -> None:
    """Hold the question of a draft against its rows. Does nothing if somebody else does.

    A process that takes too long or too much memory is killed, and no exception says so: a question
    at which that has happened MOST_READINGS times is left alone.
    """
    mine = Batch.objects.filter(pk=batch_id)
    if not mine.filter(is_free("survey_lease")).update(survey_lease=timezone.now() + READING_LEASE):
        return
    batch = mine.get()
    key = _key(batch)
    times = batch.survey.get("begun", {}).get(key, 0)
    if times == MOST_READINGS:
        _keep(batch, key, None)
        return
    mine.update(survey={"begun": {key: times + 1}})

    def renew(_rows: int, lease_until: datetime) -> bool:
        return bool(mine.update(survey_lease=lease_until))

    try:
        survey = take(batch, progress=keeping(renew, beat=beat))
    except LeaseLostError:
        return
    except StoppedError:
        mine.update(survey={"begun": {key: times}}, survey_lease=None)
        work_waits.send(Batch, batch=batch)
    except Exception as problem:  # neither a page nor a worker may stumble over a hint
        sentence_for(problem)  # logs what nobody expects; Start says the rest
        _keep(batch, key, None)
    else:
        _keep(batch, key, survey)


def take(batch: Batch, *, progress: Progress) -> Survey:
    """The survey of a draft's question.

    Raises BadInput, UnknownModel, OSError, DamagedFile, and what `progress` raises.
    """
    model = of_batch(batch).find(batch.ask.model)
    writer = references.checked_writer(batch)
    limits = limits_for(model, max_tokens=longest_written(model, batch.ask))
    counted = _Counted(writer, limits)
    rows = telling(draft_rows.read_rows(batch), progress)
    repeats = Repeats(map(counted.row, rows), writer)
    return Survey(
        same=repeats.rows,
        blank=counted.blank,
        too_long=counted.too_long,
        first_too_long=counted.first_too_long,
        blank_rows=counted.blank_rows,
        unusable=counted.unusable,
        first_unusable=counted.first_unusable,
    )


class _Counted:
    """Counts what is wrong with rows while they pass."""

    def __init__(self, writer: ItemWriter, limits: Limits) -> None:
        self.blank = self.too_long = self.unusable = 0
        self.first_too_long: int | None = None
        self.first_unusable: int | None = None
        self.blank_rows: list[int] = []
        self._size, self._most = writer.size, limits.question_bytes

    def row(self, row: Row) -> Row:
        """The row, counted."""
        if row.problem is None:
            try:
                stored = len(row.stored or encode_row(row.cells))
                size = self._size(row.number, row.cells, stored=stored, enough=self._most)
            except BadInput as bad:
                self._note(row.number, is_blank=bad.problem is not None and bad.problem.blank)
            else:
                if size > self._most:
                    self.too_long += 1
                    self.first_too_long = self.first_too_long or row.number
        elif row.problem.blank:
            self._note(row.number, is_blank=True)
        return row

    def _note(self, number: int, *, is_blank: bool) -> None:
        if is_blank:
            self.blank += 1
            if self.blank <= SHOWN:
                self.blank_rows.append(number)
        else:
            self.unusable += 1
            self.first_unusable = self.first_unusable or number


def _keep(batch: Batch, key: str, survey: Survey | None) -> None:
    """Store what came of a question; None, too, or it would be tried again for ever.

    `batch` is as it was claimed. The question that was wanted then may have been replaced before.
    """
    kept = {"key": key, "found": asdict(survey) if survey else None}
    mine = Batch.objects.filter(pk=batch.pk)
    mine.update(survey=kept, survey_lease=None)
    mine.filter(survey_wanted=batch.survey_wanted).update(survey_wanted="")


def _key(batch: Batch) -> str:
    asked = [getattr(batch, name) for name in ASKED]
    return sha256(json.dumps([asked, batch.format_key]).encode()).hexdigest()[:32]
