"""Answers that are paid for are not given up for one odd poll, and no part is polled for ever.

Each story goes over the wire, to the sandbox.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import clients, decisions, due, fetching, polling, results
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Later, PollOutcome, Quarantined
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.cloudflare.client import RestClient
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    accepted,
    counted,
    in_files,
    let_odd_replies_age,
    polled,
    posts,
    work,
)

pytestmark = pytest.mark.django_db

ALL = list(range(10))


def is_finished_with_one_post(batch: Batch, sandbox: RunningSandbox) -> bool:
    batch.refresh_from_db()
    return (batch.status, batch.answered, posts(sandbox)) == (BatchStatus.FINISHED, 10, 1)


# -- incomplete -----------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [ALL, [3, 7]], ids=["an empty array", "a part of the array"])
def test_rows_without_an_answer_are_looked_for_once_more(
    sandbox: RunningSandbox, start: MakeBatch, absent: list[int]
) -> None:
    sandbox.script({"fault": "missing", "items": absent})
    batch = accepted(start)
    part = polled(batch)
    # Of which some rows are answered cannot be said that it waits for its turn.
    expected = PartStatus.QUEUED if absent == ALL else PartStatus.RUNNING
    assert (part.status, part.missing) == (expected, 0)
    batch.refresh_from_db()
    assert batch.status == expected
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


def test_what_came_of_an_incomplete_reply_is_not_lost_with_the_rest(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "missing", "items": [3, 7]},
        {"fault": "error", "code": 5504, "call": "poll", "nth": 2, "times": 0},
    )
    batch = accepted(start)
    part = polled(batch)
    assert (part.status, part.answered, part.waiting) == (PartStatus.RUNNING, 8, 2)
    assert counted(batch) == in_files(batch) == {"answered": 8}
    part = polled(batch, 3)
    assert part.status == PartStatus.DONE
    assert counted(batch) == in_files(batch) == {"answered": 8, "missing": 2}
    waits = [result.row for result in results.results(batch) if result.status == "missing"]
    assert waits == [5, 9]
    assert part.attempts.get().status == AttemptStatus.LOST


def test_tokens_of_a_reply_that_is_looked_at_twice_are_counted_once(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    whole = work(accepted(start))
    sandbox.script({"fault": "missing", "items": [3]})
    again = work(accepted(start))
    assert whole.prompt_tokens == again.prompt_tokens > 0
    assert whole.completion_tokens == again.completion_tokens > 0


def test_an_empty_array_writes_no_new_answers(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "missing", "items": ALL})
    part = polled(accepted(start))
    assert (part.answers_file, part.answers_version) == ("", 0)


# -- refused at a poll ----------------------------------------------------------------------------

REFUSED = [5004, 5005, 5006, 5007, 3006]


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_at_one_poll_gives_nothing_up(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "poll"})
    batch = accepted(start)
    part = polled(batch)
    assert (part.status, part.attempts.get().status) == ("queued", AttemptStatus.ACCEPTED)
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_at_every_poll_fails_the_rows_with_its_reason(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    message = "The model says no"
    sandbox.script({"fault": "error", "code": code, "message": message, "call": "poll", "times": 0})
    batch = accepted(start)
    part = polled(batch, 3)
    assert (part.status, part.failed) == (PartStatus.DONE, 10)
    assert f"“{message}”" in part.waiting_error
    attempt = part.attempts.get()
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, code)


# -- replies that do not fit ----------------------------------------------------------------------

MISFITS = ["contradiction", "unknown_id", "wrong_reference"]


@pytest.mark.parametrize("fault", MISFITS)
@pytest.mark.parametrize("times", [1, 2])
def test_a_reply_that_does_not_fit_once_or_twice_asks_nobody(
    sandbox: RunningSandbox, start: MakeBatch, fault: str, times: int
) -> None:
    sandbox.script({"fault": fault, "items": [1], "times": times})
    batch = accepted(start)
    assert polled(batch, times).status == PartStatus.QUEUED
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


@pytest.mark.parametrize("fault", MISFITS)
def test_a_person_can_ask_for_a_reply_again_that_did_not_fit(
    sandbox: RunningSandbox, start: MakeBatch, fault: str
) -> None:
    sandbox.script({"fault": fault, "items": [1], "times": 3})
    batch = accepted(start)
    part = polled(batch, 3)
    attempt = part.attempts.get()
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.MISMATCH)
    assert attempt.status == AttemptStatus.QUARANTINED
    kept = attempt.reply_file
    assert b"".join(read_compressed(kept)).startswith(b'{"result"')
    assert decisions.ask_again(part, by=None)
    attempt.refresh_from_db()
    assert (attempt.status, attempt.message) == (AttemptStatus.ACCEPTED, "")
    assert (attempt.finished_at, attempt.reply_file) == (None, kept)
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


def test_of_a_part_that_was_left_out_at_the_same_moment_nothing_is_asked_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "contradiction", "times": 3})
    part = polled(accepted(start), 3)
    assert decisions.leave_out(Part.objects.get(), by=None)
    assert not decisions.ask_again(part, by=None)
    assert part.attempts.get().status == AttemptStatus.QUARANTINED


# -- replies that cannot be read ------------------------------------------------------------------

GARBAGE = "<html>This is not what was asked for</html>"
UNREADABLE: list[dict[str, Any]] = [
    {"fault": "garbage", "body": GARBAGE},
    {"fault": "other_status", "status": 500, "body": GARBAGE},
    {"fault": "truncated"},
    {"fault": "error", "code": 5001, "message": "Who are you"},
]


def hours_pass(hours: float) -> None:
    """Let the failures have begun earlier, and have been many."""
    since = timezone.now() - timedelta(hours=hours)
    Part.objects.update(failing_since=since, failures_in_a_row=20)


@pytest.mark.parametrize("fault", UNREADABLE, ids=lambda fault: str(fault["fault"]))
def test_a_part_whose_polls_fail_for_hours_asks_a_person_and_keeps_the_last_reply(
    sandbox: RunningSandbox, start: MakeBatch, fault: dict[str, Any]
) -> None:
    sandbox.script(fault | {"call": "poll", "times": 0})
    batch = accepted(start)
    part = polled(batch, 2)
    assert part.status == PartStatus.QUEUED
    assert part.attempts.get().reply_file == ""
    hours_pass(6.01)
    part = polled(batch)
    attempt = part.attempts.get()
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.UNREADABLE)
    assert attempt.status == AttemptStatus.ACCEPTED
    kept = b"".join(read_compressed(attempt.reply_file)).decode()
    assert kept
    if fault["fault"] in ("garbage", "error"):
        assert fault.get("body", fault.get("message")) in kept
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    # Go on looking: the answers are there.
    sandbox.script()
    assert decisions.ask_again(part, by=None)
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


def fetched(batch: Batch) -> PollOutcome:
    """What a poll comes to, before anything is done about it."""
    part = batch.parts.get()
    client = clients.shared_client(batch.connection)
    return fetching.fetch(part, part.attempts.get(), client=client)


def kept_in(folder: Path) -> list[str]:
    """The names of the replies that are kept."""
    return [str(found.relative_to(folder)) for found in folder.rglob("reply-*")]


def test_a_reply_that_cannot_be_read_is_kept_only_if_a_person_is_asked_within_minutes(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    sandbox.script({"fault": "garbage", "call": "poll", "times": 0})
    batch = accepted(start)
    for hours, kept in ((5.9, 0), (5.95, 1)):
        hours_pass(hours)
        outcome = fetched(batch)
        assert isinstance(outcome, Later)
        assert bool(outcome.reply_file) == bool(kept)
        assert kept_in(files_in) == [outcome.reply_file] * kept


def test_a_reply_that_batchui_stumbles_over_loses_nothing_and_the_log_says_of_which_part(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path, caplog: pytest.LogCaptureFixture
) -> None:
    batch = accepted(start)
    Attempt.objects.update(positions=[0])  # of ten rows: only a mistake of ours writes that
    message = (
        "The answers are there, but batchui cannot read them, because of a mistake in batchui. "
        "Tell the person who runs batchui: the log says more."
    )
    assert fetched(batch) == Later(message, None)
    hours_pass(6)
    outcome = fetched(batch)
    assert outcome == Later(message, None, reply_file=kept_in(files_in)[0])
    for record in caplog.records:
        assert record.getMessage() == f"Part 1 of batch {batch.pk}: its reply"
        assert record.exc_info is not None
        assert record.exc_info[0] is IndexError
    assert len(caplog.records) == 2


def test_a_reply_that_does_not_fit_is_kept_only_if_it_may_be_the_last_one(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    sandbox.script({"fault": "unknown_id", "times": 0})
    batch = accepted(start)
    for seen, kept in ((1, 0), (2, 1)):
        Part.objects.update(odd_kind="mismatch", odd_seen=seen)
        outcome = fetched(batch)
        assert isinstance(outcome, Quarantined)
        assert kept_in(files_in) == [outcome.reply_file] * kept
        assert bool(outcome.reply_file) == bool(kept)


def test_a_reply_that_is_empty_is_not_kept(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    sandbox.script({"fault": "garbage", "body": "", "call": "poll", "times": 0})
    batch = accepted(start)
    hours_pass(6.01)
    part = polled(batch)
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.UNREADABLE)
    assert part.attempts.get().reply_file == ""
    assert kept_in(files_in) == []


def test_a_part_that_was_left_out_is_looked_for_first_by_a_retry(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "garbage", "call": "poll", "times": 0})
    batch = accepted(start)
    polled(batch)
    hours_pass(6.01)
    assert decisions.leave_out(polled(batch), by=None)
    assert counted(batch) == in_files(batch) == {"missing": 10}
    sandbox.script()
    assert decisions.retry(batch, by=None)
    work(batch)
    assert is_finished_with_one_post(batch, sandbox)


def test_stop_does_not_wait_for_a_part_that_cannot_be_read(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "garbage", "call": "poll", "times": 0})
    batch = accepted(start)
    polled(batch)
    assert decisions.stop(batch, by=None)
    hours_pass(6.01)
    assert polled(batch).status == PartStatus.DONE
    batch.refresh_from_db()
    assert (batch.has_ended, batch.missing) == (True, 10)


def test_a_network_that_was_away_for_hours_asks_nobody(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "cut_before", "call": "poll"},
        {"fault": "error", "code": 3021, "retry_after": 7, "call": "poll"},
        {"fault": "error", "code": 3036, "call": "poll"},
    )
    batch = accepted(start)
    for _ in range(3):
        hours_pass(23)
        assert polled(batch).status == PartStatus.QUEUED
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)


def test_retry_after_is_obeyed_for_a_server_error_too(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "status": 503, "retry_after": 500, "call": "poll"})
    part = polled(accepted(start))
    assert part.next_poll_at is not None
    assert part.next_poll_at > timezone.now() + timedelta(seconds=490)


class Modest(RestClient):
    """A client that reads no more than a kilobyte of a reply."""

    def poll(self, model: str, request_id: str, spool: Any, *, max_bytes: int = 1_000) -> Any:
        return super().poll(model, request_id, spool, max_bytes=max_bytes)


def test_a_reply_too_large_to_read_is_fetched_twice_and_asks_a_person(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = accepted(start)
    with Modest(account_id="sandbox", token="any", base_url=sandbox.base_url) as client:
        for expected in (PartStatus.QUEUED, PartStatus.UNSURE):
            let_odd_replies_age()
            Part.objects.update(next_poll_at=timezone.now())
            [part] = due.due_parts(1)
            attempt = part.attempts.get()
            polling.apply_outcome(part, attempt, polling.fetch(part, attempt, client=client))
            assert part.status == expected
    assert part.question == Question.UNREADABLE
    assert "is larger than batchui can read (1,000 bytes)" in part.message
    kept = b"".join(read_compressed(part.attempts.get().reply_file))
    assert 0 < len(kept) <= 1_000
    assert len(sandbox.calls("poll")) == 2
    assert decisions.ask_again(part, by=None)
    polled(batch)
    assert is_finished_with_one_post(batch, sandbox)
