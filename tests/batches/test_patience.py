"""How often a reply is looked at again before it counts, and after how long a person is asked."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import clock, decisions, due, lifecycle, patience, pauses, polling
from batchui.batches.models import MOST_FAILURES, Attempt, Batch, Part
from batchui.batches.outcomes import (
    CutOff,
    Doubtful,
    GoneNow,
    Incomplete,
    Later,
    PollOutcome,
    Quarantined,
    RefusedForGood,
    StillUnderWay,
    TooLong,
    Unusable,
)
from batchui.batches.states import AttemptStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Team
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SAID = "It was said."


@pytest.fixture
def part(team: Team) -> Part:
    """Accepted: ten rows."""
    part = on_record(team).parts.get()
    attempt = attempt_on_record(part)
    lifecycle.store_receipt(attempt, "known")
    Part.objects.update(status=PartStatus.QUEUED)
    return fresh()


def fresh() -> Part:
    return Part.objects.select_related("batch__connection").get()


def poll(outcome: PollOutcome) -> Part:
    """The part after a worker has claimed it and a poll came to this."""
    part = fresh()
    assert lifecycle.claim_part(part, PART_LEASE)
    polling.apply_outcome(part, part.attempts.get(), outcome)
    found = fresh()
    assert found.lease_until is None
    assert (found.status, found.message) == (part.status, part.message)
    return found


def wait(part: Part) -> timedelta:
    assert part.next_poll_at is not None
    assert part.last_polled_at is not None
    return part.next_poll_at - part.last_polled_at


# -- odd replies ----------------------------------------------------------------------------------

LOOKS: dict[str, tuple[Doubtful, int, float, float, PartStatus, str]] = {
    # An outcome; after how many polls over how many minutes it is believed; minutes between them.
    "gone": (GoneNow(SAID), 3, 2, 1, PartStatus.DONE, ""),
    "refused": (RefusedForGood(SAID, 5006), 3, 2, 1, PartStatus.DONE, ""),
    "mismatch": (Quarantined(SAID, "raw"), 3, 2, 1, PartStatus.UNSURE, Question.MISMATCH),
    "oversized": (TooLong(SAID, "raw"), 2, 2, 2, PartStatus.UNSURE, Question.UNREADABLE),
    "damaged": (Unusable(SAID, "raw"), 3, 2, 1, PartStatus.UNSURE, Question.DAMAGED),
    "cut off": (CutOff(SAID), 5, 2 / 3, 1 / 6, PartStatus.UNSURE, Question.UNREADABLE),
}
EACH = pytest.mark.parametrize(
    ("outcome", "polls", "minutes", "pause", "status", "question"), LOOKS.values(), ids=LOOKS
)


def test_every_kind_is_tested_here() -> None:
    assert {*LOOKS, "incomplete"} == set(patience.ODD)
    assert {name: looks[0].kind for name, looks in LOOKS.items()} == {name: name for name in LOOKS}


@EACH
def test_an_odd_reply_is_believed_after_so_many_polls_over_so_many_minutes(
    part: Part,
    outcome: Doubtful,
    polls: int,
    minutes: float,
    pause: float,
    status: PartStatus,
    question: str,
) -> None:
    for seen, ago, believed in (
        (polls - 1, minutes + 60, False),
        (polls, minutes - 0.1, False),
        (polls, minutes + 0.01, True),
    ):
        first = timezone.now() - ago * MINUTE
        Part.objects.update(odd_kind=outcome.kind, odd_seen=seen - 1, odd_at=first)
        left = poll(outcome)
        if not believed:
            assert (left.status, left.odd_seen, left.odd_at) == (PartStatus.QUEUED, seen, first)
            assert left.message == f"{SAID} batchui asks again."
            assert left.attempts.get().status == AttemptStatus.ACCEPTED
            assert left.attempts.get().reply_file == ""
    assert (left.status, left.question) == (status, question)
    if status == PartStatus.UNSURE:
        assert left.message == SAID
        assert left.attempts.get().reply_file == getattr(outcome, "reply_file", "")


@EACH
def test_an_odd_reply_is_looked_at_again_until_it_is_believed(
    part: Part,
    outcome: Doubtful,
    polls: int,
    minutes: float,
    pause: float,
    status: PartStatus,
    question: str,
) -> None:
    for seen in range(1, polls):
        part = poll(outcome)
        assert (part.status, part.odd_kind, part.odd_seen) == ("queued", outcome.kind, seen)
        assert part.odd_at is not None
        assert part.failures_in_a_row == seen
        assert wait(part) == pause * MINUTE
        Part.objects.update(odd_at=part.odd_at - pause * MINUTE)  # and so much later
    assert poll(outcome).status == status
    told = list(part.batch.events.filter(kind="failure").values_list("text", flat=True))
    assert told == [f"Part 1: {SAID} batchui asks again."]


@pytest.mark.parametrize(
    ("seen", "ago", "enough"), [(1, 1.01, True), (1, 0.9, False), (0, 60, False)]
)
def test_an_incomplete_reply_is_believed_at_the_second_look_after_a_minute(
    part: Part, seen: int, ago: float, enough: bool
) -> None:
    part.odd_kind, part.odd_seen = "incomplete", seen
    part.odd_at = timezone.now() - ago * MINUTE
    assert patience.is_enough(part, "incomplete") is enough


def test_an_incomplete_reply_is_looked_at_again_in_a_minute(part: Part) -> None:
    part = poll(Incomplete({}, 3))
    assert wait(part) == MINUTE
    assert part.message == ("Cloudflare's reply has no answer for 3 rows yet. batchui asks again.")
    assert (part.odd_kind, part.odd_seen) == ("incomplete", 1)


def test_two_kinds_of_odd_replies_are_counted_apart(part: Part) -> None:
    Part.objects.update(odd_kind="gone", odd_seen=8, odd_at=timezone.now() - HOUR)
    part = poll(RefusedForGood(SAID, 5006))
    assert (part.status, part.odd_kind, part.odd_seen) == (PartStatus.QUEUED, "refused", 1)
    assert part.odd_at is not None
    assert part.odd_at > timezone.now() - MINUTE


def test_a_failure_between_two_odd_replies_takes_nothing_from_their_count(part: Part) -> None:
    Part.objects.update(odd_kind="gone", odd_seen=2, odd_at=timezone.now() - HOUR)
    assert poll(Later("No network.", None)).status == PartStatus.QUEUED
    assert poll(GoneNow(SAID)).status == PartStatus.DONE


@pytest.mark.parametrize("code", [None, 3030])
def test_a_request_that_failed_as_a_whole_is_believed_at_once(part: Part, code: int | None) -> None:
    assert poll(RefusedForGood(SAID, code)).status != PartStatus.QUEUED
    assert Attempt.objects.get().status == AttemptStatus.REFUSED


# -- hours of failures ----------------------------------------------------------------------------

FAILURES: dict[str, Callable[[], PollOutcome]] = {
    "a reply that cannot be read": lambda: Later(SAID, None),
    "an odd reply": lambda: GoneNow(SAID),
    "another odd reply": lambda: Quarantined(SAID, ""),
    "an incomplete reply": lambda: Incomplete({}, 3),
}


def failing(hours: float, failures: int = 20, **more: object) -> None:
    since = timezone.now() - hours * HOUR
    Part.objects.update(failing_since=since, failures_in_a_row=failures, **more)


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_after_six_hours_without_a_usable_reply_a_person_is_asked(
    part: Part, failure: Callable[[], PollOutcome]
) -> None:
    failing(5.99)
    assert poll(failure()).status == PartStatus.QUEUED
    failing(6.01)
    asked = poll(failure())
    assert (asked.status, asked.question) == (PartStatus.UNSURE, Question.UNREADABLE)
    assert asked.attempts.get().status == AttemptStatus.ACCEPTED
    told = asked.batch.events.filter(kind=PartStatus.UNSURE).get().text
    assert told == f"Part 1: No answer could be read for hours. {asked.message}"


@pytest.mark.parametrize("outcome", [Later(SAID, None), GoneNow(SAID)])
def test_a_person_who_is_asked_is_not_told_that_batchui_asks_again(
    part: Part, outcome: PollOutcome
) -> None:
    failing(5)
    assert poll(outcome).message == f"{SAID} batchui asks again."
    failing(6.01)
    asked = poll(outcome)
    assert (asked.question, asked.message) == (Question.UNREADABLE, SAID)
    told = asked.batch.events.get(kind=PartStatus.UNSURE).text
    assert told == f"Part 1: No answer could be read for hours. {SAID}"


def test_where_nobody_answers_a_person_is_asked_after_a_day(part: Part) -> None:
    failing(23.99)
    assert poll(Later(SAID, None, patient=True)).status == PartStatus.QUEUED
    failing(24.01)
    assert poll(Later(SAID, None, patient=True)).question == Question.UNREADABLE


def test_nobody_is_asked_before_ten_polls_have_failed(part: Part) -> None:
    """A computer that slept for a night did not poll."""
    failing(100, failures=8)
    assert poll(Later(SAID, None)).failures_in_a_row == 9
    assert poll(Later(SAID, None)).status == PartStatus.UNSURE


def test_replies_that_are_odd_in_turns_are_not_polled_for_ever(part: Part) -> None:
    for _ in range(6):
        poll(GoneNow(SAID))
        assert poll(RefusedForGood(SAID, 5006)).status == PartStatus.QUEUED
    first = fresh().failing_since
    assert first is not None
    Part.objects.update(failing_since=first - 7 * HOUR)
    assert poll(GoneNow(SAID)).question == Question.UNREADABLE


def test_failures_count_from_the_first_one(part: Part) -> None:
    before = timezone.now()
    first = poll(Later(SAID, None)).failing_since
    assert first is not None
    assert before <= first <= timezone.now()
    assert poll(GoneNow(SAID)).failing_since == first
    assert poll(Later(SAID, None)).failing_since == first
    assert poll(StillUnderWay("queued")).failing_since is None


def test_a_person_who_lets_it_go_on_is_asked_again_after_as_many_hours(part: Part) -> None:
    failing(6.01)
    assert poll(Later(SAID, None)).status == PartStatus.UNSURE
    assert decisions.ask_again(fresh(), by=None)
    part = fresh()
    assert (part.status, part.failing_since, part.failures_in_a_row) == ("queued", None, 0)
    assert poll(Later(SAID, None)).status == PartStatus.QUEUED


def test_a_clock_that_was_set_back_delays_nothing(part: Part) -> None:
    far = timezone.now() + 400 * DAY
    Part.objects.update(
        failing_since=far, failures_in_a_row=20, odd_kind="gone", odd_seen=2, odd_at=far
    )
    part = poll(GoneNow(SAID))
    now = timezone.now()
    for time in (part.failing_since, part.odd_at):
        assert time is not None
        assert now - MINUTE < time <= now


def test_a_part_in_trouble_is_known_by_its_failures(part: Part) -> None:
    for number in range(1, MOST_FAILURES + 1):
        assert poll(Later(SAID, None)).is_in_trouble is (number == MOST_FAILURES)


# -- queued for days ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_request_that_is_under_way_for_three_days_is_in_trouble(part: Part, status: str) -> None:
    Attempt.objects.update(accepted_at=timezone.now() - 2.99 * DAY)
    assert poll(StillUnderWay(status)).failures_in_a_row == 0
    Attempt.objects.update(accepted_at=timezone.now() - 3.01 * DAY)
    part = poll(StillUnderWay(status))
    assert (part.status, part.failures_in_a_row) == (status if status == "running" else "queued", 1)
    assert part.message == (
        f"Cloudflare has had these rows for 3 days, and they are still {status}. It usually needs "
        "minutes. batchui asks again."
    )
    assert 7.5 <= wait(part).total_seconds() <= 12.5
    failing(6.01)
    assert poll(StillUnderWay(status)).question == Question.UNREADABLE


# -- waits ----------------------------------------------------------------------------------------


def test_a_poll_waits_an_hour_at_most_so_that_its_time_is_not_taken_for_one_of_another_clock(
    part: Part,
) -> None:
    for asked, least, most in ((3_599, 3_599, 3_600), (86_400, 3_600, 3_601)):
        assert least <= pauses.after_failure(0, asked).total_seconds() < most
    poll(Later("Slow down.", 86_400, patient=True))
    assert due.due_parts(10) == []
    assert max(looks.pause for looks in patience.ODD.values()) < clock.LONGEST_PAUSE
    assert pauses.LONGEST_ASKED_SECONDS * timedelta(seconds=1) < clock.LONGEST_PAUSE


# -- workers --------------------------------------------------------------------------------------


def test_a_worker_that_was_overtaken_changes_nothing_when_it_gives_up(part: Part) -> None:
    failing(7)
    slow = fresh()
    assert lifecycle.claim_part(slow, timedelta())
    assert lifecycle.claim_part(fresh(), PART_LEASE)  # another one
    attempt = slow.attempts.get()
    for outcome in (Later(SAID, None, reply_file="slow"), GoneNow(SAID), Incomplete({}, 3)):
        polling.apply_outcome(slow, attempt, outcome)
    found = fresh()
    assert (found.status, found.question, found.odd_kind) == (PartStatus.QUEUED, "", "")
    assert Attempt.objects.get().reply_file == ""
    assert not Batch.objects.get().events.exists()


def test_the_reply_that_a_person_is_asked_about_is_known_to_its_attempt(part: Part) -> None:
    failing(7)
    poll(Later(SAID, None, reply_file="raw"))
    assert Attempt.objects.get().reply_file == "raw"


def test_answers_that_came_are_kept_when_a_person_is_asked_about_the_others(part: Part) -> None:
    failing(25)
    part = poll(Incomplete({"answered": 7, "answers_file": "kept"}, 3))
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.UNREADABLE)
    assert (part.answered, part.waiting, part.answers_file) == (7, 3, "kept")


def test_a_poll_that_was_cut_off_counts_before_the_next_is_made(part: Part) -> None:
    """Cloudflare is not called, because the reply may be what ends the worker."""
    for seen in (1, 2, 3, 4):
        Part.objects.update(lease_until=timezone.now() - MINUTE)
        assert polling.poll(fresh()) is False
        part = fresh()
        assert (part.status, part.odd_seen, part.lease_until) == ("queued", seen, None)
        assert part.message == (
            "The worker that asked for the answers stopped half-way: it was ended, or the reply "
            "needs more memory than there is. batchui asks again."
        )
    assert part.odd_at is not None
    Part.objects.update(lease_until=timezone.now() - MINUTE, odd_at=part.odd_at - HOUR)
    assert polling.poll(fresh()) is False
    assert fresh().question == Question.UNREADABLE
