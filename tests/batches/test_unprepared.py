"""A request that cannot be made: it is said, tried again, and then asked; nothing is sent."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection as database
from django.utils import timezone

from batchui.batches import decisions, due, sending, unprepared
from batchui.batches.compressed import Compressed, DamagedFile
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Batch, Part
from batchui.batches.outcomes import CertainlyNotSent
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    counted,
    in_files,
    posts,
    rows,
    send_all,
    statuses,
    work,
    written,
)
from tests.batches.spans import Span

pytestmark = pytest.mark.django_db


@pytest.fixture
def damaged(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A batch of five rows whose file is not there."""
    batch = start(rows(5))
    default_storage.delete(batch.parts.get().rows_file)
    return batch


def try_to_send(batch: Batch) -> Part:
    """Send the part as if its pause were over. Returns it as it is then."""
    Part.objects.update(resume_at=None)
    (part,) = due.ready_parts(5)
    assert sending.send(part) is False
    return batch.parts.get()


def told(batch: Batch) -> list[str]:
    """What the timeline says of the part, the oldest first."""
    events = batch.events.filter(part_number=1).order_by("id")
    return list(events.values_list("text", flat=True))


def test_a_damaged_file_is_said_tried_three_times_and_then_asked_about(
    sandbox: RunningSandbox, damaged: Batch
) -> None:
    for minutes in (1, 5):
        with Span() as span:
            part = try_to_send(damaged)
        assert part.status == PartStatus.READY
        assert part.message == f"The stored file {part.rows_file} is not there any more."
        assert span.sets(part.resume_at, 60 * minutes)
        assert due.ready_parts(5) == []
        assert told(damaged) == [f"Part 1 is not sent yet: {part.message}"]
    part = try_to_send(damaged)
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.DAMAGED)
    assert part.message.endswith("is not there any more.")
    damaged.refresh_from_db()
    assert damaged.status == BatchStatus.ATTENTION
    assert posts(sandbox) == 0
    assert not part.attempts.exists()
    assert told(damaged) == [
        f"Part 1 is not sent yet: {part.message}",
        f"Part 1 could not be sent: {part.message}",
    ]


def test_a_file_that_is_there_again_is_sent_as_if_nothing_had_been(
    sandbox: RunningSandbox, damaged: Batch, files_in: Path
) -> None:
    try_to_send(damaged)
    part = try_to_send(damaged)
    lines = [b'["%d","text"]' % number for number in range(1, 6)]
    Compressed.of_lines(lines).store(part.rows_file)
    Part.objects.update(resume_at=None)
    assert work(damaged).status == BatchStatus.FINISHED
    assert posts(sandbox) == 1


def test_a_person_may_try_it_again_and_then_it_is_tried_three_times_again(
    sandbox: RunningSandbox, damaged: Batch
) -> None:
    for _ in range(3):
        part = try_to_send(damaged)
    assert decisions.try_again(part, by=None)
    assert [try_to_send(damaged).status for _ in range(3)] == [
        PartStatus.READY,
        PartStatus.READY,
        PartStatus.UNSURE,
    ]


def test_only_tries_in_a_row_count(sandbox: RunningSandbox, start: MakeBatch) -> None:
    """Neither failures of another kind, nor tries before a request that could be made."""
    batch = start(rows(5))
    Part.objects.update(failures_in_a_row=10, odd_kind="gone", odd_seen=5)
    part = batch.parts.get()
    unprepared_once(part)
    assert (part.status, part.odd_seen) == (PartStatus.READY, 1)
    unprepared_once(part)
    sending.apply_outcome(part, written(part), CertainlyNotSent("No network."))
    unprepared_once(part)
    assert (part.status, part.odd_kind, part.odd_seen) == (PartStatus.READY, "unprepared", 1)


def unprepared_once(part: Part, problem: str = "It is damaged.") -> None:
    Part.objects.filter(pk=part.pk).update(status=PartStatus.SENDING)
    part.status = PartStatus.SENDING
    unprepared.try_later(part, DamagedFile(problem))


