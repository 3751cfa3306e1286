"""What a child process does until it dies: a worker's step, an upload, a person's decision.

They call what the worker and the pages call.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple, TypeVar

from django.core.files.base import ContentFile
from django.db.models import Model, Q, QuerySet

from batchui.batches import decisions, deleting, empty_answers, intake, questions
from batchui.batches.models import Batch, Part
from batchui.batches.questions import Choice
from batchui.batches.states import (
    EDITABLE,
    ENDED_BATCHES,
    SENT_PARTS,
    STARTED,
    STOPPABLE_BATCHES,
    BatchStatus,
    PartStatus,
    Question,
)
from batchui.chaos import sheet_moves
from batchui.chaos.draws import File
from batchui.teams.founding import first_team
from batchui.worker import reading
from batchui.worker.heartbeat import beat
from batchui.worker.tick import run_tick

Found = TypeVar("Found", bound=Model)


class AtOnce(Executor):
    """Runs what is submitted at once, in the same thread: a step dies where it is counted."""

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(call(*args, **kwargs))
        return done


def work() -> None:
    """What a task of a worker does: read a file that waits, or else send and poll."""
    beat()
    if not reading.read_next():
        run_tick(pool=AtOnce(), is_stopping=lambda: False)


def upload(file: File) -> None:
    """Upload a file, which is checked at once: it is small."""
    content = ContentFile(file.content, file.name)
    intake.receive(content, team=first_team(), by=None, ask=file.ask)


def start(share: float) -> None:
    """Start a draft, which is cut into parts at once."""
    drafts = Batch.objects.filter(status=BatchStatus.DRAFT, deleted_at=None, rows__gt=0)
    batch = _at(drafts.order_by("created_at"), share)
    if batch is not None:
        decisions.start(batch, by=None, ask=batch.ask)


class Decision(NamedTuple):
    """A decision: what is pressed, and on which batches or parts it can be."""

    press: Callable[..., object]
    batches: Callable[[], QuerySet[Batch]] | None = None
    parts: Callable[[], QuerySet[Part]] | None = None


def _batches(*statuses: BatchStatus) -> Callable[[], QuerySet[Batch]]:
    return lambda: Batch.objects.filter(status__in=statuses, deleted_at=None)


def _parts(*questions: Question) -> Callable[[], QuerySet[Part]]:
    return lambda: Part.objects.filter(
        status=PartStatus.UNSURE, question__in=questions, batch__deleted_at=None
    )


def _to_leave_out() -> QuerySet[Part]:
    unsure_or_sent = Q(status=PartStatus.UNSURE) | Q(status__in=SENT_PARTS)
    return Part.objects.filter(unsure_or_sent, batch__deleted_at=None)


def _with_empty() -> QuerySet[Batch]:
    return Batch.objects.filter(status__in=ENDED_BATCHES, empty__gt=0, deleted_at=None)


def _to_bring_back() -> QuerySet[Batch]:
    return deleting.deleted_of(first_team())


def _undecided() -> QuerySet[Batch]:
    unsure = Part.objects.filter(status=PartStatus.UNSURE).values("batch")
    return Batch.objects.filter(pk__in=unsure, deleted_at=None)


def _for_all(choice: Choice) -> Callable[..., object]:
    """The decision about all parts of a batch of which it is unclear whether they were sent."""

    def press(batch: Batch, by: None) -> object:
        return questions.decide(batch.parts.all(), Question.UNCLEAR, choice, by=by)

    return press


# By the name of each: how often it is drawn.
WEIGHTS: dict[str, float] = {
    "stop": 1,
    "retry": 4,
    "send again": 4,
    "ask again": 2,
    "try again": 1,
    "leave out": 1,
    "send all again": 2,
    "leave all out": 0.5,
    "try now": 2,
    "run again": 0.3,
    "delete": 0.5,
    "bring back": 0.5,
    "try rows": 3,
    "stop try": 1,
    "ask a reason again": 2,
    "ask ticked again": 3,
    "count empty": 1,
    "rename": 0.5,
    "correct": 4,
    "search": 2,
}
DECISIONS: dict[str, Decision] = {
    "stop": Decision(decisions.stop, batches=_batches(*STOPPABLE_BATCHES)),
    "retry": Decision(decisions.retry, batches=_batches(*ENDED_BATCHES)),
    "send again": Decision(
        decisions.send_again,
        parts=_parts(Question.UNCLEAR, Question.MISMATCH, Question.RESTORED),
    ),
    "ask again": Decision(
        decisions.ask_again, parts=_parts(Question.UNREADABLE, Question.MISMATCH)
    ),
    "try again": Decision(decisions.try_again, parts=_parts(Question.DAMAGED)),
    "leave out": Decision(decisions.leave_out, parts=_to_leave_out),
    "send all again": Decision(_for_all(Choice.SEND_AGAIN), batches=_undecided),
    "leave all out": Decision(_for_all(Choice.LEAVE_OUT), batches=_undecided),
    "try now": Decision(decisions.try_now, batches=_batches(*STOPPABLE_BATCHES)),
    "run again": Decision(intake.run_again, batches=_batches(*ENDED_BATCHES)),
    "delete": Decision(deleting.delete, batches=_batches(*ENDED_BATCHES)),
    "bring back": Decision(sheet_moves.bring_back, batches=_to_bring_back),
    "try rows": Decision(sheet_moves.try_rows, batches=_batches(BatchStatus.DRAFT)),
    "stop try": Decision(sheet_moves.stop_try, batches=_batches(BatchStatus.DRAFT)),
    "ask a reason again": Decision(
        sheet_moves.ask_a_reason_again, batches=_batches(*ENDED_BATCHES)
    ),
    "ask ticked again": Decision(sheet_moves.ask_ticked_again, batches=_batches(*ENDED_BATCHES)),
    "count empty": Decision(empty_answers.count_as_answered, batches=_with_empty),
    "rename": Decision(sheet_moves.rename, batches=_batches(*EDITABLE, *STARTED)),
    "correct": Decision(sheet_moves.correct, batches=_batches(*STARTED)),
    "search": Decision(sheet_moves.search, batches=_batches(*STARTED)),
}


def target_of(name: str, share: float) -> Batch | Part | None:
    """One of the batches or parts that a decision can be about; None if there are none."""
    decision = DECISIONS[name]
    if decision.batches is not None:
        return _at(decision.batches().order_by("created_at"), share)
    assert decision.parts is not None  # noqa: S101
    parts = decision.parts().select_related("batch__connection")
    return _at(parts.order_by("batch__created_at", "number"), share)


def _at(found: QuerySet[Found], share: float) -> Found | None:
    """The one at this share of the way through them; None if there are none."""
    return found[int(share * count) :].first() if (count := found.count()) else None


def decide_one_of(names: Sequence[str], share: float) -> None:
    """Let a person decide the first of these that there is something to decide about."""
    any(decide(name, share) for name in names)


def decide(name: str, share: float) -> bool:
    """Let a person decide something about one of the batches or parts that it can be about.

    False: it can be about none.
    """
    target = target_of(name, share)
    if target is not None:
        DECISIONS[name].press(target, by=None)
    return target is not None
