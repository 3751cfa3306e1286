"""What a poll can find, and what it means for the rows."""

import io
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, lifecycle, polling
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Part
from batchui.batches.part_answers import NewAnswers
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.cloudflare.client import ApiClient
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import CHAT_COMPLETIONS, MakeBatch, accepted, poll_all, work

pytestmark = pytest.mark.django_db


def test_queued_then_running_then_done(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "queued"}, {"fault": "running"})
    batch = accepted(start)
    seen = []
    for _ in range(3):
        poll_all()
        seen.append(batch.parts.get().status)
    assert seen == [PartStatus.QUEUED, PartStatus.RUNNING, PartStatus.DONE]
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED


def test_a_part_was_polled_when_its_answers_came_not_when_they_were_stored(
    sandbox: RunningSandbox, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, store = accepted(start), NewAnswers.store
    stored_at: list[datetime] = []

    def store_later(answers: NewAnswers) -> Any:
        stored_at.append(timezone.now())
        return store(answers)

    monkeypatch.setattr(NewAnswers, "store", store_later)
    began = timezone.now()
    poll_all()
    part = batch.parts.get()
    assert part.status == PartStatus.DONE
    assert part.last_polled_at is not None
    assert began <= part.last_polled_at < stored_at[0]


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "error", "status": 500},
        {"fault": "error", "status": 503},
        {"fault": "error", "code": 3021, "retry_after": 400},
        {"fault": "error", "code": 3040},
        {"fault": "error", "code": 3007},
        {"fault": "error", "code": 5001},
        {"fault": "garbage"},
        {"fault": "truncated"},
        {"fault": "cut_before"},
        {"fault": "cut_after", "reset": True},
    ],
)
def test_a_poll_that_fails_never_fails_the_part(
    sandbox: RunningSandbox, start: MakeBatch, fault: dict[str, Any]
) -> None:
    sandbox.script(fault | {"call": "poll"})
    batch = accepted(start)
    poll_all()
    part = batch.parts.get()
    assert part.status == PartStatus.QUEUED
    assert part.message
    assert part.last_polled_at is not None
    least = 390 if fault.get("retry_after") else 7
    assert part.next_poll_at is not None
    assert part.next_poll_at > timezone.now() + timedelta(seconds=least)
    assert work(batch).status == BatchStatus.FINISHED


def test_a_request_gone_is_believed_after_three_polls_over_ten_minutes(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "forgotten", "call": "submit"})
    batch = accepted(start)
    for _ in range(5):
        poll_all()
    part = batch.parts.get()
    assert part.status == PartStatus.QUEUED
    assert part.odd_seen == 5
    Part.objects.update(odd_at=timezone.now() - timedelta(minutes=11))
    poll_all()
    batch.refresh_from_db()
    assert (batch.status, batch.missing) == (BatchStatus.FAILED, 10)
    assert batch.parts.get().waiting_error == polling.GONE


def test_one_sighting_of_gone_is_forgotten_when_it_is_there_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "code": 5504, "call": "poll", "times": 2})
    batch = accepted(start)
    for _ in range(3):
        poll_all()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED


def test_a_batch_refused_as_a_whole_fails_its_rows(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "batch_failed"})
    batch = work(accepted(start))
    assert (batch.status, batch.failed) == (BatchStatus.FAILED, 10)
    attempt = batch.parts.get().attempts.get()
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, None)


def test_a_row_without_an_answer_is_missing(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "missing", "items": [3, 7], "times": 2})
    batch = work(accepted(start))
    assert (batch.answered, batch.missing) == (8, 2)
    assert batch.status == BatchStatus.PROBLEMS


@pytest.mark.parametrize("form", ["null", "blank", "list", "object", "empties", "text", "result"])
def test_success_with_nothing_in_it_is_empty(
    sandbox: RunningSandbox, start: MakeBatch, form: str
) -> None:
    sandbox.script({"fault": "empty", "items": [0], "form": form})
    batch = work(accepted(start))
    assert (batch.answered, batch.empty) == (9, 1)


@pytest.mark.parametrize("form", ["text", "object"])
@pytest.mark.parametrize("model", ["@cf/meta/llama-4-scout-17b-16e-instruct", CHAT_COMPLETIONS])
def test_an_item_that_failed_says_why(
    sandbox: RunningSandbox, start: MakeBatch, form: str, model: str
) -> None:
    sandbox.script({"fault": "failed", "items": [2], "form": form})
    batch = work(accepted(start, model=model))
    assert (batch.answered, batch.failed) == (9, 1)
    (failed,) = pages.page(batch, parse("attention"), offset=0, limit=10)
    assert failed.row == 4
    assert failed.error


def test_duplicates_that_agree_count_once(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "duplicate", "items": [1]})
    batch = work(accepted(start))
    assert batch.answered == 10


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("contradiction", "two different answers for row"),
        ("unknown_id", "an answer"),
        ("wrong_reference", "the reference"),
    ],
)
def test_a_reply_that_does_not_fit_is_kept_raw_and_not_used(
    sandbox: RunningSandbox, start: MakeBatch, fault: str, why: str
) -> None:
    sandbox.script({"fault": fault, "items": [1], "times": 3})
    batch = work(accepted(start), rounds=3)
    assert batch.status == BatchStatus.ATTENTION
    assert batch.answered == 0
    part = batch.parts.get()
    attempt = part.attempts.get()
    assert (part.status, attempt.status) == (PartStatus.UNSURE, AttemptStatus.QUARANTINED)
    assert why in part.message
    raw = b"".join(read_compressed(attempt.reply_file))
    assert b'"responses"' in raw
    assert decisions.send_again(part, by=None)
    assert work(batch).status == BatchStatus.FINISHED


def test_the_timeline_says_how_many_rows_came_back(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "missing", "items": [3], "times": 2})
    batch = work(accepted(start))
    told = batch.events.get(kind=PartStatus.DONE, part_number=1)
    assert told.text == "Part 1 came back: 9 of 10 rows answered."


def test_the_raw_reply_is_kept(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(accepted(start))
    attempt = batch.parts.get().attempts.get()
    assert b"text number 1" in b"".join(read_compressed(attempt.reply_file))


@pytest.mark.parametrize(("more", "is_in_memory"), [(0, True), (1, False)])
def test_a_long_reply_waits_in_a_file(
    sandbox: RunningSandbox,
    start: MakeBatch,
    monkeypatch: pytest.MonkeyPatch,
    more: int,
    is_in_memory: bool,
) -> None:
    found: list[bool] = []

    def poll(self: ApiClient, model: str, request_id: str, spool: Any) -> str:
        spool.write(b" " * (256 * 1024 + more))
        found.append(isinstance(spool._file, io.BytesIO))
        return "queued"

    accepted(start)
    monkeypatch.setattr(ApiClient, "poll", poll)
    poll_all()
    assert found == [is_in_memory]


def test_tokens_are_counted(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(accepted(start))
    assert batch.prompt_tokens > 0
    assert batch.completion_tokens > 0


def test_a_part_is_polled_by_one_worker(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = accepted(start)
    part = batch.parts.get()
    other = batch.parts.get()
    assert lifecycle.claim_part(part, PART_LEASE)
    assert polling.poll(other) is False
    assert sandbox.calls("poll") == []
    assert due.due_parts(10) == []
