"""Deleting can be undone for 30 days, by who may delete: the author or an administrator."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import deleting, files
from batchui.batches.models import Batch
from batchui.batches.owners import may_delete, may_edit
from batchui.batches.states import BatchStatus
from batchui.teams.models import Role, Team, User
from batchui.worker.sweep import FILES_OUTLIVE, sweep
from tests.batches.conftest import MakeBatch, on_record, rows
from tests.teams.people import join, outsider, set_up

pytestmark = pytest.mark.django_db


def kept(batch: Batch) -> bool:
    try:
        files.open_file(batch.source_file).close()
    except FileNotFoundError:
        return False
    return True


@pytest.fixture
def ana(db: None) -> User:
    return set_up()


@pytest.fixture
def team(ana: User) -> Team:
    return ana.membership.team


@pytest.fixture
def bens(ana: User, team: Team) -> Batch:
    return on_record(team, status=BatchStatus.FINISHED, created_by=join(ana))


def test_who_may_delete(ana: User, team: Team, bens: Batch) -> None:
    cem = join(ana, name="Cem", email="cem@example.com")
    admin = join(ana, name="Dora", email="dora@example.com", role=Role.ADMIN)
    may = {person: may_delete(bens, person) for person in (bens.created_by, cem, admin, ana, None)}
    assert may == {bens.created_by: True, cem: False, admin: True, ana: True, None: True}
    bens.started_by = cem
    assert may_delete(bens, cem)
    assert not may_delete(bens, outsider())
    assert may_delete(Batch(team=team), cem)  # made at the terminal


def test_a_draft_is_changed_by_its_author_alone(ana: User, team: Team) -> None:
    ben = join(ana)
    for status in (BatchStatus.CHECKING, BatchStatus.DRAFT, BatchStatus.PREPARING):
        draft = Batch(team=team, status=status, created_by=ben)
        assert [may_edit(draft, who) for who in (ben, None, ana)] == [True, True, False]
        assert may_edit(Batch(team=team, status=status), ana)
    assert may_edit(Batch(team=team, status=BatchStatus.FINISHED, created_by=ben), ana)


def test_nobody_else_deletes_brings_back_or_lets_go(ana: User, bens: Batch) -> None:
    cem = join(ana, name="Cem", email="cem@example.com")
    assert not deleting.delete(bens, by=cem)
    assert deleting.delete(bens, by=bens.created_by)
    assert not deleting.bring_back(bens, by=cem)
    assert not deleting.let_go(bens, by=cem)
    bens.refresh_from_db()
    assert bens.deleted_at is not None
    assert bens.kept_until is not None


def test_what_is_brought_back_is_as_it_was(ana: User, bens: Batch) -> None:
    before = Batch.objects.filter(pk=bens.pk).values().get()
    deleting.delete(bens, by=ana)
    assert list(deleting.deleted_of(bens.team)) == [bens]
    assert deleting.bring_back(bens, by=ana)
    after = Batch.objects.filter(pk=bens.pk).values().get()
    changed = {name for name, value in after.items() if value != before[name]}
    assert changed == {"epoch", "version"}
    assert not deleting.bring_back(bens, by=ana)


def test_a_draft_that_was_brought_back_has_its_file(ana: User, receive: MakeBatch) -> None:
    draft = receive(rows(5))
    deleting.discard(draft, by=ana)
    Batch.objects.update(deleted_at=timezone.now() - timedelta(days=29))
    sweep()
    assert deleting.bring_back(draft, by=ana)
    assert kept(draft)


def test_after_thirty_days_it_is_gone(ana: User, receive: MakeBatch) -> None:
    draft = receive(rows(5))
    deleting.discard(draft, by=ana)
    draft.refresh_from_db()
    assert draft.deleted_at is not None
    assert draft.kept_until == draft.deleted_at + timedelta(days=30)
    then = timezone.now() - timedelta(seconds=1)
    Batch.objects.update(kept_until=then, deleted_at=then - deleting.KEPT)
    assert not deleting.bring_back(draft, by=ana)
    assert not deleting.deleted_of(draft.team)
    sweep()
    assert not kept(draft)


def test_what_is_let_go_goes_with_the_next_sweeps(ana: User, receive: MakeBatch) -> None:
    draft = receive(rows(5))
    assert not deleting.let_go(draft, by=ana)
    deleting.discard(draft, by=ana)
    assert deleting.let_go(draft, by=ana)
    assert not deleting.bring_back(draft, by=ana)
    Batch.objects.update(deleted_at=timezone.now() - FILES_OUTLIVE - timedelta(minutes=1))
    sweep()
    assert not kept(draft)


def test_another_teams_deleted_batches_are_not_in_the_list(ana: User, bens: Batch) -> None:
    deleting.delete(bens, by=ana)
    assert not deleting.deleted_of(outsider().membership.team)
