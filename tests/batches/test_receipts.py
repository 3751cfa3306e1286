"""A receipt is kept whatever else happens: without it an answer that is paid for is lost."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import Settings

from batchui.batches import decisions, lifecycle, receipts, sending
from batchui.batches.clients import shared_client
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.founding import first_team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    counted,
    in_files,
    on_record,
    poll_all,
    posts,
    rows,
    send_all,
    work,
    written,
)


@pytest.mark.django_db
def test_a_receipt_that_comes_after_the_lease_ran_out_is_kept(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    sending.apply_outcome(part, attempt, sending.Accepted("late"))
    part.refresh_from_db()
    attempt.refresh_from_db()
    assert part.status == PartStatus.QUEUED
    assert attempt.request_id == "late"
    assert posts(sandbox) == 0


@pytest.mark.django_db
def test_a_receipt_says_when_it_came(sandbox: RunningSandbox, part: Part) -> None:
    before = timezone.now()
    attempt = written(part)
    sending.apply_outcome(part, attempt, sending.Accepted("known"))
    kept = Attempt.objects.get()
    assert (kept.status, kept.request_id) == (AttemptStatus.ACCEPTED, "known")
    assert kept.accepted_at is not None
    assert before <= kept.accepted_at <= timezone.now()


@pytest.mark.django_db
@pytest.mark.parametrize("status", [PartStatus.DONE, PartStatus.READY, PartStatus.HELD])
def test_a_receipt_that_comes_to_a_part_that_went_on_is_kept_and_moves_nothing(
    sandbox: RunningSandbox, part: Part, status: PartStatus
) -> None:
    attempt = written(part)
    later = timezone.now() + timedelta(hours=1)
    Part.objects.filter(pk=part.pk).update(status=status, epoch=part.epoch + 1, resume_at=later)
    sending.apply_outcome(part, attempt, sending.Accepted("late"))
    part.refresh_from_db()
    attempt.refresh_from_db()
    assert part.status == status
    assert (attempt.status, attempt.request_id) == (AttemptStatus.ACCEPTED, "late")
    assert part.batch.events.latest("id").text == (
        "Part 1: Cloudflare had accepted a request that was in doubt. Its answers are fetched "
        "before any of its rows is sent again."
    )


CHARGED = "Its rows were sent again: 25 rows may be charged twice."
PERHAPS = "Its rows may have been sent again, and are charged twice then."
FETCHED = "Its answers are fetched before any of its rows is sent again."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("again", "said"),
    [
        (AttemptStatus.WRITTEN, PERHAPS),
        (AttemptStatus.UNSURE, PERHAPS),
        (AttemptStatus.ACCEPTED, CHARGED),
        (AttemptStatus.ANSWERED, CHARGED),
        (AttemptStatus.LOST, CHARGED),
        (AttemptStatus.QUARANTINED, CHARGED),
        (AttemptStatus.NOT_SENT, FETCHED),
        (AttemptStatus.BUSY, FETCHED),
        (AttemptStatus.REFUSED, FETCHED),
    ],
)
def test_a_receipt_that_comes_after_its_rows_were_sent_again_says_what_they_cost(
    sandbox: RunningSandbox, part: Part, again: AttemptStatus, said: str
) -> None:
    attempt = written(part)
    attempt_on_record(part, status=again)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.QUEUED, epoch=part.epoch + 1)
    version = Batch.objects.get().version
    sending.apply_outcome(part, attempt, sending.Accepted("late"))
    told = part.batch.events.latest("id")
    assert told.text == f"Part 1: Cloudflare had accepted a request that was in doubt. {said}"
    assert told.part_number == 1
    assert Batch.objects.get().version > version


@pytest.mark.django_db
def test_a_request_before_the_one_in_doubt_is_not_charged_twice(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)
    Attempt.objects.filter(pk=attempt.pk).update(number=2)
    attempt.number = 2
    attempt_on_record(part, number=1, status=AttemptStatus.ANSWERED)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.QUEUED, epoch=part.epoch + 1)
    sending.apply_outcome(part, attempt, sending.Accepted("late"))
    assert part.batch.events.latest("id").text.endswith(FETCHED)


@pytest.mark.django_db
def test_a_receipt_is_stored_before_its_part_is_moved(sandbox: RunningSandbox, part: Part) -> None:
    attempt = written(part)

    def no_part_is_moved(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "batches_part"'):
            raise OperationalError("the database is away")
        return execute(sql, *rest)

    with connection.execute_wrapper(no_part_is_moved), pytest.raises(OperationalError):
        sending.apply_outcome(part, attempt, sending.Accepted("kept"))
    attempt.refresh_from_db()
    assert (attempt.status, attempt.request_id) == (AttemptStatus.ACCEPTED, "kept")


class Failing:
    """A database that refuses the next so many UPDATEs: what django calls an execute wrapper."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if self.left and sql.startswith("UPDATE"):
            self.left -= 1
            raise OperationalError("the database is away")
        return execute(sql, *rest)


