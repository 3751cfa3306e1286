"""What the lines of the history show, read with as few columns and objects as that takes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import F, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.functions import Substr

from batchui.batches.models import Batch, Label
from batchui.batches.states import AnswerStatus
from batchui.teams.models import Connection

# In characters: of a question; a line has room for fewer.
QUESTION_SHOWN = 240
# What a line shows of its batch itself.
SHOWN = (
    *("id", "name", "source_name", "status", "version", "rows", "progress_rows", "part_count"),
    *("created_at", "started_at", "finished_at", "idle", "model", "connection_id"),
    *("prompt_tokens", "completion_tokens", "usd_read", "usd_written"),
    *(status.value for status in AnswerStatus),
)

Stored = TypeVar("Stored", bound=Model)


class Line(NamedTuple):
    """A line of the history.

    batch: with the columns of `SHOWN` and its connection; others are read when they are asked for.
    person: the name of who started or uploaded it; "": somebody at the terminal. asked_after: the
    name of the batch about which it asks further; "": none.
    """

    batch: Batch
    person: str
    question: str
    asked_after: str
    labels: list[Label]


def lines_of(batches: QuerySet[Batch]) -> dict[UUID, Line]:
    """The lines of these batches, by id. It takes two queries, or one if there is none."""
    others = (*("connection__kind", "created_by__name", "started_by__name"), "asked_after__name")
    question = Substr("template", 1, QUESTION_SHOWN)
    rows = list(batches.order_by().values_list(*SHOWN, *others, question))
    labels = _labels(row[0] for row in rows) if rows else {}
    lines = {}
    for row in rows:
        batch = _made(Batch, SHOWN, row[: len(SHOWN)])
        kind, uploaded, started, after, asked = row[len(SHOWN) :]
        batch.connection = _made(Connection, ("id", "kind"), (batch.connection_id, kind))
        person = uploaded if batch.started_at is None else started
        mine = labels.get(batch.pk, [])
        lines[batch.pk] = Line(batch, person or "", asked, after or "", mine)
    return lines


def _made(model: type[Stored], names: Sequence[str], values: Iterable[Any]) -> Stored:
    """An object with these columns; the others are read when they are asked for.

    `only` makes the same, but looks at each of the hundred columns of a batch; that took a tenth of
    the time of the whole page.
    """
    one = model.__new__(model)
    one.__dict__.update(zip(names, values, strict=True))
    one._state = ModelState()
    one._state.adding, one._state.db = False, DEFAULT_DB_ALIAS
    return one


def _labels(ids: Iterable[UUID]) -> dict[UUID, list[Label]]:
    """The labels of batches, by name."""
    found: dict[UUID, list[Label]] = defaultdict(list)
    for label in Label.objects.filter(batches__in=list(ids)).annotate(of=F("batches")):
        found[label.of].append(label)
    return found
