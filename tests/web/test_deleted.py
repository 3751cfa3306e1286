"""The page of deleted batches, and Undo."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from batchui.batches import deleting
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team, User
from tests.batches.conftest import on_record
from tests.teams.people import join, outsider
from tests.web.visiting import html, said, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended(team: Team, ana: User) -> Batch:
    return on_record(team, status=BatchStatus.FINISHED, created_by=ana, name="May")


def test_undo_stands_in_the_message_and_brings_it_back(web: Client, ended: Batch) -> None:
    shown = web.post(reverse("delete", args=[ended.pk]), follow=True)
    assert "“May” was deleted. It can be brought back for 30 days." in html(shown)
    undo = reverse("bring_back", args=[ended.pk])
    assert f'action="{undo}"' in html(shown)
    assert web.post(undo)["Location"] == ended.get_absolute_url()
    assert ended.get_absolute_url() in html(web.get(reverse("batches")))


def test_it_is_offered_to_who_may_do_it(web: Client, ana: User, ended: Batch) -> None:
    page = ended.get_absolute_url()
    assert "Delete …" in said(web.get(page))
    ben = join(ana)
    assert "Delete …" not in said(signed_in(ben).get(page))
    Batch.objects.update(created_by=ben)
    assert "Delete …" in said(signed_in(ben).get(page))


def test_its_page_says_until_when_and_offers_it(web: Client, ana: User, ended: Batch) -> None:
    deleting.delete(ended, by=ana)
    gone = web.get(ended.get_absolute_url())
    assert gone.status_code == 410
    assert "It can be brought back until" in said(gone)
    assert reverse("bring_back", args=[ended.pk]) in html(gone)
    colleague = signed_in(join(ana)).get(ended.get_absolute_url())
    assert "by who made it or by an administrator" in said(colleague)
    assert reverse("bring_back", args=[ended.pk]) not in html(colleague)
    Batch.objects.update(kept_until=None)
    assert "Its file and its answers are gone." in said(web.get(ended.get_absolute_url()))


def test_the_list_offers_each_to_who_may_have_it(web: Client, ana: User, ended: Batch) -> None:
    assert "Nothing is deleted" in said(web.get(reverse("deleted")))
    deleting.delete(ended, by=ana)
    action = reverse("bring_back", args=[ended.pk])
    assert action in html(web.get(reverse("deleted")))
    colleague = html(signed_in(join(ana)).get(reverse("deleted")))
    assert action not in colleague
    assert "Ana can bring it back" in colleague
    assert "“May”" not in html(signed_in(outsider()).get(reverse("deleted")))


@pytest.mark.parametrize("name", ["bring_back", "let_go"])
def test_a_colleague_and_another_team_change_nothing(
    web: Client, ana: User, ended: Batch, name: str
) -> None:
    deleting.delete(ended, by=ana)
    before = list(Batch.objects.values())
    for person, told in ((join(ana), "Only who made this batch"), (outsider(), "up to date")):
        shown = signed_in(person).post(reverse(name, args=[ended.pk]), follow=True)
        assert told in html(shown)
    assert list(Batch.objects.values()) == before


def test_what_is_let_go_cannot_be_brought_back(web: Client, ana: User, ended: Batch) -> None:
    deleting.delete(ended, by=ana)
    shown = web.post(reverse("let_go", args=[ended.pk]), follow=True)
    assert "“May” is gone for good." in html(shown)
    web.post(reverse("bring_back", args=[ended.pk]))
    ended.refresh_from_db()
    assert ended.deleted_at is not None


def test_the_list_takes_as_many_queries_for_ten_as_for_one(
    web: Client, ana: User, team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 9):
        for _ in range(count):
            deleting.delete(on_record(team, status=BatchStatus.FINISHED), by=ana)
        with django_assert_num_queries(5):
            web.get(reverse("deleted"))