def unsent_attempt() -> Attempt:
    """An attempt just before its POST."""
    part = on_record(first_team()).parts.get()
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE)
    return attempt_on_record(part)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("times", [2, 5])
def test_a_database_that_fails_for_a_while_keeps_the_receipt(times: int) -> None:
    attempt = unsent_attempt()
    slept: list[float] = []
    with connection.execute_wrapper(Failing(times)):
        receipts.keep_receipt(attempt, "known", sleep=slept.append)
    assert Attempt.objects.get().request_id == "known"
    assert slept == [1, 2, 4, 8, 16][:times]


@pytest.mark.django_db(transaction=True)
def test_a_receipt_that_is_never_stored_is_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    attempt = unsent_attempt()
    slept: list[float] = []
    with connection.execute_wrapper(Failing(6)), pytest.raises(OperationalError):
        receipts.keep_receipt(attempt, "known", sleep=slept.append)
    assert slept == [1, 2, 4, 8, 16]
    told = (
        f"The receipt of attempt {attempt.pk} (part {attempt.part_id}) is not stored yet: "
        "request_id known"
    )
    logged = [record.getMessage() for record in caplog.records if record.name == receipts.__name__]
    assert logged == [told] * 6


@pytest.mark.django_db(transaction=True)
def test_a_receipt_outlives_the_worker_that_waits_for_the_database(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(_: float) -> None:
        raise Killed

    batch = start(rows(3))
    part = batch.parts.get()
    part.batch = batch
    attempt = written(part)
    with connection.execute_wrapper(Failing(1)), pytest.raises(Killed):
        receipts.keep_receipt(attempt, "known", sleep=killed)
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    kept = Attempt.objects.get()
    assert (kept.status, kept.request_id) == (AttemptStatus.ACCEPTED, "known")
    assert batch.parts.get().status == PartStatus.QUEUED


@pytest.mark.django_db(transaction=True)
def test_a_receipt_in_a_file_is_that_of_one_attempt_alone() -> None:
    """A copy of the database numbers its attempts again, beside the files that were there."""
    attempt = unsent_attempt()
    with connection.execute_wrapper(Failing(1)):
        receipts.keep_receipt(attempt, "known", sleep=lambda _: None)
    assert receipts.kept_in_file(attempt) == "known"
    attempt.created_at += timedelta(microseconds=1)
    assert receipts.kept_in_file(attempt) == ""


@pytest.mark.django_db(transaction=True)
def test_a_storage_that_fails_too_does_not_keep_the_database_from_being_tried_again(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    attempt = unsent_attempt()
    (tmp_path / "file").touch()
    settings.STORAGES = settings.STORAGES | {
        "default": settings.STORAGES["default"] | {"OPTIONS": {"location": tmp_path / "file"}}
    }
    with connection.execute_wrapper(Failing(1)):
        receipts.keep_receipt(attempt, "known", sleep=lambda _: None)
    assert f"The receipt of attempt {attempt.pk} cannot be kept in a file either" in caplog.text
    assert Attempt.objects.get().request_id == "known"


@pytest.mark.django_db(transaction=True)
def test_each_try_has_a_connection_of_its_own() -> None:
    attempt = unsent_attempt()
    open_when_it_slept: list[bool] = []

    def sleep(_: float) -> None:
        open_when_it_slept.append(connection.connection is not None)

    with connection.execute_wrapper(Failing(2)):
        receipts.keep_receipt(attempt, "known", sleep=sleep)
    assert open_when_it_slept == [False, False]


@pytest.mark.django_db(transaction=True)
def test_in_a_transaction_that_is_broken_nothing_is_tried_again() -> None:
    attempt = unsent_attempt()
    slept: list[float] = []
    with (
        connection.execute_wrapper(Failing(1)),
        pytest.raises(OperationalError),
        transaction.atomic(),
    ):
        receipts.keep_receipt(attempt, "known", sleep=slept.append)
    assert slept == []


@pytest.mark.django_db
def test_an_answer_that_came_is_not_lost_to_an_older_request_whose_receipt_came_late(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(3))
    part = batch.parts.get()
    part.batch = batch
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    prepared = sending.write_attempt(part)
    assert prepared is not None
    # Nobody knows what became of it, and somebody sends the part again. Both are accepted.
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    assert decisions.send_again(batch.parts.get(), by=None)
    send_all()
    attempt, body = prepared
    outcome = sending.post(shared_client(batch.connection), model=batch.ask.model, body=body)
    sending.apply_outcome(part, attempt, outcome)
    sandbox.script({"fault": "failed", "call": "poll", "items": [1]})
    poll_all()
    assert counted(batch) == {"answered": 2, "failed": 1}
    # A retry finds the older request, which has an answer where the newer one has none.
    assert decisions.retry(batch, by=None)
    sandbox.script({"fault": "failed", "call": "poll", "items": [0]})
    work(batch)
    assert counted(batch) == in_files(batch) == {"answered": 3}
    assert posts(sandbox) == 2
