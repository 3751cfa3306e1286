"""Requests that Cloudflare refuses for what they say: only the rows that it refuses fail."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, results, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import RefusedForGood
from batchui.batches.refusals import NOT_ALONE
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import TAKEN, AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    counted,
    in_files,
    on_record,
    posts,
    rows,
    send_all,
    work,
)
from tests.batches.refusing import failed_rows, refusing, row, sizes

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("code", [3003, 3039, 5004, 5005, 5006, 5019, 5025, 5999, 8007])
def test_the_row_that_is_refused_fails_alone_whatever_the_code(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script(*refusing(row(4), code=code, status=400, message="It is odd"))
    batch = work(start(rows(4)))
    assert batch.status == BatchStatus.PROBLEMS
    assert counted(batch) == in_files(batch) == {"answered": 3, "failed": 1}
    assert failed_rows(batch) == [4]
    (bad,) = pages.page(batch, parse("attention"), offset=0, limit=5)
    assert "It is odd" in (bad.error or "")


def test_a_row_is_found_with_few_requests_and_each_other_row_is_accepted_once(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(15)))
    batch = work(start(rows(20)))
    assert failed_rows(batch) == [15]
    assert sizes(sandbox) == [20, 10, 5, 3, 1, 6]
    accepted = [call.items for call in sandbox.calls("submit") if call.status == 200]
    assert sum(size or 0 for size in accepted) == 19
    numbers = batch.parts.get().attempts.values_list("number", flat=True)
    assert sorted(numbers) == list(range(1, 7))


def test_the_timeline_says_why_a_part_is_sent_in_halves_and_which_row_it_was(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(2), message="It is odd"))
    batch = work(start(rows(8)))
    told = list(batch.events.filter(part_number=1).order_by("id").values_list("text", flat=True))
    reason = (
        "Cloudflare refused this request. Cloudflare says: “It is odd”. Waiting does not help. "
        "Change the question, the options or the model, then send the rows again."
    )
    assert sizes(sandbox) == [8, 4, 2, 1, 1, 6]
    assert told == [
        "Part 1 was refused. It is sent in halves, to find the rows that Cloudflare refuses. The "
        f"reason: {reason}",
        "Row 2 was refused alone: Cloudflare refused this request. Cloudflare says: “It is odd”. "
        "Waiting does not help. Change the text of this row, or what is asked.",
        "Part 1 was accepted (row 9).",
        "Part 1 came back: 1 of 8 rows answered.",
        "Part 1 was accepted (rows 3 to 8).",
        "Part 1 came back: 7 of 8 rows answered.",
    ]


def test_rows_that_are_not_neighbours_are_named_with_their_number(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [1, 3, 4]})
    batch = work(start(rows(6)))
    decisions.retry(batch, by=None)
    work(batch)
    told = batch.events.filter(text__startswith="Part 1 was accepted").order_by("-id")
    assert told[0].text == "Part 1 was accepted (3 of rows 3 to 6)."


def test_while_the_rows_are_looked_for_the_part_says_why(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(4), message="It is odd"))
    batch = start(rows(4))
    Part.objects.update(failures_in_a_row=5)
    send_all()
    part = batch.parts.get()
    assert (part.status, part.resume_at) == (PartStatus.READY, None)
    assert part.failures_in_a_row == 0  # Cloudflare has answered
    assert "It is odd" in part.message
    attempt = part.attempts.get()
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, 5006)
    assert attempt.message == part.message


def test_a_row_that_fails_alone_ends_the_failures_before_it(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(2)))
    batch = start(rows(2))
    send_all()
    Part.objects.update(failures_in_a_row=5)
    send_all()
    part = batch.parts.get()
    assert (part.status, part.failed, part.failures_in_a_row) == (PartStatus.READY, 1, 0)


def test_several_bad_rows_are_all_found(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script(*refusing(row(2), row(3), row(4), row(13), row(21)))
    batch = work(start(rows(20)), rounds=60)
    assert failed_rows(batch) == [2, 3, 4, 13, 21]
    assert batch.answered == 15


def test_a_part_of_a_large_file_keeps_its_rows_apart(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script(*refusing(row(31), row(61)))
    batch = work(batch, rounds=60)
    assert failed_rows(batch) == [31, 61]
    assert counted(batch) == in_files(batch) == {"answered": 58, "failed": 2}


# -- a reason that concerns every row -----------------------------------------------------------


def test_three_rows_that_are_refused_in_the_same_words_speak_for_all(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing("text", message="The option is unknown."))
    batch = work(start(rows(20)))
    assert batch.status == BatchStatus.FAILED
    assert counted(batch) == in_files(batch) == {"failed": 20}
    assert sizes(sandbox) == [20, 10, 5, 3, 2, 1, 1, 1]
    told = batch.events.filter(part_number=1).order_by("-id")[0].text
    assert told.startswith(
        "Part 1: 3 rows were refused in the same words, each sent alone, and none was accepted. "
        "The others fail without being sent alone: Cloudflare refused this request."
    )
    said = "Cloudflare refused this request. Cloudflare says: “The option is unknown”"
    errors = [found.error or "" for found in results.results(batch)]
    assert all(error.startswith(said) for error in errors)
    alone = {at for at, error in enumerate(errors) if not error.endswith(f" {NOT_ALONE}")}
    tried = batch.parts.get().attempts.filter(items=1).values_list("positions", flat=True)
    assert alone == {position for (position,) in tried}
    assert NOT_ALONE not in batch.parts.get().message


def test_three_bad_rows_do_not_speak_for_a_part_of_which_others_were_accepted(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(*map(row, range(16, 21))))
    batch = work(start(rows(20)), rounds=60)
    assert failed_rows(batch) == [16, 17, 18, 19, 20]


def test_a_part_of_three_rows_that_are_all_refused_says_so_of_each(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing("text"))
    batch = work(start(rows(3)))
    assert counted(batch) == in_files(batch) == {"failed": 3}
    told = batch.events.filter(text__contains="was refused alone").order_by("id")
    assert [event.text[:6] for event in told] == ["Row 2 ", "Row 4 ", "Row 3 "]


def test_rows_that_are_refused_in_other_words_do_not_speak_for_all(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        *refusing(row(2), message="One."),
        *refusing(row(21), message="Two."),
        *refusing(row(11), row(12), message="Three."),
    )
    batch = work(start(rows(20)), rounds=60)
    assert failed_rows(batch) == [2, 11, 12, 21]


def test_after_a_retry_it_is_found_out_anew(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script(*refusing("text"))
    batch = work(start(rows(20)))
    assert batch.failed == 20
    sandbox.script(*refusing(row(6)))
    before = posts(sandbox)
    assert decisions.retry(batch, by=None)
    batch = work(batch)
    assert failed_rows(batch) == [6]
    assert sizes(sandbox)[before] == 20  # all of them, as if nothing had been refused


def parts_refused(team: Team, *, before: int, words: str, became: str = "failed") -> Part:
    """The last part of a batch, being sent; so many before it failed as a whole, in these words."""
    batch = on_record(team, parts=before + 1)
    batch.parts.filter(number__lte=before).update(
        status=PartStatus.DONE,
        waiting_became=became,
        waiting_error=f"{words} {NOT_ALONE}",
        **{became: 10},
    )
    part = batch.parts.get(number=before + 1)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.SENDING)
    part.refresh_from_db()
    return part


@pytest.mark.parametrize(
    ("before", "words", "fails"),
    [(2, "No.", False), (3, "No.", True), (4, "No.", True), (3, "Something else.", False)],
)
def test_three_parts_that_are_refused_in_the_same_words_speak_for_the_batch(
    team: Team, before: int, words: str, fails: bool
) -> None:
    part = parts_refused(team, before=before, words=words)
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", 5006))
    assert part.status == (PartStatus.DONE if fails else PartStatus.READY)
    assert part.failed == (10 if fails else 0)
    assert part.waiting_error == (f"No. {NOT_ALONE}" if fails else "")


@pytest.mark.parametrize("status", AttemptStatus)
@pytest.mark.parametrize("code", [5006, 3030])
def test_parts_do_not_speak_for_a_batch_of_which_something_was_accepted(
    team: Team, status: AttemptStatus, code: int
) -> None:
    part = parts_refused(team, before=3, words="No.")
    attempt_on_record(part.batch.parts.get(number=1), status=status)
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", code))
    through = TAKEN if code == 5006 else TAKEN - {AttemptStatus.ACCEPTED}
    assert part.status == (PartStatus.READY if status in through else PartStatus.DONE)


def test_parts_that_did_not_fail_speak_for_none(team: Team) -> None:
    part = parts_refused(team, before=3, words="No.", became="missing")
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", 5006))
    assert part.status == PartStatus.READY


@pytest.mark.parametrize(("rows_in_it", "fails"), [(1, True), (2, False)])
def test_only_rows_that_were_sent_alone_speak_for_their_part(
    team: Team, rows_in_it: int, fails: bool
) -> None:
    part = parts_refused(team, before=0, words="")
    for _ in range(2):
        attempt_on_record(part, items=1, status=AttemptStatus.REFUSED, code=5006, message="No.")
    sending.apply_outcome(
        part, attempt_on_record(part, items=rows_in_it), RefusedForGood("No.", 5006)
    )
    assert part.status == (PartStatus.DONE if fails else PartStatus.READY)


def test_parts_of_another_batch_speak_for_none(team: Team) -> None:
    parts_refused(team, before=3, words="No.")
    part = parts_refused(team, before=2, words="No.")
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", 5006))
    assert part.status == PartStatus.READY


def test_what_was_accepted_of_another_batch_speaks_against_none(team: Team) -> None:
    attempt_on_record(parts_refused(team, before=0, words=""), status=AttemptStatus.ANSWERED)
    part = parts_refused(team, before=3, words="No.")
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", 5006))
    assert part.status == PartStatus.DONE


def test_what_was_refused_is_sent_in_halves_at_once_also_after_the_clock_went_back(
    team: Team,
) -> None:
    part = parts_refused(team, before=0, words="")
    Part.objects.update(resume_at=timezone.now() + timedelta(hours=1))
    sending.apply_outcome(part, attempt_on_record(part), RefusedForGood("No.", 5006))
    assert [ready.pk for ready in due.ready_parts(5)] == [part.pk]


@pytest.mark.parametrize(("earlier", "fails"), [(98, False), (99, True), (100, True)])
def test_no_more_rows_are_looked_for_after_a_hundred_refusals(
    team: Team, earlier: int, fails: bool
) -> None:
    part = parts_refused(team, before=0, words="")
    Attempt.objects.bulk_create(
        Attempt(
            part=part,
            number=number,
            items=2,
            payload_size=1,
            status=AttemptStatus.REFUSED,
            message=f"{number}",
        )
        for number in range(1, earlier + 1)
    )
    attempt = attempt_on_record(part)
    sending.apply_outcome(part, attempt, RefusedForGood("No.", 5006))
    assert part.status == (PartStatus.DONE if fails else PartStatus.READY)
    attempt.refresh_from_db()
    assert (attempt.status, attempt.message) == (AttemptStatus.REFUSED, "No.")
    if fails:
        told = part.batch.events.get(part_number=1).text
        assert told == (
            "Part 1: its rows were refused 100 times. Those that still wait fail, too: No."
        )
