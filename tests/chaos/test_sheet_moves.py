"""What people do in the sheet, as chaos presses it: each does something, and is counted rightly."""

import random

import pytest
from django.test import Client

from batchui.batches import corrections, deleting, tries
from batchui.batches.models import Batch, Part, Search, TriedRow
from batchui.batches.results import part_results
from batchui.batches.states import BatchStatus
from batchui.chaos import actors, forms, sheet_moves, verdict
from batchui.chaos.actors import DECISIONS, WEIGHTS
from batchui.chaos.draws import Draws
from batchui.chaos.presses import ADDRESSES, ANSWERED
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.trying import ask_all, begun
from tests.teams.people import set_up
from tests.web.visiting import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(db: None) -> User:
    return set_up()


@pytest.fixture
def team(ana: User) -> Team:
    """Whose batches `receive` and `start` make."""
    return ana.membership.team


@pytest.fixture
def web(ana: User) -> Client:
    return signed_in(ana)


@pytest.fixture
def ended(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """Ten rows, of which one is empty."""
    sandbox.script({"fault": "empty", "items": [4]})
    random.seed(1)
    return work(start(rows(10)))


def press(name: str) -> object:
    target = actors.target_of(name, 0.0)
    return target and DECISIONS[name].press(target, by=None)


def test_everything_that_is_drawn_can_be_pressed() -> None:
    assert set(WEIGHTS) == set(DECISIONS)


@pytest.mark.parametrize("name", ["ask a reason again", "ask ticked again"])
def test_rows_are_asked_again(ended: Batch, name: str) -> None:
    assert press(name)
    ended.refresh_from_db()
    assert ended.status == BatchStatus.RUNNING or ended.status == BatchStatus.QUEUED
    assert work(ended).has_ended


def test_the_others_change_a_batch_that_has_ended(ended: Batch) -> None:
    assert press("count empty") == 1
    assert actors.target_of("count empty", 0.0) is None
    assert press("rename")
    ended.refresh_from_db()
    assert ended.name.startswith("Named ")
    press("search")
    assert Search.objects.exists()
    assert press("delete")
    assert press("bring back")
    assert not deleting.deleted_of(ended.team).exists()


def test_a_draft_is_tried_and_no_row_is_asked_twice(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    draft = receive(rows(10))
    Batch.objects.update(model="@cf/moonshotai/kimi-k2.6", template="{{text}}")
    sandbox.sandbox.calls.clear()
    for _ in range(3):
        while not press("try rows"):  # there are no rows of an earlier try yet
            pass
        assert not verdict.is_quiet()
        assert ask_all() > 0
        assert verdict.is_quiet()
    assert list(verdict.asked_twice(sandbox.base_url)) == []
    assert tries.of(draft).count() == 3
    press("stop try")
    assert tries.of(draft).count() == 2


def test_rows_with_the_same_text_are_no_row_that_was_asked_twice(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    receive(b"id,text\n" + b"".join(b"%d,the same\n" % n for n in range(1, 11)))
    Batch.objects.update(model="@cf/moonshotai/kimi-k2.6", template="{{text}}")
    sandbox.sandbox.calls.clear()
    while not press("try rows"):  # there are no rows of an earlier try yet
        pass
    assert ask_all() > 1
    assert list(verdict.asked_twice(sandbox.base_url)) == []


def test_a_row_of_a_try_that_is_asked_twice_is_found(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    sandbox.sandbox.calls.clear()
    one = begun(receive(rows(3)), count=1)
    item = one.rows.get().item
    assert ask_all() == 1
    TriedRow.objects.update(status="waiting", item=item)
    assert ask_all() == 1
    [found] = verdict.asked_twice(sandbox.base_url)
    assert (found.invariant, found.kind) == (4, "tried twice")


def test_corrections_that_went_are_found_and_those_that_were_put_back_are_not(
    ended: Batch,
) -> None:
    while Part.objects.get().edited < 2:
        sheet_moves.correct(ended, None)
    seen = verdict.edits()
    assert len(seen) == 2
    assert list(verdict.lost_edits(seen)) == []
    part = Part.objects.get()
    corrected = next(one for one in part_results(part) if one.edit is not None)
    back = corrections.put_back(
        ended, corrected.row, seen=sheet_moves.seen_of(corrected.answer, (), 0), by=None
    )
    assert back.is_saved
    assert list(verdict.lost_edits(seen)) == []
    Part.objects.update(edited=0)  # so that the other one seems to be gone
    ended.events.filter(kind=corrections.PUT_BACK).update(times=1)
    [found] = verdict.lost_edits(seen)
    assert (found.invariant, found.kind, found.batch) == (2, "lost edits", ended.pk)
    Part.objects.update(times_chosen=1)  # asked again on purpose: another answer may have come
    assert list(verdict.lost_edits(seen)) == []


def test_every_decision_has_an_address_or_a_form() -> None:
    assert set(WEIGHTS) == {*ADDRESSES, *forms.FORMS, *forms.LOOKS}


@pytest.mark.parametrize("name", forms.FORMS)
def test_the_pages_take_the_forms_that_are_sent(
    ended: Batch, receive: MakeBatch, web: Client, name: str
) -> None:
    """A form with a field that the page does not know would press nothing, and find nothing."""
    batch = receive(rows(10)) if "try" in name else ended
    if name == "stop try":
        begun(batch)
    form = forms.FORMS[name](batch, random.Random(3))
    assert form is not None
    before = Batch.objects.get(pk=batch.pk)
    reply = web.post(f"/batches/{batch.pk}/{form.address}", form.fields)
    assert reply.status_code == ANSWERED
    after = Batch.objects.get(pk=batch.pk)
    match name:
        case "try rows":
            assert tries.of(batch).count() == 1 or form.fields["which"] == "same"
        case "stop try":
            assert tries.of(batch).filter(stopped_at=None).count() == 0
        case _:
            assert (before.name, before.version) != (after.name, after.version)


def test_the_page_of_a_draft_takes_the_answer_columns(
    sandbox: RunningSandbox, receive: MakeBatch, web: Client
) -> None:
    draws = Draws(3)
    file = next(one for one in iter(draws.file, None) if one.ask.answer_columns)
    batch = receive(file.content, file.name)
    assert web.post(f"/batches/{batch.pk}/start/", forms.start(file)).status_code == ANSWERED
    batch.refresh_from_db()
    assert batch.status == BatchStatus.QUEUED
    assert (batch.ask.answer_columns, batch.ask.model) == (file.ask.answer_columns, file.ask.model)
