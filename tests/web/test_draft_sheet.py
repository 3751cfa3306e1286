"""The sheet of a draft: any page of its rows, and one row in full."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from tests.teams.people import outsider
from tests.web.visiting import HTMX, answers, drafted, html, said, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]

PANEL = HTMX | {"HX-Target": "panel"}
GRID = HTMX | {"HX-Target": "grid-area"}


def row(web: Client, batch: Batch, number: int, **headers: str) -> str:
    response = web.get(reverse("row", args=[batch.pk, number]), headers=headers)
    assert response.status_code == 200
    return said(response)


@pytest.fixture
def draft(web: Client) -> Batch:
    """Of 250 rows, from row 2 on."""
    rows = "".join(f"{number},Text {number}\n" for number in range(2, 252))
    batch = drafted(web, f"id,review\n{rows}".encode())
    Batch.objects.filter(pk=batch.pk).update(template="Judge {{review}}")
    return batch


def test_any_page_of_the_rows_can_be_shown(web: Client, draft: Batch) -> None:
    first = said(web.get(draft.get_absolute_url()))
    assert "Rows 2 to 101 · 250 in all" in first
    assert "Text 101" in first
    assert "Text 102" not in first
    last = said(web.get(f"{draft.get_absolute_url()}?page=3", headers=GRID))
    assert "Rows 202 to 251 · 250 in all" in last
    assert "What to ask" not in last  # the rows alone


def test_a_jump_leads_to_the_page_with_the_row(web: Client, draft: Batch) -> None:
    page = html(web.get(f"{draft.get_absolute_url()}?row=150", headers=GRID))
    assert "Rows 102 to 201" in " ".join(page.split())
    assert re.search(r'id="row-150"\s+class="at"', page)
    beyond = said(web.get(f"{draft.get_absolute_url()}?row=9000", headers=GRID))
    assert "Rows 202 to 251" in beyond


def test_a_row_in_full_has_its_cells_and_what_it_is_asked(web: Client, draft: Batch) -> None:
    panel = row(web, draft, 150, **PANEL)
    assert panel.startswith("Row 150")
    assert "review Text 150" in panel
    assert "Judge Text 150" in panel
    assert "What to ask of every row" not in panel


def test_the_address_of_a_row_opens_the_page_with_it(web: Client, draft: Batch) -> None:
    page = row(web, draft, 150)
    assert "What to ask of every row" in page
    assert "Judge Text 150" in page
    assert "Rows 102 to 201" in page


def test_a_row_that_cannot_be_asked_says_why_and_has_no_prompt(web: Client) -> None:
    batch = drafted(web, b"id,review\n1,Fine\n2\n")
    Batch.objects.filter(pk=batch.pk).update(template="Judge {{review}}")
    panel = row(web, batch, 3, **PANEL)
    assert "the cell is missing" in panel
    assert "Judge" not in panel


@pytest.mark.parametrize("template", ["", "No column", "{{nothing}}"])
def test_a_question_that_is_not_ready_leaves_the_prompt_out(
    web: Client, draft: Batch, template: str
) -> None:
    Batch.objects.filter(pk=draft.pk).update(template=template)
    assert "What it is asked" not in row(web, draft, 2, **PANEL)


@pytest.mark.parametrize("number", [0, 1, 252, 10**12])
def test_a_row_that_is_not_there_is_not_found(web: Client, draft: Batch, number: int) -> None:
    assert web.get(reverse("row", args=[draft.pk, number])).status_code == 404


def test_the_rows_beside_a_row_end_with_the_file(web: Client, draft: Batch) -> None:
    def beside(number: int) -> list[str]:
        page = html(web.get(reverse("row", args=[draft.pk, number]), headers=PANEL))
        return [end for end in ("row-before", "row-after") if f'id="{end}"' in page]

    assert beside(2) == ["row-after"]
    assert beside(100) == ["row-before", "row-after"]
    assert beside(251) == ["row-before"]


def test_a_draft_without_its_kept_rows_shows_its_first_ones(web: Client, draft: Batch) -> None:
    Batch.objects.filter(pk=draft.pk).update(draft_rows_file="")
    page = said(web.get(draft.get_absolute_url()))
    assert "Rows 2 to 21 · 20 in all" in page
    Batch.objects.filter(pk=draft.pk).update(draft_rows_file="drafts/lost")
    lost = said(web.get(draft.get_absolute_url()))
    assert "Text 21" in lost
    assert "Text 22" not in lost


def test_the_rows_of_another_team_are_not_found(draft: Batch) -> None:
    stranger = signed_in(outsider())
    assert stranger.get(reverse("row", args=[draft.pk, 2]), headers=PANEL).status_code == 404
    assert stranger.get(f"{draft.get_absolute_url()}?page=2", headers=GRID).status_code == 404


# -- its columns follow the question ------------------------------------------------------------


def shown_columns(page: str) -> str:
    found = re.search(r'data-columns-key="(\w+)"', page)
    assert found
    return found[1]


def wanted_columns(web: Client, draft: Batch, **typed: str | list[str]) -> str:
    """What the page is told about columns when this is typed."""
    filled = answers(draft, **typed)
    reply = web.post(reverse("preview", args=[draft.pk]), filled, headers=HTMX)
    key: str = json.loads(reply["HX-Trigger"])["columns-wanted"]["key"]
    return key


def test_a_sheet_with_other_columns_than_the_question_wants_is_asked_for_anew(
    web: Client, draft: Batch
) -> None:
    shown = shown_columns(html(web.get(draft.get_absolute_url())))
    assert wanted_columns(web, draft, template="Say more of {{review}}") == shown
    score: dict[str, str | list[str]] = {
        "answer_columns": "",
        "column_name": ["score"],
        "column_kind": ["number"],
        "column_choices": [""],
        "column_meaning": [""],
    }
    with_score = wanted_columns(web, draft, template="{{review}}", **score)
    sheet = html(web.get(f"{draft.get_absolute_url()}?page=2", headers=GRID))
    assert with_score == shown_columns(sheet) != shown
    assert ">score</span>" in sheet
    # It is asked for with the page that it is on.
    assert f'hx-get="{draft.get_absolute_url()}?page=2"' in sheet
    yes_or_no = score | {"column_kind": ["yes_no"]}
    assert wanted_columns(web, draft, template="{{review}}", **yes_or_no) != with_score


def main_column(web: Client, draft: Batch) -> str:
    """The column of the file that a phone shows."""
    page = html(web.get(draft.get_absolute_url()))
    found = re.findall(r'<th\s+scope="col"\s+class="c\d+ [^"]*main".*?title="([^"]*)"', page, re.S)
    assert len(found) == 1
    return str(found[0])


def test_a_phone_shows_the_column_that_is_asked_about_or_may_be(web: Client, draft: Batch) -> None:
    Batch.objects.update(template="")
    assert main_column(web, draft) == "review"
    shown = shown_columns(html(web.get(draft.get_absolute_url())))
    assert wanted_columns(web, draft, template="Say more of {{id}}") != shown
    assert main_column(web, draft) == "id"
