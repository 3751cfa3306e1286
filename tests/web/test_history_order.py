"""The places of batches in the history: each once, whichever page is asked for."""

import re
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus
from batchui.teams.models import Team
from batchui.web import history_order
from batchui.web.history_filters import STATUS_FILTERS, Filters, chosen
from tests.web.test_history import made, names
from tests.web.visiting import said

pytestmark = pytest.mark.django_db

PAGE = 3


@pytest.fixture
def history(team: Team) -> list[Batch]:
    """Three batches of each status, of different ages, in the order of the page."""
    now = timezone.now()
    batches = [
        made(team, f"{status.value} {at}", status, created_at=now - timedelta(hours=7 * at % 11))
        for at, status in enumerate([*BatchStatus] * 3)
    ]
    for at, batch in enumerate(batches):  # no two of one moment
        batch.created_at += timedelta(seconds=at)
        batch.save(update_fields=["created_at"])
    newest = sorted(batches, key=lambda batch: batch.created_at, reverse=True)
    return sorted(newest, key=lambda batch: batch.status not in ACTIVE_BATCHES)


@pytest.mark.parametrize("status", ["", "active", "draft", "finished", "problems", "stopped"])
def test_each_batch_has_one_place_on_one_page(
    team: Team, history: list[Batch], status: str
) -> None:
    shown = STATUS_FILTERS[status][1] if status else {*BatchStatus} - STATUS_FILTERS["draft"][1]
    expected = [batch.pk for batch in history if batch.status in shown]
    found = chosen(team, Filters(status=status)).ids
    assert len(found) == len(expected)
    pages = [found[first : first + PAGE] for first in range(0, len(found), PAGE)]
    assert [pk for page in pages for pk in page] == expected
    assert [found[at] for at in range(len(found))] == expected
    assert found[len(expected) :] == []


def test_many_are_not_counted_again_for_some_seconds(
    web: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_order, "KEPT_FROM", 26)
    monkeypatch.setattr(history_order, "_kept", {})
    for number in range(25):
        made(team, f"batch {number}")
    assert "1–25 of" not in said(web.get(reverse("batches")))
    made(team, "one more")
    assert "1–25 of 26 batches" in said(web.get(reverse("batches")))  # fewer were not kept
    made(team, "newest")
    assert names(web)[0] == "newest"
    assert "1–25 of 26 batches" in said(web.get(reverse("batches")))
    assert "1–25 of 27 batches" in said(web.get(f"{reverse('batches')}?q=csv"))
    made(team, "under way", BatchStatus.RUNNING)
    assert names(web)[0] == "under way"
    assert "1–25 of 27 batches" in said(web.get(reverse("batches")))
    for key, (until, count) in history_order._kept.items():
        assert 0 < until - time.monotonic() <= history_order.KEPT_SECONDS
        history_order._kept[key] = (time.monotonic(), count)
    assert "1–25 of 28 batches" in said(web.get(reverse("batches")))


def test_the_counts_of_two_teams_and_of_two_filters_are_kept_apart(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_order, "KEPT_FROM", 1)
    monkeypatch.setattr(history_order, "_kept", {})
    made(team, "one")
    made(team, "two", BatchStatus.STOPPED)
    other = Team.objects.create(name="Others")
    assert len(chosen(team, Filters()).ids) == 2
    assert len(chosen(team, Filters(status="stopped")).ids) == 1
    assert len(chosen(other, Filters()).ids) == 0


def test_what_is_kept_of_counts_has_an_end(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_order, "KEPT_FROM", 1)
    monkeypatch.setattr(history_order, "_kept", {("another", number): (0, 1) for number in "ab"})
    monkeypatch.setattr(history_order, "_MOST_KEPT", 2)
    made(team, "one")
    assert len(chosen(team, Filters()).ids) == 1
    assert len(history_order._kept) == 1


def test_the_history_reads_and_counts_along_its_indexes(web: Client, team: Team) -> None:
    """SQLite says so; PostgreSQL decides by how many there are."""
    made(team, "running", BatchStatus.RUNNING)
    made(team, "draft", BatchStatus.DRAFT)
    for number in range(60):
        made(team, f"batch {number}")
    if connection.vendor != "sqlite":
        return
    for query in ("", "?page=2", "?status=stopped", "?status=problems", "?status=draft"):
        with CaptureQueriesContext(connection) as captured:
            names(web, query)
        read = [one["sql"] for one in captured if 'FROM "batches_batch" WHERE' in one["sql"]]
        assert read
        for sql in read:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql.replace('%', '%%')}")
                plan = " ".join(row[3] for row in cursor.fetchall())
            assert re.search("USING COVERING INDEX batch_(history|by_status)", plan), (sql, plan)
            assert "B-TREE" not in plan, (sql, plan)
