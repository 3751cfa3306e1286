"""Workers and people who act at the same moment: one of them wins, and nothing is lost.

Real threads, each with its own database connection. On SQLite and, as `tests/postgres` runs this
file again, on PostgreSQL.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import (
    call_limit,
    decisions,
    deleting,
    due,
    lifecycle,
    polling,
    questions,
    sending,
)
from batchui.batches.models import Batch, Part
from batchui.batches.questions import Choice
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.at_once import at_once
from tests.batches.conftest import (
    MODEL,
    TEMPLATE,
    MakeBatch,
    on_record,
    rows,
    send_all,
    work,
    written,
)

pytestmark = pytest.mark.django_db(transaction=True)

RIVALS = 8


def copies(part: Part) -> list[Part]:
    """The same part, as each rival has read it."""
    return [Part.objects.select_related("batch__connection").get(pk=part.pk) for _ in range(RIVALS)]


def test_parts_that_end_together_are_all_counted(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = start(rows(RIVALS * 25))
    send_all()
    Part.objects.update(next_poll_at=timezone.now())
    parts = due.due_parts(RIVALS)
    assert len(parts) == RIVALS
    at_once([partial(polling.poll, part) for part in parts])
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED
    assert batch.answered == batch.rows == RIVALS * 25


def test_a_part_that_all_workers_want_to_send_is_sent_once(
    sandbox: RunningSandbox, part: Part
) -> None:
    at_once([partial(sending.send, mine) for mine in copies(part)])
    assert [call.items for call in sandbox.calls("submit")] == [25]
    assert part.attempts.count() == 1


def test_a_part_that_all_workers_want_to_poll_is_polled_once(
    sandbox: RunningSandbox, part: Part
) -> None:
    sending.send(part)
    at_once([partial(polling.poll, mine) for mine in copies(part)])
    assert len(sandbox.calls("poll")) == 1
    part.refresh_from_db()
    assert (part.status, part.answered) == (PartStatus.DONE, 25)


def test_a_lease_is_won_by_exactly_one(sandbox: RunningSandbox, part: Part) -> None:
    sending.send(part)
    claims = [partial(lifecycle.claim_part, mine, PART_LEASE) for mine in copies(part)]
    assert sorted(at_once(claims)) == [False] * (RIVALS - 1) + [True]


def test_many_who_press_start_start_it_once(sandbox: RunningSandbox, receive: MakeBatch) -> None:
    draft = receive(rows(30))
    drafts = [Batch.objects.get(pk=draft.pk) for _ in range(RIVALS)]
    ask = Ask(model=MODEL, template=TEMPLATE)
    started = at_once([partial(decisions.start, mine, by=None, ask=ask) for mine in drafts])
    assert sum(started) == 1
    assert draft.events.filter(text="Started.").count() == 1


def as_read(batch: Batch) -> list[Batch]:
    """The same batch, as each rival has read it."""
    return [Batch.objects.get(pk=batch.pk) for _ in range(RIVALS)]


def test_many_who_press_stop_stop_it_once(sandbox: RunningSandbox, batch: Batch) -> None:
    stopped = at_once([partial(decisions.stop, mine, by=None) for mine in as_read(batch)])
    assert sum(stopped) == 1
    assert batch.events.filter(kind="stopping").count() == 1


def test_many_who_press_retry_send_each_row_once(sandbox: RunningSandbox, batch: Batch) -> None:
    sending.send(due.ready_parts(1)[0])
    assert decisions.stop(batch, by=None)
    batch = work(batch)
    asked = batch.unanswered
    assert asked == 35
    sandbox.sandbox.calls.clear()
    tried = at_once([partial(decisions.retry, mine, by=None) for mine in as_read(batch)])
    assert sum(tried) == 1
    assert batch.events.filter(kind="retry").count() == 1
    assert work(batch).status == BatchStatus.FINISHED
    assert sum(call.items or 0 for call in sandbox.calls("submit")) == asked


def test_of_those_who_retry_and_those_who_delete_one_wins(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    assert decisions.stop(batch, by=None)
    batch = work(batch)
    act = [decisions.retry, deleting.delete] * (RIVALS // 2)
    done = at_once([partial(do, it, by=None) for do, it in zip(act, as_read(batch), strict=True)])
    assert sum(done) == 1
    batch.refresh_from_db()
    deleted = batch.deleted_at is not None
    assert batch.has_ended is deleted
    assert batch.events.filter(kind="retry").exists() is not deleted


def test_of_those_who_send_again_and_those_who_leave_out_one_wins(
    sandbox: RunningSandbox, part: Part
) -> None:
    sending.mark_unsure(part, lifecycle.Closing(written(part), AttemptStatus.UNSURE))
    act = [decisions.send_again, decisions.leave_out] * (RIVALS // 2)
    done = at_once([partial(do, it, by=None) for do, it in zip(act, copies(part), strict=True)])
    assert sum(done) == 1
    part.refresh_from_db()
    assert (part.status, part.missing) in ((PartStatus.READY, 0), (PartStatus.DONE, 25))


def test_of_those_who_decide_about_many_parts_at_once_one_wins_for_each_part(
    team: Team,
) -> None:
    batch = on_record(team, parts=RIVALS)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    about_all = partial(questions.decide, Part.objects.all(), Question.UNCLEAR, by=None)
    choices = [Choice.SEND_AGAIN, Choice.LEAVE_OUT] * (RIVALS // 2)
    decided = at_once([partial(about_all, choice) for choice in choices])
    assert sorted(one.parts for one in decided) == [0] * (RIVALS - 1) + [RIVALS]
    became = set(batch.parts.values_list("status", "missing"))
    assert became in ({(PartStatus.READY, 0)}, {(PartStatus.DONE, 10)})


def test_no_more_calls_are_granted_than_allowed(part: Part, settings: Any) -> None:
    settings.CALLS_PER_5_MINUTES = 60
    line = part.batch.connection
    takes = [lambda: sum(call_limit.take(line, 3) for _ in range(5))] * RIVALS
    began = time.monotonic()
    granted = sum(at_once(takes))
    seconds = time.monotonic() - began
    # Half of them at once; one more comes every ten seconds.
    assert 30 <= granted <= 30 + seconds / 10


def test_stop_at_the_moment_of_sending_leaves_no_row_without_a_word(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(RIVALS * 25))
    parts = due.ready_parts(RIVALS)
    steps: list[Callable[[], object]] = [partial(sending.send, part) for part in parts]
    steps.append(partial(decisions.stop, batch, by=None))
    at_once(steps)
    batch = work(batch)
    assert batch.status in (BatchStatus.STOPPED, BatchStatus.FINISHED)
    assert batch.answered + batch.unsent == batch.rows
    sent = sum(call.items or 0 for call in sandbox.calls("submit"))
    assert sent == batch.answered


def test_stranded_parts_are_rescued_once_and_never_sent_again_by_themselves(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(RIVALS * 25))
    for part in due.ready_parts(RIVALS):
        assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
        assert sending.write_attempt(part)
    at_once([partial(sending.rescue, timezone.now() + 2 * PART_LEASE)] * RIVALS)
    assert list(batch.parts.values_list("status", flat=True)) == [PartStatus.UNSURE] * RIVALS
    told = batch.events.filter(text__contains="may or may not have been sent")
    assert told.count() == RIVALS


def test_a_worker_that_overslept_its_lease_sends_nothing(
    sandbox: RunningSandbox, part: Part
) -> None:
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    sending.rescue(timezone.now())
    quicker = copies(part)[0]
    assert quicker.status == PartStatus.READY
    sending.send(quicker)
    assert sending.write_attempt(part) is None
    assert part.attempts.count() == 1
    assert len(sandbox.calls("submit")) == 1


def test_a_part_that_was_rescued_and_claimed_anew_is_sent_by_its_new_owner_alone(
    sandbox: RunningSandbox, part: Part
) -> None:
    overslept, quicker = copies(part)[:2]
    assert lifecycle.move_part(overslept, PartStatus.SENDING, lease_until=timezone.now())
    sending.rescue(timezone.now() + timedelta(seconds=1))
    quicker.refresh_from_db()
    assert lifecycle.move_part(quicker, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE)
    # It stands where the first one left it, and is another's.
    assert sending.write_attempt(overslept) is None
    assert not part.attempts.exists()
    assert sending.write_attempt(quicker)


def test_sends_that_fail_together_are_one_failure(part: Part) -> None:
    line = part.batch.connection
    at_once([partial(call_limit.trip, line, reason="storm", first=600, longest=6000)] * RIVALS)
    line.refresh_from_db()
    assert line.failures_in_a_row == 1
    Connection.objects.update(paused_until=timezone.now())
    at_once([partial(call_limit.trip, line, reason="storm", first=600, longest=6000)] * RIVALS)
    line.refresh_from_db()
    assert line.failures_in_a_row == 2
    assert line.paused_until is not None
    assert line.paused_until > timezone.now() + timedelta(seconds=1100)


def test_after_a_failure_workers_that_look_together_send_one_part(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    start(rows(RIVALS * 25))
    Connection.objects.update(failures_in_a_row=1)
    storm = {"fault": "error", "status": 503, "retry_after": 3600, "call": "submit", "times": 0}
    sandbox.script(storm)

    def look_and_send() -> None:
        for part in due.ready_parts(RIVALS):
            sending.send(part)

    at_once([look_and_send] * RIVALS)
    assert len(sandbox.calls("submit")) == 1


def test_parts_that_wait_for_a_person_are_released_once(part: Part) -> None:
    Part.objects.update(status=PartStatus.HELD, resume_at=None)
    assert sum(at_once([due.release_held] * RIVALS)) == 1
    Part.objects.update(status=PartStatus.HELD)
    assert sum(at_once([partial(due.release_like, part)] * RIVALS)) == 3


def test_stop_at_the_moment_of_a_refusal_leaves_no_row_without_a_word(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    refused = {"fault": "error", "code": 5006, "call": "submit", "times": 0}
    sandbox.script(refused | {"containing": 'number 3"'})
    batch = start(rows(RIVALS * 25))
    parts = due.ready_parts(RIVALS)
    steps: list[Callable[[], object]] = [partial(sending.send, part) for part in parts]
    steps.append(partial(decisions.stop, batch, by=None))
    at_once(steps)
    batch = work(batch)
    assert batch.has_ended
    assert batch.answered + batch.unsent == batch.rows
