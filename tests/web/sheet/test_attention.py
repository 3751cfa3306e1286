"""The tab “Needs attention”, and asking rows again from there, from a row, or as ticked."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.sheet import digests
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team
from tests.batches.sheet.made import made, no, yes
from tests.web.visiting import HTMX, html, said

pytestmark = pytest.mark.django_db

TOO_LONG = (
    "The model could not answer this row. “(24577) exceeded this model context window (24000)”"
)
BROKEN = reason_of("failed", "broken").key


@pytest.fixture
def some(team: Team) -> Batch:
    return made(
        team, [yes(), no(), no("failed", TOO_LONG)], [no(), no("failed", TOO_LONG), no("empty")]
    )


def tab(web: Client, batch: Batch) -> Any:
    return web.get(reverse("attention", args=[batch.pk]))


def confirm(web: Client, batch: Batch, query: str) -> Any:
    address = reverse("confirm_ask_again", args=[batch.pk])
    return web.get(f"{address}?{query}", headers=HTMX)


def ask(web: Client, batch: Batch, **form: Any) -> Any:
    return web.post(reverse("ask_again_rows", args=[batch.pk]), form)


def test_every_reason_stands_there_once_with_its_count_and_its_next_step(
    web: Client, some: Batch
) -> None:
    page = said(tab(web, some))
    assert "2 rows: too long for this model, which reads about 18,000 words" in page
    assert "Choose a model that reads more, or shorten the texts." in page
    assert "2 rows: broken" in page
    assert "1 row: empty: the model sent nothing back" in page
    assert page.count("too long for this model") == 1


def test_a_reason_leads_to_its_rows_and_can_be_asked_again(web: Client, some: Batch) -> None:
    page = html(tab(web, some))
    assert f"?show=reason%3A{BROKEN}" in page
    assert f"?reason={BROKEN}" in page


def test_while_a_batch_goes_on_nothing_is_asked_again(web: Client, some: Batch) -> None:
    Batch.objects.update(status=BatchStatus.RUNNING)
    assert "ask-again" not in html(tab(web, some))
    assert "No row is chosen" in said(confirm(web, some, f"reason={BROKEN}"))


def test_a_batch_without_problems_says_so(web: Client, team: Team) -> None:
    assert "No row needs attention." in said(tab(web, made(team, [yes()])))


def test_what_is_not_counted_yet_is_said(
    web: Client, some: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", -1)
    assert "0 of 5 rows are counted so far" in said(tab(web, some))


def test_before_rows_are_asked_again_the_cost_is_said(web: Client, some: Batch) -> None:
    dialog = said(confirm(web, some, f"reason={BROKEN}"))
    assert "Ask 2 rows again?" in dialog
    assert "no other row is: free in the sandbox." in dialog


def test_of_answered_rows_the_dialog_says_that_they_are_paid_for_again(
    web: Client, some: Batch
) -> None:
    dialog = said(confirm(web, some, "rows=1&rows=2"))
    assert "Ask 2 rows again?" in dialog
    assert "1 of them has an answer already, and is paid for a second time" in dialog


def test_the_rows_of_a_reason_are_asked_again(web: Client, some: Batch) -> None:
    response = ask(web, some, reason=BROKEN)
    assert response["Location"] == f"{some.get_absolute_url()}?show="
    some.refresh_from_db()
    assert (some.failed, some.waiting, some.status) == (2, 2, BatchStatus.QUEUED)
    assert "2 rows are asked again." in html(web.get(response["Location"]))


def test_ticked_rows_are_asked_again(web: Client, some: Batch) -> None:
    ask(web, some, rows=["1", "6", "x", "-1", "9" * 50, "２"])
    some.refresh_from_db()
    assert (some.answered, some.empty, some.failed) == (1, 0, 4)
    assert [part.asked_again["rows"] for part in some.parts.order_by("number")] == [[0], [2]]


@pytest.mark.parametrize("form", [{}, {"rows": "99"}, {"reason": "no-such-reason"}])
def test_nothing_to_ask_is_said_kindly(web: Client, some: Batch, form: dict[str, str]) -> None:
    response = ask(web, some, **form)
    assert "There was nothing to ask again." in html(web.get(response["Location"]))


def test_rows_of_a_started_batch_have_a_box_which_is_hidden_until_it_has_ended(
    web: Client, some: Batch
) -> None:
    """Hidden by the style sheet: see `test_live_in_the_browser.py`."""
    address = f"{some.get_absolute_url()}?show="
    assert "data-ticks" in html(web.get(address))
    Batch.objects.update(status=BatchStatus.RUNNING)
    assert "data-ticks" in html(web.get(address))


def test_empty_answers_can_count_as_answered_beside_asking_them_again(
    web: Client, some: Batch
) -> None:
    assert html(tab(web, some)).count("Count it as answered") == 1
    web.post(reverse("count_empty", args=[some.pk]))
    assert "Count it as answered" not in html(tab(web, some))
