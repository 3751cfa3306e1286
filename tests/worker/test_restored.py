"""A database that is a copy sends nothing that may have been sent since it was made."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, lifecycle, sending
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import generation, restored, tick
from tests.batches.conftest import (
    MakeBatch,
    counted,
    in_files,
    posts,
    rows,
    send_all,
    work,
    written,
)
from tests.worker.conftest import sent_by_half
from tests.worker.copies import WHY, copied


def questions(batch: Batch) -> list[str]:
    """What people are asked about each part; "" is nothing."""
    return list(batch.parts.order_by("number").values_list("question", flat=True))


# -- the promise --------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("at_once")
def test_what_was_sent_after_a_copy_was_made_is_sent_again_only_when_a_person_says_so(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    generation.keep_up()  # as every minute
    put_back = copied()
    tick.run_tick()
    batch.refresh_from_db()
    assert (batch.status, posts(sandbox)) == (BatchStatus.FINISHED, 3)
    put_back()
    for _ in range(3):
        tick.run_tick()
    batch.refresh_from_db()
    assert posts(sandbox) == 3
    assert questions(batch) == [Question.RESTORED] * 3
    assert batch.status == BatchStatus.ATTENTION
    first, second, third = batch.parts.order_by("number")
    assert decisions.send_again(first, by=None)
    assert decisions.leave_out(second, by=None)
    assert decisions.leave_out(third, by=None)
    tick.run_tick()
    assert posts(sandbox) == 4
    assert counted(batch) == in_files(batch) == {"answered": 25, "missing": 35}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("at_once")
def test_a_copy_that_is_put_back_while_a_tick_works_is_noticed_before_the_next_parts_are_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    first = start(rows(60))
    generation.keep_up()
    put_back = copied()
    tick.run_tick()
    put_back()
    start(rows(30))  # something new, which nobody can have sent
    assert tick.next_work(8, besides=())
    assert questions(first) == [Question.RESTORED] * 3
    tick.run_tick()
    assert posts(sandbox) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("at_once")
def test_what_is_started_after_the_copy_was_put_back_is_sent_without_a_question(
    sandbox: RunningSandbox, batch: Batch, start: MakeBatch
) -> None:
    generation.note_restored(WHY)
    new = start(rows(30))
    tick.run_tick()
    new.refresh_from_db()
    assert new.status == BatchStatus.FINISHED
    assert posts(sandbox) == new.part_count


# -- which parts --------------------------------------------------------------------------------


def held_for_a_time(part: Part) -> None:
    later = timezone.now() + timedelta(hours=1)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.HELD, resume_at=later)


def held_for_a_person(part: Part) -> None:
    Part.objects.filter(pk=part.pk).update(status=PartStatus.HELD)


def being_sent(part: Part) -> None:
    written(part)


def certainly_unsent(part: Part) -> None:
    Part.objects.filter(pk=part.pk).update(status=PartStatus.UNSURE, question=Question.DAMAGED)


def unchanged(part: Part) -> None:
    assert part.status == PartStatus.READY


@pytest.mark.django_db
@pytest.mark.parametrize(
    "moment",
    [unchanged, held_for_a_time, held_for_a_person, being_sent, certainly_unsent, sent_by_half],
)
def test_people_are_asked_about_every_part_that_would_be_sent(
    sandbox: RunningSandbox, part: Part, moment: Any
) -> None:
    moment(part)
    before = posts(sandbox)
    restored.let_people_decide(WHY)
    part.refresh_from_db()
    assert (part.status, part.question, part.message) == (
        PartStatus.UNSURE,
        Question.RESTORED,
        WHY,
    )
    assert (part.lease_until, part.resume_at) == (None, None)
    # Somebody may have paid for it: a retry, a stop and the page say so.
    perhaps = part.attempts.get(status=AttemptStatus.UNSURE)
    assert (perhaps.message, perhaps.finished_at is None) == (WHY, False)
    assert not part.attempts.filter(status=AttemptStatus.WRITTEN).exists()
    send_all()
    assert posts(sandbox) == before


@pytest.mark.django_db
def test_the_half_that_has_a_receipt_is_never_sent_again(
    sandbox: RunningSandbox, part: Part
) -> None:
    sent_by_half(part)
    restored.let_people_decide(WHY)
    part.refresh_from_db()
    assert decisions.send_again(part, by=None)
    batch = work(part.batch)
    part.refresh_from_db()
    assert (part.status, part.answered) == (PartStatus.DONE, 25)
    assert [call.items for call in sandbox.calls("submit")] == [10, 10, 5]
    assert questions(batch)[1:] == [Question.RESTORED] * 2


def accepted(part: Part) -> None:
    assert sending.send(part)


def accepted_and_killed(part: Part) -> None:
    """The receipt is stored, and the part not moved yet."""
    attempt = written(part)
    lifecycle.store_receipt(attempt, "request-1")
    Part.objects.filter(pk=part.pk).update(lease_until="2000-01-01T00:00:00Z")


def accepted_late(part: Part) -> None:
    """The receipt came after somebody had pressed Send again."""
    attempt = written(part)
    closing = Closing(attempt, AttemptStatus.UNSURE, "cut")
    assert lifecycle.move_part(part, PartStatus.UNSURE, closing=closing)
    assert decisions.send_again(part, by=None)
    lifecycle.store_receipt(attempt, "request-1")


@pytest.mark.django_db
@pytest.mark.parametrize("moment", [accepted, accepted_and_killed, accepted_late])
def test_a_part_that_has_a_receipt_is_asked_for_and_nobody_is_asked(
    sandbox: RunningSandbox, part: Part, moment: Any
) -> None:
    moment(part)
    before = posts(sandbox)
    assert restored.let_people_decide(WHY) == 2  # the other two parts
    sending.rescue(timezone.now())
    send_all()
    part.refresh_from_db()
    assert (part.status, part.question) == (PartStatus.QUEUED, "")
    assert posts(sandbox) == before


@pytest.mark.django_db
@pytest.mark.parametrize("question", [Question.UNCLEAR, Question.MISMATCH, Question.UNREADABLE])
def test_a_question_that_is_open_already_stays_the_same(
    sandbox: RunningSandbox, part: Part, question: Question
) -> None:
    Part.objects.filter(pk=part.pk).update(
        status=PartStatus.UNSURE, question=question, message="before"
    )
    assert restored.let_people_decide(WHY) == 2
    part.refresh_from_db()
    assert (part.question, part.message) == (question, "before")


@pytest.mark.django_db
def test_asking_twice_asks_once(sandbox: RunningSandbox, batch: Batch) -> None:
    assert restored.let_people_decide(WHY) == 3
    assert restored.let_people_decide(WHY) == 0
    assert Attempt.objects.count() == 3
    assert Event.objects.filter(kind="restored").count() == 1


@pytest.mark.django_db
def test_the_timeline_says_what_happened(sandbox: RunningSandbox, batch: Batch) -> None:
    restored.let_people_decide(WHY)
    said = Event.objects.get(kind="restored").text
    assert (
        said
        == "batchui was put back to an earlier state. It was restored. 3 parts may have been sent."
    )


@pytest.mark.django_db
def test_a_part_with_earlier_attempts_gets_the_next_number_and_the_size_of_the_last(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)
    closing = Closing(attempt, AttemptStatus.NOT_SENT, "no network")
    assert lifecycle.move_part(part, PartStatus.READY, closing=closing)
    restored.let_people_decide(WHY)
    first, second = part.attempts.order_by("number")
    assert (first.status, second.status) == (AttemptStatus.NOT_SENT, AttemptStatus.UNSURE)
    assert (second.number, second.items) == (2, 25)
    assert second.payload_size == first.payload_size > 0
