"""What becomes of batches when their database is a copy: drafts, retries, rows in doubt."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, questions, results, sending, trying
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.batches.part_answers import AskedAgain
from batchui.batches.questions import Choice
from batchui.batches.sheet import asking_again
from batchui.batches.states import (
    RETRYABLE_ANSWERS,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
    Question,
)
from batchui.batches.try_models import TriedStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from batchui.worker import restored
from tests.batches.conftest import (
    MODEL,
    TEMPLATE,
    MakeBatch,
    attempt_on_record,
    counted,
    on_record,
    poll_all,
    rows,
    statuses,
    work,
    written,
)
from tests.batches.trying import ask_all, begun
from tests.worker.conftest import sent_by_half
from tests.worker.copies import WHY


@pytest.mark.django_db
def test_a_batch_that_was_being_cut_becomes_a_draft_that_says_what_a_start_may_cost(
    sandbox: RunningSandbox, receive: MakeBatch, ana: User
) -> None:
    batch = receive(rows(30))
    Batch.objects.update(
        status=BatchStatus.PREPARING,
        model=MODEL,
        template=TEMPLATE,
        started_at=timezone.now(),
        started_by=ana,
    )
    restored.let_people_decide(WHY)
    batch.refresh_from_db()
    assert (batch.status, batch.started_at, batch.started_by) == (BatchStatus.DRAFT, None, None)
    assert batch.events.latest("pk").text == f"Not started: {batch.problem}"
    assert batch.problem == (
        "batchui was put back to an earlier state. It was restored. Perhaps this batch "
        "was started and sent since. If it was and you start it, it is charged twice."
    )
    asked = Ask(model=MODEL, template=TEMPLATE)
    assert decisions.start(batch, by=None, ask=asked, prepare_now=True)
    assert work(batch).answered == 30


@pytest.mark.django_db
def test_a_part_of_a_stopped_batch_ends_as_one_that_may_have_been_sent(
    sandbox: RunningSandbox, part: Part
) -> None:
    written(part)
    assert decisions.stop(part.batch, by=None)
    assert restored.let_people_decide(WHY) == 1
    part.batch.refresh_from_db()
    assert statuses(part.batch) == [PartStatus.DONE, PartStatus.STOPPED, PartStatus.STOPPED]
    assert part.batch.status == BatchStatus.STOPPED
    assert counted(part.batch) == {"missing": 25, "unsent": 35}


@pytest.mark.django_db
def test_a_retry_after_a_restore_says_that_rows_may_be_charged_twice(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    assert decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert (batch.unanswered, batch.rows_in_doubt) == (60, 0)
    restored.let_people_decide(WHY)
    batch.refresh_from_db()
    assert (batch.status, batch.rows_in_doubt) == (BatchStatus.STOPPED, 60)


@pytest.mark.django_db
def test_only_the_rows_that_a_retry_would_send_may_have_been_sent_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    batch = work(start(rows(10)))
    assert counted(batch) == {"answered": 9, "failed": 1}
    version = batch.version
    assert restored.let_people_decide(WHY) == 0
    perhaps = Attempt.objects.get(status=AttemptStatus.UNSURE)
    [failed] = [one.row for one in results.results(batch) if one.status == "failed"]
    assert failed == 5
    assert (perhaps.number, perhaps.items, perhaps.positions) == (2, 1, [3])
    assert Event.objects.get(kind="restored").text == (
        "batchui was put back to an earlier state. It was restored. 1 row without an "
        "answer may have been sent since. A retry may be charged twice."
    )
    batch.refresh_from_db()
    assert (batch.status, batch.version) == (BatchStatus.PROBLEMS, version)
    assert restored.let_people_decide(WHY) == 0
    assert (Attempt.objects.count(), Event.objects.filter(kind="restored").count()) == (2, 1)


@pytest.mark.django_db
def test_rows_that_became_missing_with_their_part_may_have_been_sent_again(
    sandbox: RunningSandbox, part: Part
) -> None:
    sent_by_half(part)
    poll_all()
    assert decisions.stop(part.batch, by=None)
    part.refresh_from_db()
    assert (part.status, part.answered, part.unsent) == (PartStatus.STOPPED, 10, 15)
    restored.let_people_decide(WHY)
    perhaps = part.attempts.get(status=AttemptStatus.UNSURE)
    assert (perhaps.items, perhaps.positions) == (15, list(range(10, 25)))
    said = Event.objects.get(kind="restored").text
    assert "50 rows without an answer may have been sent since." in said


@pytest.mark.django_db
def test_only_the_rows_that_wait_may_have_been_sent(sandbox: RunningSandbox, part: Part) -> None:
    sent_by_half(part)
    poll_all()
    part.refresh_from_db()
    assert (part.status, part.waiting) == (PartStatus.READY, 15)
    assert restored.let_people_decide(WHY) == 3
    perhaps = part.attempts.get(status=AttemptStatus.UNSURE)
    assert (perhaps.items, perhaps.positions) == (15, list(range(10, 25)))
    other = part.batch.parts.get(number=2).attempts.get()
    assert (other.items, other.positions, other.payload_size) == (25, None, 0)


@pytest.mark.django_db
def test_where_the_answers_are_lost_every_row_may_have_been_sent(
    sandbox: RunningSandbox, part: Part, files_in: Path
) -> None:
    sent_by_half(part)
    poll_all()
    part.refresh_from_db()
    (files_in / part.answers_file).unlink()
    assert restored.let_people_decide(WHY) == 3
    perhaps = part.attempts.get(status=AttemptStatus.UNSURE)
    assert (perhaps.items, perhaps.positions) == (15, None)


@pytest.mark.django_db
def test_rows_that_are_answered_are_in_no_doubt(sandbox: RunningSandbox, batch: Batch) -> None:
    work(batch)
    before = Attempt.objects.count()
    assert restored.let_people_decide(WHY) == 0
    assert Attempt.objects.count() == before
    assert not Event.objects.filter(kind="restored").exists()


@pytest.mark.django_db
def test_answered_rows_that_wait_to_be_asked_again_may_have_been_sent(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    """The counts of the part say that none of its rows waits."""
    work(batch)
    part = batch.parts.get(number=1)
    first = part.first_row
    assert asking_again.ask_again(batch, chosen=[first + 3, first + 7], by=None).answered == 2
    assert restored.let_people_decide(WHY) == 1
    part.refresh_from_db()
    assert (part.status, part.question, part.waiting) == (PartStatus.UNSURE, "restored", 0)
    perhaps = part.attempts.get(status=AttemptStatus.UNSURE)
    assert (perhaps.items, perhaps.positions) == (2, [3, 7])
    assert questions.decide(batch.parts.all(), Question.RESTORED, Choice.SEND_AGAIN, by=None).parts
    assert counted(work(batch)) == {"answered": 60}
    assert part.attempts.filter(status=AttemptStatus.ANSWERED, items=2).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("since", "items", "asked"),
    [
        (True, 2, 0),
        (True, 1, 1),  # half of them
        (False, 25, 1),  # looked for in vain before
    ],
)
def test_a_receipt_since_they_were_chosen_speaks_for_all_rows_that_are_asked_again(
    team: Team, since: bool, items: int, asked: int
) -> None:
    batch = on_record(team)
    part = batch.parts.get()
    chosen = AskedAgain(frozenset({3, 7}), is_alone=True).kept()
    receipt = attempt_on_record(part, status=AttemptStatus.ACCEPTED, items=items)
    before = 0 if since else receipt.number
    batch.parts.update(
        status=PartStatus.QUEUED, answered=10, asked_again=chosen, attempts_before=before
    )
    assert restored.let_people_decide(WHY) == asked


@pytest.mark.django_db
def test_a_deleted_batch_that_can_be_brought_back_is_asked_about(team: Team) -> None:
    batch = on_record(
        team,
        status=BatchStatus.PROBLEMS,
        deleted_at=timezone.now(),
        kept_until=timezone.now() + timedelta(days=1),
    )
    batch.parts.update(status=PartStatus.DONE, answered=9, failed=1)
    restored.let_people_decide(WHY)
    assert batch.parts.get().attempts.get().status == AttemptStatus.UNSURE


@pytest.mark.django_db
def test_what_was_being_tried_is_not_asked_once_more(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    one = begun(receive(rows(5)), count=3)
    first = one.rows.first()
    assert first is not None
    assert trying.claim(first)
    restored.let_people_decide(WHY)
    assert {row.status for row in one.rows.all()} == {TriedStatus.UNCLEAR}
    assert ask_all() == 0
    assert "may have been charged" in one.rows.latest("number").error


@pytest.mark.django_db
def test_deleted_batches_and_drafts_are_left_alone(team: Team) -> None:
    deleted = on_record(team, deleted_at=timezone.now())
    draft = on_record(team, parts=0, status=BatchStatus.DRAFT)
    cut = on_record(team, parts=0, status=BatchStatus.PREPARING, deleted_at=timezone.now())
    assert restored.let_people_decide(WHY) == 0
    for batch in (deleted, draft, cut):
        batch.refresh_from_db()
    assert statuses(deleted) == [PartStatus.READY]
    assert cut.status == BatchStatus.PREPARING
    assert (draft.status, draft.problem) == (BatchStatus.DRAFT, "")
    assert not Event.objects.exists()


@pytest.mark.django_db
def test_the_parts_of_all_batches_are_counted_but_not_of_deleted_ones(team: Team) -> None:
    on_record(team, parts=2)
    on_record(team)
    deleted = on_record(team, deleted_at=timezone.now())
    being_sent = attempt_on_record(deleted.parts.get(), status=AttemptStatus.WRITTEN)
    assert restored.let_people_decide(WHY) == 3
    being_sent.refresh_from_db()
    assert (being_sent.status, being_sent.message) == (AttemptStatus.WRITTEN, "")


@pytest.mark.django_db
def test_a_part_that_may_have_been_sent_already_does_not_speak_for_the_others(team: Team) -> None:
    batch = on_record(team, parts=2)
    attempt_on_record(batch.parts.get(number=1), status=AttemptStatus.UNSURE)
    assert restored.let_people_decide(WHY) == 2
    for part in batch.parts.all():
        assert part.attempts.get().status == AttemptStatus.UNSURE


@pytest.mark.django_db
@pytest.mark.parametrize("answer", RETRYABLE_ANSWERS)
def test_every_row_that_a_retry_would_send_is_in_doubt(team: Team, answer: AnswerStatus) -> None:
    batch = on_record(team, status=BatchStatus.PROBLEMS)
    batch.parts.update(status=PartStatus.DONE, answered=9, **{answer.value: 1})
    assert restored.let_people_decide(WHY) == 0
    perhaps = batch.parts.get().attempts.get()
    assert (perhaps.status, perhaps.items) == (AttemptStatus.UNSURE, 1)


@pytest.mark.django_db
def test_a_failed_row_of_a_part_that_goes_on_is_in_no_doubt(team: Team) -> None:
    batch = on_record(team)
    batch.parts.update(status=PartStatus.QUEUED, answered=4, failed=1)
    receipt = attempt_on_record(batch.parts.get(), status=AttemptStatus.ACCEPTED, items=5)
    assert restored.let_people_decide(WHY) == 0
    assert list(Attempt.objects.all()) == [receipt]


@pytest.mark.django_db
def test_the_rows_of_many_parts_that_ended_are_counted(team: Team) -> None:
    batch = on_record(team, parts=restored.AT_ONCE + 1, status=BatchStatus.STOPPED)
    batch.parts.update(status=PartStatus.STOPPED, unsent=10)
    restored.let_people_decide(WHY)
    said = Event.objects.get(kind="restored").text
    assert "5,010 rows without an answer may have been sent since." in said


@pytest.mark.django_db
def test_many_parts_are_asked_about_without_a_query_for_each(
    team: Team, django_assert_max_num_queries: Any
) -> None:
    on_record(team, parts=1200)
    with django_assert_max_num_queries(45):
        assert restored.let_people_decide(WHY) == 1200
    assert Attempt.objects.count() == 1200


@pytest.mark.django_db
def test_answers_that_come_after_the_restore_are_taken(sandbox: RunningSandbox, part: Part) -> None:
    assert sending.send(part)
    restored.let_people_decide(WHY)
    poll_all()
    part.refresh_from_db()
    assert (part.status, part.answered) == (PartStatus.DONE, 25)
