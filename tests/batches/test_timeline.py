"""Whatever happens to a part is said in the timeline of its batch, in a sentence that names it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, lifecycle, polling, sending
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import (
    Accepted,
    CertainlyNotSent,
    GoneNow,
    Later,
    OnHold,
    PollOutcome,
    Quarantined,
    RefusedForGood,
    SendOutcome,
    TooLarge,
    Unsure,
)
from batchui.batches.states import AttemptStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Team
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db

SAID = "It was said."


@pytest.fixture
def part(team: Team) -> Part:
    """The second of two parts: rows 11 to 20."""
    return on_record(team, parts=2).parts.get(number=2)


def told(part: Part) -> list[str]:
    """What the timeline says of the part, the oldest first."""
    events = part.batch.events.filter(part_number=2).order_by("id")
    return list(events.values_list("text", flat=True))


def sent(part: Part, outcome: SendOutcome) -> Attempt:
    """The attempt of the part after its POST came to this."""
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE)
    attempt = attempt_on_record(part)
    sending.apply_outcome(part, attempt, outcome)
    attempt.refresh_from_db()
    return attempt


def polled(part: Part, outcome: PollOutcome) -> Attempt:
    """The attempt of the part after a poll came to this."""
    attempt = sent(part, Accepted("known"))
    part.batch.events.all().delete()
    seen_often(part, getattr(outcome, "kind", ""))
    polling.apply_outcome(part, attempt, outcome)
    attempt.refresh_from_db()
    return attempt


def seen_often(part: Part, kind: str) -> None:
    """Let the part have had odd replies of this kind often enough for the next to be believed."""
    part.odd_kind, part.odd_seen, part.odd_at = kind, 5, timezone.now() - timedelta(hours=1)


SENT: list[tuple[SendOutcome, str, AttemptStatus]] = [
    (Accepted("known"), "Part 2 was accepted (rows 11 to 20).", AttemptStatus.ACCEPTED),
    (
        CertainlyNotSent(SAID),
        "Part 2: It was said. batchui tries again by itself.",
        AttemptStatus.NOT_SENT,
    ),
    (
        OnHold(SAID, 3040, None, everywhere=False),
        "Part 2 is on hold: It was said.",
        AttemptStatus.BUSY,
    ),
    (
        OnHold(SAID, 3040, timezone.now(), everywhere=False),
        "Part 2 is on hold: It was said. batchui tries again by itself.",
        AttemptStatus.BUSY,
    ),
    (
        TooLarge(SAID, 3006),
        "Part 2 was too large; it is sent 5 rows at a time.",
        AttemptStatus.REFUSED,
    ),
    (RefusedForGood(SAID, 5007), "Part 2 was refused: It was said.", AttemptStatus.REFUSED),
    (
        RefusedForGood(SAID, 5006),
        "Part 2 was refused. It is sent in halves, to find the rows that Cloudflare refuses. The "
        "reason: It was said.",
        AttemptStatus.REFUSED,
    ),
    (
        Unsure(SAID, 3007),
        "Part 2 may or may not have been sent: It was said.",
        AttemptStatus.UNSURE,
    ),
]
POLLED: list[tuple[PollOutcome, str, AttemptStatus]] = [
    (Later(SAID, None), "Part 2: It was said. batchui asks again.", AttemptStatus.ACCEPTED),
    (Later(SAID, None, needs_person=True), "Part 2: It was said.", AttemptStatus.ACCEPTED),
    (RefusedForGood(SAID, None), "Part 2 failed: It was said.", AttemptStatus.REFUSED),
    (
        RefusedForGood(SAID, 3030),
        "Part 2 was refused. It is sent in halves, to find the rows that Cloudflare refuses. The "
        "reason: It was said.",
        AttemptStatus.REFUSED,
    ),
    (
        Quarantined(SAID, "kept-here"),
        "Part 2: It was said. Nothing of this reply was used.",
        AttemptStatus.QUARANTINED,
    ),
]


@pytest.mark.parametrize(("outcome", "line", "status"), SENT)
def test_what_came_of_a_post_is_said_and_noted_with_the_attempt(
    part: Part, outcome: SendOutcome, line: str, status: AttemptStatus
) -> None:
    attempt = sent(part, outcome)
    assert told(part) == [line]
    assert attempt.status == status
    assert part.question == (Question.UNCLEAR if isinstance(outcome, Unsure) else "")
    if not isinstance(outcome, Accepted):
        assert attempt.message == SAID
        assert attempt.code == getattr(outcome, "code", None)


def test_half_of_two_rows_is_one_row(part: Part) -> None:
    assert lifecycle.move_part(part, PartStatus.SENDING)
    attempt = attempt_on_record(part, items=2)
    sending.apply_outcome(part, attempt, TooLarge(SAID, 3006))
    assert told(part) == ["Part 2 was too large; it is sent 1 row at a time."]


@pytest.mark.parametrize(("outcome", "line", "status"), POLLED)
def test_what_came_of_a_poll_is_said_and_noted_with_the_attempt(
    part: Part, outcome: PollOutcome, line: str, status: AttemptStatus
) -> None:
    attempt = polled(part, outcome)
    assert told(part) == [line]
    later = isinstance(outcome, Later)
    assert part.message == (line.removeprefix("Part 2: ") if later else SAID)
    assert attempt.status == status
    assert attempt.message == ("" if status == AttemptStatus.ACCEPTED else SAID)
    assert attempt.code == getattr(outcome, "code", None)
    assert attempt.reply_file == getattr(outcome, "reply_file", "")


def test_what_cloudflare_no_longer_has_is_said(part: Part) -> None:
    attempt = polled(part, GoneNow(SAID))
    assert told(part) == ["Part 2 has no answers: Cloudflare no longer has this result."]
    assert (attempt.status, attempt.message) == (AttemptStatus.LOST, SAID)


def test_a_receipt_that_is_not_on_record_is_said(part: Part) -> None:
    sent(part, Accepted("known"))
    Attempt.objects.update(status=AttemptStatus.UNSURE)
    polling.poll(part)
    assert told(part)[-1] == "Part 2: It was accepted, but its receipt is missing."


def test_a_part_that_is_sent_again_as_chosen_is_said(part: Part) -> None:
    part.batch.resend_once = True
    part.batch.save()
    sent(part, Unsure(SAID))
    assert told(part)[-1] == "Part 2 is sent again, as chosen at the start."


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (
            AttemptStatus.ACCEPTED,
            "Part 2 was accepted; the worker that sent it had stopped.",
        ),
        (
            AttemptStatus.WRITTEN,
            "Part 2 may or may not have been sent: "
            "The worker that was sending it stopped half-way.",
        ),
    ],
)
def test_a_part_that_is_rescued_is_said(part: Part, status: AttemptStatus, line: str) -> None:
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    attempt_on_record(part, status=status)
    assert sending.rescue(timezone.now() + PART_LEASE) == 1
    assert told(part) == [line]


def test_a_receipt_that_came_late_is_said(part: Part) -> None:
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    attempt = attempt_on_record(part)
    assert sending.rescue(timezone.now() + PART_LEASE) == 1
    sending.apply_outcome(part, attempt, Accepted("late"))
    assert told(part)[-1] == "Part 2: the receipt came late. Nothing is sent twice."


def test_a_receipt_that_came_after_its_part_had_gone_on_stands_there_as_a_failure(
    part: Part,
) -> None:
    attempt = sent(part, Unsure(SAID))
    assert decisions.leave_out(Part.objects.get(pk=part.pk), by=None)
    sending.apply_outcome(part, attempt, Accepted("late"))
    assert part.batch.events.filter(part_number=2).latest("id").kind == "failure"
