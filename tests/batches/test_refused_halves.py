"""A refused part is sent in halves: whatever else happens meanwhile, only the refused rows fail."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches import decisions, polling, results, sending, unprepared
from batchui.batches.models import Batch, Part
from batchui.batches.outcomes import Later, RefusedForGood
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    counted,
    in_files,
    poll_all,
    rows,
    send_all,
    work,
    written,
)
from tests.batches.refusing import failed_rows, refusing, row, sizes

pytestmark = pytest.mark.django_db


# -- refused when it is polled ------------------------------------------------------------------


def items(*bad: int) -> bytes:
    """Ready-made items, of which the sandbox takes all but the bad ones."""
    made: list[dict[str, Any]] = [{"prompt": f"Say {number}."} for number in range(1, 9)]
    for number in bad:
        made[number - 1] = {"messages": [{"role": "user"}]}
    return "\n".join(map(json.dumps, made)).encode()


def test_a_row_that_makes_cloudflare_refuse_the_whole_request_later_fails_alone(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(items(6), "items.jsonl", as_items=True, template=""))
    assert batch.status == BatchStatus.PROBLEMS
    assert failed_rows(batch) == [6]
    assert counted(batch) == in_files(batch) == {"answered": 7, "failed": 1}
    refused = batch.parts.get().attempts.filter(status=AttemptStatus.REFUSED)
    assert {attempt.code for attempt in refused} == {3030}
    assert sizes(sandbox) == [8, 4, 2, 1, 1, 2]


def test_rows_that_are_all_refused_later_cost_few_requests(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(items(*range(1, 9)), "items.jsonl", as_items=True, template=""))
    assert counted(batch) == in_files(batch) == {"failed": 8}
    assert sizes(sandbox) == [8, 4, 2, 1, 1, 1]


# -- in between ---------------------------------------------------------------------------------


def test_stop_while_the_rows_are_looked_for_says_that_the_rest_was_not_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(4)))
    batch = start(rows(4))
    send_all()
    decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"unsent": 4}


def test_a_worker_that_dies_while_the_rows_are_looked_for_loses_nothing(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(4)))
    batch = start(rows(4))
    send_all()  # refused
    part = batch.parts.get()
    part.batch = batch
    assert written(part).positions == [0, 1]
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    assert decisions.send_again(batch.parts.get(), by=None)
    batch = work(batch)
    assert failed_rows(batch) == [4]


def test_a_limit_of_rows_is_kept_while_the_rows_are_looked_for(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    too_large = {"fault": "error", "code": 3006, "call": "submit", "times": 2}
    sandbox.script(too_large, *refusing(row(8)))
    batch = work(start(rows(20)), rounds=40)
    assert failed_rows(batch) == [8]
    assert sizes(sandbox)[:4] == [20, 10, 5, 5]
    assert max(size or 0 for size in sizes(sandbox)[2:]) == 5


def test_a_row_alone_that_is_too_large_does_not_make_the_others_look_refused(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(*refusing(row(2), code=3006))
    batch = work(start(rows(4)), rounds=40)
    assert failed_rows(batch) == [2]
    sent = batch.parts.get().attempts.order_by("number").values_list("positions", flat=True)
    assert list(sent) == [None, [0, 1], [0], [1], [2], [3]]


def test_a_full_disk_when_a_row_fails_is_got_over_and_the_refusal_is_on_record(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    sandbox.script(*refusing(row(2)))
    batch = start(rows(2))
    send_all()  # both together
    part = batch.parts.get()
    part.batch = batch
    attempt = written(part)
    folder = files_in / "batches" / str(batch.pk) / "parts" / "1"
    aside = folder.rename(folder.with_name("aside"))
    folder.write_bytes(b"in the way")  # what is stored here now fails
    sending.apply_outcome(part, attempt, RefusedForGood("No.", 5006))
    folder.unlink()
    aside.rename(folder)
    attempt.refresh_from_db()
    assert attempt.status == AttemptStatus.REFUSED
    assert (part.status, part.odd_kind) == (PartStatus.READY, unprepared.UNPREPARED)
    assert "could not read or store its rows" in part.message
    Part.objects.update(resume_at=None)
    assert failed_rows(work(batch)) == [2]


# -- what became of a piece ---------------------------------------------------------------------


def piece_sent(start: MakeBatch, sandbox: RunningSandbox) -> Batch:
    """A batch of four rows, of which the first two are with Cloudflare, and row 4 is refused."""
    sandbox.script(*refusing(row(4)))
    batch = start(rows(4))
    send_all()
    send_all()
    assert batch.parts.get().status == PartStatus.QUEUED
    return batch


def test_a_piece_that_fails_takes_no_row_with_it_that_was_not_in_it(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = piece_sent(start, sandbox)
    part = batch.parts.get()
    failed = RefusedForGood("Cloudflare could not answer these rows.", None)
    polling.apply_outcome(part, part.attempts.get(number=2), failed)
    assert (part.status, part.failed, part.waiting) == (PartStatus.READY, 2, 2)
    assert part.last_polled_at is not None
    told = batch.events.latest("id").text
    assert told == "Part 1 failed: Cloudflare could not answer these rows."
    batch = work(batch)
    assert counted(batch) == in_files(batch) == {"failed": 3, "answered": 1}
    errors = {found.row: found.error or "" for found in results.results(batch)}
    assert errors[2] == errors[3] == "Cloudflare could not answer these rows."
    assert "refused" in errors[4]


def test_what_the_polls_of_a_piece_went_through_is_not_laid_to_the_sending_of_the_others(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = piece_sent(start, sandbox).parts.get()
    attempt = part.attempts.get(number=2)
    for _ in range(3):
        polling.apply_outcome(part, attempt, Later("No network.", None))
    polling.apply_outcome(part, attempt, RefusedForGood("It failed.", None))
    part.refresh_from_db()
    assert part.status == PartStatus.READY
    assert (part.failures_in_a_row, part.failing_since, part.message) == (0, None, "")


def test_the_last_piece_ends_its_part(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = piece_sent(start, sandbox)
    for _ in range(2):  # rows 2 and 3 come back, row 4 is refused, row 5 is sent
        poll_all()
        send_all()
    part = batch.parts.get()
    polling.apply_outcome(part, part.attempts.latest("number"), RefusedForGood("It failed.", None))
    assert part.status == PartStatus.DONE
    assert counted(batch) == in_files(batch) == {"answered": 2, "failed": 2}


def test_where_the_rows_of_a_piece_cannot_be_told_all_fail_with_it(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [0, 1]})
    batch = work(start(rows(4)))
    assert decisions.retry(batch, by=None)
    Part.objects.update(send_limit=1)
    send_all()
    part = batch.parts.get()
    default_storage.delete(part.answers_file)
    polling.apply_outcome(part, part.attempts.latest("number"), RefusedForGood("It failed.", None))
    assert (part.status, part.failed) == (PartStatus.DONE, 2)
