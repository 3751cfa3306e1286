"""The tab “Needs attention”, and asking rows again from there, from a row, or as ticked."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.answer_reading import CUT_SHORT
from batchui.batches.models import Batch, Part
from batchui.batches.sheet import digests
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team
from tests.batches.sheet.made import cut, made, no, yes
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


# -- answers that were cut off ------------------------------------------------------------------


@pytest.fixture
def short(team: Team) -> Batch:
    """Rows 2 and 4 were cut off, row 3 before its first word."""
    return made(team, [yes(), cut(), no("empty", CUT_SHORT)], [cut()], max_tokens=256)


def test_answers_that_were_cut_off_need_attention_and_lead_to_a_higher_limit(
    web: Client, short: Batch
) -> None:
    page = tab(web, short)
    assert "2 rows: cut off at the longest answer" in said(page)
    assert "1 row: the longest answer was used up before anything was written" in said(page)
    assert said(page).count("Raise the longest answer, and ask these rows again.") == 2
    assert "Raise the limit and ask these again …" in said(page)
    assert "?show=reason%3Aanswered-cut" in html(page)
    assert "Count it as answered" not in html(page)
    assert html(page).count('class="reason" data-tone="caution"') == 2
    count = html(page).split('id="count-attention"')[1].split("</")[0]
    assert count.endswith(">3")  # of the tab


def test_the_dialog_asks_for_a_limit_and_says_what_answers_as_long_as_that_cost(
    web: Client, short: Batch
) -> None:
    dialog = confirm(web, short, "reason=answered-cut")
    assert "Ask 2 rows again?" in said(dialog)
    field = html(dialog).split('id="longest-answer"')[1].split(">")[0]
    assert [f'{name}="{n}"' in field for name, n in (("value", 512), ("min", 256))] == [True] * 2
    assert 'max="32768"' in field
    assert "The batch was asked with 256." in said(dialog)
    assert "longest-answer" in html(confirm(web, short, "rows=2"))  # ticked, or in its panel
    assert "longest-answer" not in html(confirm(web, short, "rows=1"))


def test_cut_rows_are_asked_again_with_the_limit_that_was_given(web: Client, short: Batch) -> None:
    ask(web, short, reason="answered-cut", longest="900")
    asked = [part.asked_again for part in short.parts.order_by("number")]
    assert [one and (one["rows"], one["longest"]) for one in asked] == [([1], 900), ([0], 900)]


def test_the_limit_of_before_is_no_other_limit(web: Client, short: Batch) -> None:
    ask(web, short, reason="answered-cut", longest="256")
    assert ["longest" in part.asked_again for part in short.parts.all()] == [False, False]


@pytest.mark.parametrize("longest", ["255", "32769", "-1", "many", "９００", "9" * 40, "1.5"])
def test_a_limit_that_cannot_be_is_refused_and_nothing_is_asked(
    web: Client, short: Batch, longest: str
) -> None:
    response = ask(web, short, reason="answered-cut", longest=longest)
    told = "The longest answer is a number of tokens from 256 to 32,768."
    assert told in html(web.get(response["Location"]))
    assert not Part.objects.exclude(asked_again=None).exists()


def test_where_requests_have_limits_of_their_own_it_leads_to_another_run(
    web: Client, team: Team
) -> None:
    batch = made(team, [cut()], as_items=True)
    page = tab(web, batch)
    assert "Run again with changes" in said(page)
    assert "Raise the limit" not in said(page)
    assert "longest-answer" not in html(confirm(web, batch, "rows=1"))


def test_while_a_batch_goes_on_its_cut_answers_are_not_asked_again(
    web: Client, short: Batch
) -> None:
    Batch.objects.update(status=BatchStatus.RUNNING)
    page = tab(web, short)
    assert "2 rows: cut off at the longest answer" in said(page)
    assert "Raise the limit" not in said(page)