def test_a_person_is_told_what_was_wrong_at_the_last_try(part: Part) -> None:
    for problem in ("It is away.", "It is cut short.", "It is damaged."):
        unprepared_once(part, problem)
    assert (part.question, part.message) == (Question.DAMAGED, "It is damaged.")
    assert told(part.batch) == [
        "Part 1 is not sent yet: It is away.",
        "Part 1 could not be sent: It is damaged.",
    ]


@pytest.mark.parametrize(
    ("problem", "message", "is_logged"),
    [
        (DamagedFile("The file is damaged."), "The file is damaged.", False),
        (
            OSError(errno.EIO, "Input/output error"),
            "This server could not read or store its rows: Input/output error.",
            False,
        ),
        (
            OSError("Quota exceeded"),
            "This server could not read or store its rows: Quota exceeded.",
            False,
        ),
        (
            MemoryError(),
            "This server has not enough memory free to make the request.",
            False,
        ),
        (
            ZeroDivisionError("oh"),
            "batchui could not make the request, because of a mistake in batchui. Tell the person "
            "who runs batchui: the log says more.",
            True,
        ),
    ],
)
def test_each_reason_is_said_in_words_and_a_mistake_of_ours_is_in_the_log(
    sandbox: RunningSandbox,
    part: Part,
    caplog: pytest.LogCaptureFixture,
    problem: Exception,
    message: str,
    is_logged: bool,
) -> None:
    Part.objects.filter(pk=part.pk).update(status=PartStatus.SENDING)
    part.refresh_from_db()
    unprepared.try_later(part, problem)
    assert part.message == message
    logged = [record for record in caplog.records if record.name == unprepared.__name__]
    assert bool(logged) is is_logged
    for record in logged:
        assert record.getMessage() == f"Part 1 of batch {part.batch_id}: its request"
        assert record.exc_info is not None
        assert record.exc_info[1] is problem


def test_an_unexpected_exception_before_the_post_does_not_leave_the_part_to_its_lease(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))

    def breaks(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "batches_attempt"'):
            raise ZeroDivisionError
        return execute(sql, *rest)

    with database.execute_wrapper(breaks):
        part = try_to_send(batch)
    assert (part.status, part.lease_until) == (PartStatus.READY, None)
    assert "a mistake in batchui" in part.message
    assert posts(sandbox) == 0


def test_a_part_that_was_refused_and_cannot_be_noted_is_on_record_as_refused(
    sandbox: RunningSandbox, part: Part
) -> None:
    for status in (PartStatus.READY, PartStatus.READY, PartStatus.UNSURE):
        attempt = written(part)
        Part.objects.update(odd_kind=part.odd_kind, odd_seen=part.odd_seen)
        part.odd_kind, part.odd_seen = "unprepared", attempt.number - 1
        closing = Closing(attempt, AttemptStatus.REFUSED, "No.", 5006)
        unprepared.try_later(part, OSError("full"), closing=closing)
        attempt.refresh_from_db()
        assert (part.status, attempt.status) == (status, AttemptStatus.REFUSED)


# -- and Stop -----------------------------------------------------------------------------------


def test_stop_says_that_a_damaged_part_was_not_sent(
    sandbox: RunningSandbox, damaged: Batch
) -> None:
    for _ in range(3):
        try_to_send(damaged)
    assert decisions.stop(damaged, by=None)
    assert counted(damaged) == {"unsent": 5}
    damaged.refresh_from_db()
    assert damaged.status == BatchStatus.STOPPED


def test_stop_while_it_is_tried_says_that_it_was_not_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    (part,) = due.ready_parts(5)
    part.odd_kind, part.odd_seen = unprepared.UNPREPARED, 2
    Part.objects.update(odd_kind=part.odd_kind, odd_seen=part.odd_seen, status="sending")
    part.status = PartStatus.SENDING
    Batch.objects.update(stop_requested_at=timezone.now())
    unprepared.try_later(part, DamagedFile("It is damaged."))
    assert (part.status, part.unsent) == (PartStatus.STOPPED, 5)
    assert counted(batch) == in_files(batch) == {"unsent": 5}


def test_a_damaged_part_does_not_hold_up_the_others(sandbox: RunningSandbox, batch: Batch) -> None:
    default_storage.delete(batch.parts.get(number=2).rows_file)
    send_all()
    assert statuses(batch) == [PartStatus.QUEUED, PartStatus.READY, PartStatus.QUEUED]
