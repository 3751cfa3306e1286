"""What people decide of a whole batch: when it may be edited, started, stopped, deleted."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from batchui import security_log
from batchui.batches import decisions, deleting, long_tasks, many_parts
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, another_account, on_record, rows

pytestmark = pytest.mark.django_db

ASK = Ask(model=MODEL, template=TEMPLATE)


# -- edit and start -----------------------------------------------------------------------------


def test_a_draft_is_edited_and_its_name_only_where_one_is_given(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.DRAFT, name="As it was")
    assert decisions.edit(batch, ask=ASK)
    batch.refresh_from_db()
    assert (batch.template, batch.name) == (TEMPLATE, "As it was")
    assert decisions.edit(batch, ask=ASK, name="Renamed")
    batch.refresh_from_db()
    assert batch.name == "Renamed"


def test_an_edit_changes_the_one_draft_it_is_for(team: Team) -> None:
    other = on_record(team, status=BatchStatus.DRAFT, name="Another", template="As it was")
    assert decisions.edit(on_record(team, status=BatchStatus.DRAFT), ask=ASK, name="Renamed")
    other.refresh_from_db()
    assert (other.template, other.name) == ("As it was", "Another")


def test_of_a_page_the_latest_change_is_saved_whichever_comes_last(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.DRAFT)

    def typed(template: str, page: str, number: int) -> tuple[bool, str]:
        change = decisions.Change(page, number)
        is_saved = decisions.edit(batch, ask=replace(ASK, template=template), change=change)
        batch.refresh_from_db()
        return is_saved, batch.template

    assert typed("third", "one", 3) == (True, "third")
    assert typed("second", "one", 2) == (False, "third")
    assert typed("third, once more", "one", 3) == (True, "third, once more")
    assert typed("on another page", "other", 1) == (True, "on another page")
    assert typed("fourth", "one", 4) == (True, "fourth")
    assert decisions.edit(batch, ask=ASK)


@pytest.mark.parametrize(
    "fields",
    [{"status": BatchStatus.QUEUED}, {"status": BatchStatus.DRAFT, "deleted_at": timezone.now()}],
    ids=["started", "deleted"],
)
def test_what_is_no_draft_is_not_edited(team: Team, fields: dict[str, Any]) -> None:
    batch = on_record(team, **fields)
    assert not decisions.edit(batch, ask=ASK, name="Renamed")
    batch.refresh_from_db()
    assert (batch.template, batch.name) == ("", "texts")


@pytest.mark.parametrize("status", sorted(set(BatchStatus) - {BatchStatus.DRAFT}))
def test_only_a_draft_is_started(team: Team, status: BatchStatus) -> None:
    batch = on_record(team, status=status)
    assert not decisions.start(batch, by=None, ask=ASK)
    batch.refresh_from_db()
    assert (batch.status, batch.template) == (status, "")


def test_a_start_begins_anew_what_an_earlier_one_left(
    sandbox: RunningSandbox, receive: MakeBatch, ana: User
) -> None:
    batch = receive(rows(5))
    Batch.objects.update(problem="Row 3 is blank.", problem_rows=[{"row": 3}], progress_rows=3)
    batch.refresh_from_db()
    before = timezone.now()
    assert decisions.start(batch, by=ana, ask=ASK)
    batch.refresh_from_db()
    assert (batch.problem, batch.problem_rows, batch.progress_rows) == ("", [], 0)
    assert batch.started_at is not None
    assert batch.started_at >= before
    assert batch.started_by == ana
    assert batch.name == "texts"
    assert batch.events.get(text="Started.").actor == ana


def test_a_start_that_is_to_prepare_now_cuts_also_a_large_file(
    sandbox: RunningSandbox, receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(rows(5))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    assert decisions.start(batch, by=None, ask=ASK, prepare_now=True)
    batch.refresh_from_db()
    assert (batch.status, batch.part_count) == (BatchStatus.QUEUED, 1)


def test_a_start_may_rename(sandbox: RunningSandbox, receive: MakeBatch) -> None:
    batch = receive(rows(5))
    assert decisions.start(batch, by=None, ask=ASK, name="Renamed")
    batch.refresh_from_db()
    assert batch.name == "Renamed"


def test_a_start_goes_to_the_connection_of_now(
    sandbox: RunningSandbox, receive: MakeBatch, settings: Any
) -> None:
    batch = receive(rows(5))
    another_account(settings)
    assert decisions.start(batch, by=None, ask=ASK)
    batch.refresh_from_db()
    assert batch.connection.account_id == "account"


# -- stop ---------------------------------------------------------------------------------------


def test_stop_ends_what_waits_and_leaves_what_is_under_way(team: Team, ana: User) -> None:
    batch = on_record(team, parts=len(PartStatus), status=BatchStatus.RUNNING)
    other = on_record(team)
    for part, status in zip(batch.parts.order_by("number"), PartStatus, strict=True):
        Part.objects.filter(pk=part.pk).update(status=status, lease_until=timezone.now())
    assert decisions.stop(batch, by=ana)
    became = dict(zip(PartStatus, batch.parts.order_by("number"), strict=True))
    assert {was: part.status for was, part in became.items()} == {
        PartStatus.READY: PartStatus.STOPPED,
        PartStatus.SENDING: PartStatus.SENDING,
        PartStatus.HELD: PartStatus.STOPPED,
        PartStatus.UNSURE: PartStatus.DONE,
        PartStatus.QUEUED: PartStatus.QUEUED,
        PartStatus.RUNNING: PartStatus.RUNNING,
        PartStatus.DONE: PartStatus.DONE,
        PartStatus.STOPPED: PartStatus.STOPPED,
    }
    assert became[PartStatus.HELD].unsent == 10
    assert became[PartStatus.HELD].lease_until is None
    assert became[PartStatus.RUNNING].lease_until is not None
    assert became[PartStatus.UNSURE].missing == 10
    batch.refresh_from_db()
    assert (batch.status, batch.unsent, batch.missing) == (BatchStatus.STOPPING, 20, 10)
    assert batch.events.get(kind="stopping").actor == ana
    other.refresh_from_db()
    assert other.stop_requested_at is None
    assert other.parts.get().status == PartStatus.READY


def test_stop_counts_the_parts_it_ends(team: Team) -> None:
    batch = on_record(team, parts=4)
    for number, status in ((3, PartStatus.UNSURE), (4, PartStatus.RUNNING)):
        batch.parts.filter(number=number).update(status=status)
    assert many_parts.stop(batch.parts.all()) == 3
    assert many_parts.stop(batch.parts.all()) == 0


@pytest.mark.parametrize("status", BatchStatus)
def test_stop_means_something_while_something_may_be_sent(team: Team, status: BatchStatus) -> None:
    stoppable = {BatchStatus.QUEUED, BatchStatus.RUNNING, BatchStatus.ATTENTION}
    batch = on_record(team, status=status)
    assert decisions.stop(batch, by=None) is (status in stoppable)
    assert batch.events.exists() is (status in stoppable)


# -- delete -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", BatchStatus)
def test_what_is_on_its_way_is_not_deleted(team: Team, ana: User, status: BatchStatus) -> None:
    ended = {BatchStatus.FINISHED, BatchStatus.PROBLEMS, BatchStatus.FAILED, BatchStatus.STOPPED}
    may = status in {BatchStatus.CHECKING, BatchStatus.DRAFT} | ended
    batch = on_record(team, status=status)
    assert deleting.delete(batch, by=ana) is may
    batch.refresh_from_db()
    assert (batch.deleted_at is not None) is may
    assert batch.deleted_by == (ana if may else None)


@pytest.mark.parametrize("status", BatchStatus)
def test_nothing_but_a_draft_is_discarded(team: Team, ana: User, status: BatchStatus) -> None:
    batch = on_record(team, status=status)
    may = status in {BatchStatus.CHECKING, BatchStatus.DRAFT}
    assert deleting.discard(batch, by=ana) is may
    batch.refresh_from_db()
    assert (batch.deleted_at is not None) is may
    assert batch.deleted_by == (ana if may else None)


def test_a_delete_takes_away_the_one_batch_it_is_for(team: Team, ana: User) -> None:
    batch, other = (on_record(team, status=BatchStatus.FINISHED) for _ in range(2))
    assert deleting.delete(batch, by=ana)
    other.refresh_from_db()
    assert (other.deleted_at, other.deleted_by) == (None, None)


def test_who_deleted_which_batch_is_in_the_security_log(
    team: Team, ana: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, security_log.logger.name)
    batch = on_record(team, status=BatchStatus.FINISHED)
    assert deleting.delete(batch, by=ana)
    assert not deleting.delete(batch, by=ana)
    told = [(record.getMessage(), record.__dict__["facts"]) for record in caplog.records]
    assert told == [("batch deleted", {"who": ana.in_log, "batch": str(batch.pk)})]


def test_a_batch_is_deleted_once(team: Team, ana: User) -> None:
    batch = on_record(team, status=BatchStatus.FINISHED)
    assert deleting.delete(batch, by=ana)
    assert not deleting.delete(batch, by=None)
    batch.refresh_from_db()
    assert batch.deleted_by == ana


def test_a_retry_opens_a_part_with_one_row_to_send_and_no_part_without(team: Team) -> None:
    batch = on_record(team, parts=2)
    batch.parts.update(status=PartStatus.DONE, answered=F("rows"))
    batch.parts.filter(number=2).update(answered=F("rows") - 1, failed=1)
    Batch.objects.update(status=BatchStatus.PROBLEMS, failed=1)
    assert decisions.retry(batch, by=None)
    opened = batch.parts.filter(status=PartStatus.READY).values_list("number", flat=True)
    assert list(opened) == [2]
