"""What a part is after each outcome of a poll."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import lifecycle, polling
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import GoneNow, Later, RefusedForGood, StillUnderWay
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MakeBatch, attempt_on_record, on_record, rows, send_all

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


@pytest.fixture
def part(team: Team) -> Part:
    """Accepted: ten rows."""
    part = on_record(team).parts.get()
    attempt = attempt_on_record(part)
    lifecycle.store_receipt(attempt, "known")
    Part.objects.update(status=PartStatus.QUEUED)
    part.refresh_from_db()
    return part


def wait(part: Part) -> float:
    """Seconds from this poll to the next."""
    assert part.next_poll_at is not None
    assert part.last_polled_at is not None
    return (part.next_poll_at - part.last_polled_at).total_seconds()


def poll(part: Part, outcome: StillUnderWay | Later | GoneNow | RefusedForGood) -> None:
    """Apply an outcome to the part, as the worker that has claimed it does."""
    assert lifecycle.claim_part(part, PART_LEASE)
    polling.apply_outcome(part, part.attempts.get(), outcome)
    assert Part.objects.get().lease_until is None


# -- still under way ----------------------------------------------------------------------------


def test_running_is_running_however_often_it_is_heard(part: Part) -> None:
    for polls in (1, 2, 3):
        poll(part, StillUnderWay("running"))
        assert (part.status, part.polls) == (PartStatus.RUNNING, polls)


@pytest.mark.parametrize(
    "outcome",
    [
        StillUnderWay("queued"),
        Later("No network.", None),
        GoneNow("Not found."),
        RefusedForGood("No such model.", 5007),
        RefusedForGood("The batch failed.", None),
    ],
)
def test_whatever_a_poll_brought_it_is_noted_when(
    part: Part, outcome: StillUnderWay | Later | GoneNow | RefusedForGood
) -> None:
    before = timezone.now()
    poll(part, outcome)
    part.refresh_from_db()
    assert part.last_polled_at is not None
    assert part.last_polled_at >= before
    assert Batch.objects.get().last_polled_at == part.last_polled_at


def test_queued_is_not_running(part: Part) -> None:
    poll(part, StillUnderWay("queued"))
    assert part.status == PartStatus.QUEUED


@pytest.mark.parametrize(
    ("kind", "parts", "expected"),
    [
        (Connection.Kind.REST, 9, [3, 4.5, 6.75, 10.125]),
        (Connection.Kind.SANDBOX, 9, [0.9, 1.35, 2.025, 3.0375]),  # whoever tries it watches it
        (Connection.Kind.REST, 8, [0.75, 1.125, 1.6875, 2.53125]),
    ],
)
def test_polls_that_find_it_under_way_come_less_and_less_often(
    part: Part, kind: str, parts: int, expected: list[float]
) -> None:
    Connection.objects.update(kind=kind)
    Batch.objects.update(part_count=parts)
    part = Part.objects.select_related("batch__connection").get()
    waits = []
    for _ in range(4):
        poll(part, StillUnderWay("queued"))
        waits.append(wait(part))
    assert waits == pytest.approx(expected)


def test_a_poll_that_gets_through_ends_what_went_wrong_before(part: Part) -> None:
    for _ in range(2):
        poll(part, Later("No network.", None))
        poll(part, GoneNow("Not found."))
    poll(part, StillUnderWay("running"))
    part.refresh_from_db()
    assert (part.failures_in_a_row, part.failing_since) == (0, None)
    assert (part.odd_kind, part.odd_seen, part.odd_at) == ("", 0, None)
    assert part.message == ""
    assert part.last_polled_at is not None
    assert part.last_polled_at > timezone.now() - SECOND * 10


# -- later --------------------------------------------------------------------------------------


def test_each_failure_to_poll_is_waited_for_longer_and_told_once(part: Part) -> None:
    for number, expected in enumerate((10, 20, 40, 80), 1):
        poll(part, Later("No network.", None))
        part.refresh_from_db()
        assert part.status == PartStatus.QUEUED
        assert part.message == "No network. batchui asks again."
        assert part.failures_in_a_row == number
        assert 0.7 * expected < wait(part) <= 1.25 * expected
    told = part.batch.events.values_list("text", flat=True)
    assert list(told) == ["Part 1: No network. batchui asks again."]


def test_a_new_run_of_failures_is_told_anew(part: Part) -> None:
    for _ in range(2):
        poll(part, Later("No network.", None))
        poll(part, StillUnderWay("queued"))
    assert part.batch.events.filter(text__startswith="Part 1: No network.").count() == 2


@pytest.mark.parametrize("needs_person", [False, True])
def test_the_next_poll_waits_as_long_as_cloudflare_asked(part: Part, needs_person: bool) -> None:
    poll(part, Later("Slow down.", 400, needs_person=needs_person))
    assert 390 < wait(part) <= 400


# -- gone ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "minutes", "believed"),
    [(3, 2.1, True), (3, 1.9, False), (2, 60, False), (4, 2.1, True)],
)
def test_gone_is_believed_after_three_polls_over_two_minutes(
    part: Part, seen: int, minutes: float, believed: bool
) -> None:
    first = timezone.now() - timedelta(minutes=minutes)
    Part.objects.update(odd_kind="gone", odd_seen=seen - 1, odd_at=first)
    part.refresh_from_db()
    before = timezone.now()
    poll(part, GoneNow("Not found."))
    attempt = part.attempts.get()
    assert part.last_polled_at is not None
    assert part.last_polled_at >= before
    if believed:
        assert (part.status, part.missing) == (PartStatus.DONE, 10)
        assert (part.waiting_error, attempt.status) == (polling.GONE, AttemptStatus.LOST)
    else:
        assert (part.status, attempt.status) == (PartStatus.QUEUED, AttemptStatus.ACCEPTED)
        assert (part.odd_seen, part.odd_at) == (seen, first)
        assert part.message == "Not found. batchui asks again."


def test_one_that_seems_gone_is_polled_again_in_a_minute(part: Part) -> None:
    poll(part, GoneNow("Not found."))
    assert part.odd_seen == 1
    assert part.odd_at is not None
    assert part.odd_at > timezone.now() - SECOND * 10
    assert 50 < wait(part) <= 60


# -- refused ------------------------------------------------------------------------------------


def test_what_cloudflare_refused_as_a_whole_fails_every_row(part: Part) -> None:
    poll(part, RefusedForGood("The model cannot do this.", None))
    attempt = part.attempts.get()
    assert (part.status, part.failed) == (PartStatus.DONE, 10)
    assert part.waiting_error == "The model cannot do this."
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, None)
    assert attempt.message == "The model cannot do this."
    assert attempt.finished_at is not None


# -- which receipt ------------------------------------------------------------------------------


def sent(start: MakeBatch) -> Part:
    """Five rows that the sandbox has accepted."""
    batch = start(rows(5))
    send_all()
    return batch.parts.select_related("batch__connection").get()


def test_a_part_is_polled_with_the_receipt_that_came_and_not_with_a_later_try(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = sent(start)
    receipt = part.attempts.get().request_id
    attempt_on_record(part, status=AttemptStatus.UNSURE)
    assert polling.poll(part) is True
    assert [call.request_id for call in sandbox.calls("poll")] == [receipt]
    assert part.status == PartStatus.DONE


@pytest.mark.parametrize("stored_first", ["the later", "the older"])
def test_of_two_receipts_the_later_is_polled(
    sandbox: RunningSandbox, start: MakeBatch, stored_first: str
) -> None:
    part = sent(start)
    first = part.attempts.get()
    receipt = first.request_id
    second = Attempt.objects.get(pk=first.pk)
    second.pk = None
    later, older = (first, second) if stored_first == "the later" else (second, first)
    older.number, older.request_id, later.number = 1, "older", 2
    first.save()
    second.save(force_insert=True)
    assert polling.poll(part) is True
    assert [call.request_id for call in sandbox.calls("poll")] == [receipt]


def test_a_part_whose_receipt_is_not_on_record_asks_a_person(
    sandbox: RunningSandbox, part: Part
) -> None:
    Attempt.objects.update(status=AttemptStatus.UNSURE)
    assert polling.poll(part) is False
    assert part.status == PartStatus.UNSURE
    assert part.message == "It was accepted, but its receipt is missing."
    assert sandbox.calls("poll") == []


def test_a_token_that_cannot_be_read_loses_no_answer(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = sent(start)
    token = Connection.objects.get().token_encrypted
    Connection.objects.update(token_encrypted="not readable")
    assert polling.poll(Part.objects.select_related("batch__connection").get()) is False
    part.refresh_from_db()
    assert part.status == PartStatus.QUEUED
    assert "BATCHUI_ENCRYPTION_KEYS" in part.message
    assert part.failures_in_a_row == 1
    Connection.objects.update(token_encrypted=token)
    assert polling.poll(Part.objects.select_related("batch__connection").get()) is True
    assert Part.objects.get().status == PartStatus.DONE


def test_an_attempt_that_ended_is_not_ended_otherwise(part: Part) -> None:
    poll(part, RefusedForGood("The model cannot do this.", None))
    with pytest.raises(lifecycle.IllegalMoveError):
        lifecycle.close_attempt(Closing(part.attempts.get(), AttemptStatus.ANSWERED))
