"""What tells that a batch has ended, to a page that nobody looks at."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.web import telling
from tests.teams.people import outsider
from tests.web.test_history import made
from tests.web.visiting import element, html

pytestmark = pytest.mark.django_db


def ended(web: Client, *asked: object) -> list[str]:
    """The titles of the batches that have ended among these."""
    answer = web.get(reverse("ended"), {"batch": list(asked)})
    return [one["title"] for one in answer.json()["ended"]] if answer.status_code == 200 else []


def test_those_that_have_ended_are_told(web: Client, team: Team) -> None:
    runs = made(team, "runs", BatchStatus.RUNNING)
    over = made(team, "over", answered=10)
    assert ended(web, runs.pk) == []
    assert web.get(reverse("ended"), {"batch": runs.pk}).status_code == 204
    assert ended(web, runs.pk, over.pk) == ["Finished: over"]
    Batch.objects.filter(pk=runs.pk).update(status=BatchStatus.STOPPED)
    assert sorted(ended(web, runs.pk, over.pk)) == ["Finished: over", "Stopped: runs"]


def test_nothing_is_told_of_another_team_or_a_deleted_batch(web: Client, team: Team) -> None:
    theirs = outsider().membership.team
    ensure_connection(theirs)
    gone = made(team, "gone", deleted_at=timezone.now())
    assert ended(web, made(theirs, "theirs").pk, gone.pk, "x", "\0") == []


def test_so_many_are_asked_for_at_most(
    web: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "MOST_WATCHED", 2)
    assert len(ended(web, *(made(team, f"b{n}").pk for n in range(3)))) == 2


def test_many_take_as_many_queries_as_one(
    web: Client, team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    batches = [made(team, f"b{n}") for n in range(20)]
    with django_assert_num_queries(4):
        ended(web, batches[0].pk)
    with django_assert_num_queries(4):
        ended(web, *(batch.pk for batch in batches))


def test_what_is_under_way_is_marked_to_be_watched(web: Client, team: Team) -> None:
    runs, over = made(team, "runs", BatchStatus.RUNNING), made(team, "over")
    page = html(web.get(reverse("batches")))
    assert f'data-active="{runs.pk}"' in element(page, f"batch-{runs.pk}")
    assert "data-active" not in element(page, f"batch-{over.pk}")
    assert "data-active" in element(html(web.get(runs.get_absolute_url())), "live")
    assert "data-active" not in element(html(web.get(over.get_absolute_url())), "live")
