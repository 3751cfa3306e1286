"""What people answer to a question about parts: about one part, or about all of them at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.batches import decisions, deleting, due, lifecycle, questions, settling
from batchui.batches.models import MOST_FAILURES, Attempt, Batch, Part
from batchui.batches.questions import CHOICES, LEFT_OUT, LEFT_OUT_SENTENCES, Choice, Decided
from batchui.batches.retrying import Retried, rows_of_retry
from batchui.batches.states import SENT_PARTS, AttemptStatus, BatchStatus, PartStatus, Question
from batchui.teams.models import Team, User
from tests.batches.conftest import attempt_on_record, on_record, statuses

pytestmark = pytest.mark.django_db

# How a part stands about which this is asked.
FAILING = {"status": PartStatus.QUEUED, "failures_in_a_row": MOST_FAILURES}
STANDS: dict[Question, dict[str, object]] = {
    question: {"status": PartStatus.UNSURE, "question": question} for question in Question
} | {Question.TROUBLE: FAILING, Question.STOPPING: {"status": PartStatus.RUNNING}}
EVERY_CHOICE = [(question, choice) for question in Question for choice in CHOICES[question]]

# This one moves nothing: the next poll comes sooner.
ASK_NOW = (Question.TROUBLE, Choice.ASK_AGAIN)


def asked(team: Team, question: Question, *, parts: int = 3) -> Batch:
    """A batch with so many parts about which this is asked, and one part that is done."""
    batch = on_record(team, parts=parts + 1, status=BatchStatus.RUNNING)
    if question == Question.STOPPING:
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=timezone.now())
    batch.parts.filter(number__lte=parts).update(message="Because.", **STANDS[question])
    batch.parts.filter(number=parts + 1).update(status=PartStatus.DONE, answered=10)
    settling.settle(batch)
    batch.refresh_from_db()
    return batch


def sent(batch: Batch, status: AttemptStatus) -> None:
    """Put on record that every part was sent, and how that ended."""
    for part in batch.parts.all():
        receipt = "" if status == AttemptStatus.UNSURE else f"request {part.number}"
        attempt_on_record(part, payload_size=900, request_id=receipt, status=status)


# -- which question -----------------------------------------------------------------------------


@pytest.mark.parametrize("question", Question)
def test_the_question_about_a_part_follows_from_how_it_stands(
    team: Team, question: Question
) -> None:
    batch = asked(team, question)
    part, done = batch.parts.get(number=1), batch.parts.get(number=4)
    assert (questions.question_about(part), questions.question_about(done)) == (question, None)
    found = {other: questions.about(batch.parts.all(), other).count() for other in Question}
    assert found == dict.fromkeys(Question, 0) | {question: 3}


def test_an_unsure_part_of_an_older_version_may_have_been_sent(team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    batch.parts.filter(number=1).update(question="")
    assert questions.question_about(batch.parts.get(number=1)) == Question.UNCLEAR
    assert questions.about(batch.parts.all(), Question.UNCLEAR).count() == 3


def test_a_part_whose_polls_fail_now_and_then_is_no_question(team: Team) -> None:
    batch = asked(team, Question.TROUBLE)
    batch.parts.filter(number=1).update(failures_in_a_row=MOST_FAILURES - 1)
    assert questions.question_about(batch.parts.get(number=1)) is None
    assert questions.about(batch.parts.all(), Question.TROUBLE).count() == 2


# -- one decision for all -----------------------------------------------------------------------


@pytest.mark.parametrize(("question", "choice"), [one for one in EVERY_CHOICE if one != ASK_NOW])
def test_one_decision_moves_all_parts_with_the_question_and_no_other(
    team: Team, ana: User, woken: list[Batch], question: Question, choice: Choice
) -> None:
    batch, other = asked(team, question), asked(team, question)
    for each in (batch, other):
        sent(each, AttemptStatus.QUARANTINED)
    decided = questions.decide(batch.parts.all(), question, choice, by=ana)
    assert decided == Decided(parts=3, rows=30)
    became = {
        Choice.SEND_AGAIN: PartStatus.READY,
        Choice.ASK_AGAIN: PartStatus.QUEUED,
        Choice.TRY_AGAIN: PartStatus.QUEUED,
        Choice.LEAVE_OUT: PartStatus.DONE,
    }[choice]
    assert statuses(batch) == [became] * 3 + [PartStatus.DONE]
    assert statuses(other) == [STANDS[question]["status"]] * 3 + [PartStatus.DONE]
    assert set(batch.parts.values_list("question", flat=True)) == {""}
    event = batch.events.get(text__startswith="Parts 1 to 3")
    assert (event.actor, event.part_number) == (ana, None)
    assert woken == [batch]
    assert questions.decide(batch.parts.all(), question, choice, by=ana) == Decided()


@pytest.mark.parametrize("question", Question)
def test_what_is_no_answer_to_the_question_decides_nothing(
    team: Team, woken: list[Batch], question: Question
) -> None:
    batch = asked(team, question)
    before = statuses(batch)
    for choice in set(Choice) - set(CHOICES[question]):
        assert questions.decide(batch.parts.all(), question, choice, by=None) == Decided()
    for other in set(Question) - {question}:
        for choice in CHOICES[other]:
            assert questions.decide(batch.parts.all(), other, choice, by=None) == Decided()
    assert statuses(batch) == before
    assert not batch.events.filter(text__startswith="Parts").exists()
    assert woken == []


def test_one_decision_for_several_batches_is_in_the_timeline_of_each(team: Team, ana: User) -> None:
    batches = [asked(team, Question.UNCLEAR) for _ in range(3)]
    decided = questions.decide(Part.objects.all(), Question.UNCLEAR, Choice.SEND_AGAIN, by=ana)
    assert decided == Decided(parts=9, rows=90)
    for batch in batches:
        told = batch.events.get(kind=PartStatus.READY)
        assert told.text == "Parts 1 to 3 are sent again. Their 30 rows may be charged twice."
        assert told.actor == ana


def test_a_decision_takes_as_many_queries_for_many_parts_as_for_few(
    team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for parts in (3, 60):
        batch = asked(team, Question.MISMATCH, parts=parts)
        sent(batch, AttemptStatus.QUARANTINED)
        with django_assert_num_queries(14):
            questions.decide(batch.parts.all(), Question.MISMATCH, Choice.ASK_AGAIN, by=None)


@pytest.mark.parametrize(
    ("question", "choice", "text"),
    [
        (Question.UNCLEAR, Choice.SEND_AGAIN, "is sent again. Its rows may be charged twice."),
        (Question.MISMATCH, Choice.SEND_AGAIN, "is sent again. Its rows are charged twice."),
        (Question.RESTORED, Choice.SEND_AGAIN, "is sent. Its rows may be charged twice."),
        (Question.DAMAGED, Choice.TRY_AGAIN, "is tried again."),
        (Question.TROUBLE, Choice.LEAVE_OUT, "was left out."),
    ],
)
def test_the_timeline_says_what_was_decided_of_one_part(
    team: Team, question: Question, choice: Choice, text: str
) -> None:
    batch = asked(team, question)
    second = batch.parts.filter(number=2)
    assert questions.decide(second, question, choice, by=None).parts == 1
    told = batch.events.get(part_number=2)
    assert told.text == f"Part 2 {text}"


# -- what each answer does ----------------------------------------------------------------------


def test_parts_that_are_sent_again_are_sent_at_once(team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    later = timezone.now() + timedelta(hours=1)
    batch.parts.update(resume_at=later, failures_in_a_row=4)
    questions.decide(batch.parts.all(), Question.UNCLEAR, Choice.SEND_AGAIN, by=None)
    assert [part.number for part in due.ready_parts(5)] == [1, 2, 3]
    part = batch.parts.get(number=1)
    assert (part.message, part.failures_in_a_row, part.resume_at) == ("", 0, None)


def test_asking_again_polls_the_latest_request_anew_and_sends_nothing(team: Team) -> None:
    batch = asked(team, Question.MISMATCH)
    sent(batch, AttemptStatus.QUARANTINED)
    part = batch.parts.get(number=1)
    latest = attempt_on_record(
        part,
        payload_size=900,
        request_id="the second",
        status=AttemptStatus.QUARANTINED,
        reply_file="kept",
    )
    batch.parts.update(polls=9, failures_in_a_row=5, failing_since=timezone.now(), odd_seen=3)
    assert decisions.ask_again(part, by=None)
    latest.refresh_from_db()
    assert (latest.status, latest.reply_file) == (AttemptStatus.ACCEPTED, "kept")
    assert part.attempts.get(number=1).status == AttemptStatus.QUARANTINED
    assert (part.polls, part.failures_in_a_row, part.odd_seen) == (0, 0, 0)
    assert part.failing_since is None
    assert part.next_poll_at is not None
    assert timezone.now() < part.next_poll_at < timezone.now() + timedelta(minutes=1)
    assert due.ready_parts(5) == []


def test_a_part_whose_polls_fail_is_polled_at_once_when_somebody_asks(team: Team) -> None:
    batch = asked(team, Question.TROUBLE)
    batch.parts.update(next_poll_at=timezone.now() + timedelta(minutes=1))
    assert due.due_parts(5) == []
    assert decisions.ask_again(batch.parts.get(number=2), by=None) is False  # without a receipt
    sent(batch, AttemptStatus.ACCEPTED)
    assert decisions.ask_again(batch.parts.get(number=2), by=None)
    assert [part.number for part in due.due_parts(5)] == [2]


def test_a_part_without_a_receipt_cannot_be_asked_for(team: Team) -> None:
    batch = asked(team, Question.UNREADABLE)
    sent(batch, AttemptStatus.UNSURE)
    decided = decisions.ask_again(batch.parts.get(number=1), by=None)
    assert not decided
    assert statuses(batch)[0] == PartStatus.UNSURE


@pytest.mark.parametrize(
    ("decide", "question"),
    [
        (decisions.send_again, Question.UNCLEAR),
        (decisions.ask_again, Question.UNREADABLE),
        (decisions.try_again, Question.DAMAGED),
        (decisions.leave_out, Question.UNCLEAR),
    ],
)
def test_the_timeline_says_who_decided_about_one_part(
    team: Team, ana: User, decide: Callable[..., bool], question: Question
) -> None:
    batch = asked(team, question)
    sent(batch, AttemptStatus.ACCEPTED)
    assert decide(batch.parts.get(number=2), by=ana)
    assert batch.events.get(part_number=2).actor == ana


def test_a_decision_about_a_part_that_was_sent_and_is_unsure_again_meanwhile_is_made_anew(
    team: Team,
) -> None:
    batch = asked(team, Question.UNCLEAR)
    as_seen, part = batch.parts.get(number=1), batch.parts.get(number=1)
    assert decisions.send_again(part, by=None)
    assert lifecycle.move_part(part, PartStatus.SENDING)
    assert lifecycle.move_part(part, PartStatus.UNSURE, question=Question.UNCLEAR)
    assert not decisions.send_again(as_seen, by=None)
    assert statuses(batch)[0] == PartStatus.UNSURE
    assert decisions.send_again(part, by=None)


def test_trying_again_asks_for_what_was_sent_and_sends_what_was_not(team: Team) -> None:
    batch = asked(team, Question.DAMAGED)
    first = batch.parts.get(number=1)
    attempt = Attempt(part=first, number=1, items=10, payload_size=900, request_id="known")
    attempt.status = AttemptStatus.ACCEPTED
    attempt.save()
    questions.decide(batch.parts.all(), Question.DAMAGED, Choice.TRY_AGAIN, by=None)
    ready = PartStatus.READY
    assert statuses(batch) == [PartStatus.QUEUED, ready, ready, PartStatus.DONE]


@pytest.mark.parametrize("question", Question)
def test_rows_of_parts_that_are_left_out_say_why_they_have_no_answer(
    team: Team, question: Question
) -> None:
    batch = asked(team, question)
    questions.decide(batch.parts.all(), question, Choice.LEAVE_OUT, by=None)
    part = batch.parts.get(number=1)
    assert (part.missing, part.waiting, part.lease_until) == (10, 0, None)
    assert (part.waiting_became, part.waiting_error) == ("missing", LEFT_OUT[question])
    batch.refresh_from_db()
    assert (batch.missing, batch.answered, batch.has_ended) == (30, 10, True)
    told = batch.events.get(kind=PartStatus.DONE)
    assert told.text == "Parts 1 to 3 were left out. 30 rows have no answer."


# -- a way out of Stop, and of Retry ------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(SENT_PARTS))
def test_a_batch_that_never_stops_by_itself_can_be_told_not_to_wait(
    team: Team, status: PartStatus
) -> None:
    batch = on_record(team, parts=2, status=BatchStatus.RUNNING)
    batch.parts.update(status=status)
    sent(batch, AttemptStatus.ACCEPTED)
    assert not decisions.leave_out(batch.parts.get(number=1), by=None)
    assert decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPING
    questions.decide(batch.parts.all(), Question.STOPPING, Choice.LEAVE_OUT, by=None)
    batch.refresh_from_db()
    assert batch.has_ended
    assert deleting.delete(batch, by=None)


def test_answers_that_were_given_up_are_asked_for_first_by_a_retry(team: Team) -> None:
    batch = asked(team, Question.TROUBLE)
    sent(batch, AttemptStatus.ACCEPTED)
    questions.decide(batch.parts.all(), Question.TROUBLE, Choice.LEAVE_OUT, by=None)
    batch.refresh_from_db()
    assert batch.rows_in_doubt == 0
    assert set(Attempt.objects.values_list("status", flat=True)) == {AttemptStatus.ACCEPTED}


@pytest.mark.parametrize(
    ("ended", "doubt"),
    [
        (AttemptStatus.UNSURE, 30),
        (AttemptStatus.QUARANTINED, 30),
        (AttemptStatus.LOST, 30),
        (AttemptStatus.ACCEPTED, 0),
        (AttemptStatus.ANSWERED, 0),
        (AttemptStatus.REFUSED, 0),
        (AttemptStatus.NOT_SENT, 0),
        (AttemptStatus.BUSY, 0),
    ],
)
def test_a_retry_says_how_many_rows_may_be_charged_twice(
    team: Team, ended: AttemptStatus, doubt: int
) -> None:
    batch = asked(team, Question.UNCLEAR)
    sent(batch, ended)
    questions.decide(batch.parts.all(), Question.UNCLEAR, Choice.LEAVE_OUT, by=None)
    batch.refresh_from_db()
    assert batch.rows_in_doubt == doubt
    assert decisions.retry(batch, by=None)
    twice = f" Up to {doubt} of these rows may be charged twice." if doubt else ""
    looks = "batchui looks for the answers to 30 rows first, free of charge."
    does = looks if ended == AttemptStatus.ACCEPTED else "30 rows are sent again."
    assert batch.events.get(kind="retry").text == f"Retry: {does}{twice}"


@pytest.mark.parametrize(
    ("status", "counts", "does"),
    [
        (AttemptStatus.BUSY, {"unsent": 10}, "40 rows are sent."),
        (
            AttemptStatus.BUSY,
            {"unsent": 9, "failed": 1},
            "36 rows are sent. 4 rows are sent again.",
        ),
        (AttemptStatus.ANSWERED, {"empty": 1, "invalid": 9}, "4 rows are sent again."),
    ],
)
def test_a_retry_tells_rows_that_were_never_sent_from_those_that_were(
    team: Team, status: AttemptStatus, counts: dict[str, int], does: str
) -> None:
    batch = asked(team, Question.UNCLEAR)
    sent(batch, status)
    batch.parts.update(status=PartStatus.DONE, **counts)
    retried = rows_of_retry(batch)
    assert (str(retried), retried.looked_for) == (does, 0)


def test_a_retry_counts_the_part_that_was_charged_without_an_answer_and_no_other(
    team: Team,
) -> None:
    batch = asked(team, Question.UNCLEAR)
    sent(batch, AttemptStatus.ANSWERED)
    Attempt.objects.filter(part__number=2).update(status=AttemptStatus.UNSURE)
    questions.decide(batch.parts.all(), Question.UNCLEAR, Choice.LEAVE_OUT, by=None)
    assert batch.rows_in_doubt == 10


def test_rows_whose_answers_a_retry_asks_for_first_are_not_in_doubt(team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    sent(batch, AttemptStatus.UNSURE)
    second = batch.parts.get(number=2)
    attempt_on_record(second, payload_size=900, request_id="known", status=AttemptStatus.ACCEPTED)
    questions.decide(batch.parts.all(), Question.UNCLEAR, Choice.LEAVE_OUT, by=None)
    assert batch.rows_in_doubt == 20
    assert rows_of_retry(batch) == Retried(looked_for=10, sent=0, sent_again=20)


@pytest.mark.parametrize("sentence", LEFT_OUT_SENTENCES)
def test_the_sentence_of_a_row_names_no_price_as_the_sandbox_has_none(sentence: str) -> None:
    assert "charged" not in sentence
