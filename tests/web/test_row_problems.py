"""All rows that cannot be asked: their list, and their download."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import files, preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from tests.teams.people import outsider
from tests.web.visiting import drafted, html, press_start, said, signed_in

pytestmark = pytest.mark.django_db

UNEVEN = b"id,note,text\n" + b'1,,"=1+2\nx"\n2,y\n' * 130


def problems(web: Client, batch: Batch, query: str = "") -> str:
    return said(web.get(f"{reverse('row_problems', args=[batch.pk])}{query}"))


def downloaded(web: Client, batch: Batch) -> list[list[str]]:
    response = web.get(reverse("row_problems_download", args=[batch.pk]))
    text = b"".join(response.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(text)))


def test_every_bad_row_is_listed_with_its_number_and_what_to_do(web: Client) -> None:
    batch = drafted(web, UNEVEN)
    assert (batch.rows, batch.problem_count) == (260, 130)
    page = problems(web, batch)
    assert "130 of 260 rows of texts.csv cannot be asked. Correct them in the file" in page
    row = "3 text text: The cell is missing. The row has 2 cells where the header has 3 columns."
    assert row in page
    assert "1–100 of 130 problems" in page
    last = problems(web, batch, "?problems=2")
    assert "101–130 of 130 problems" in last
    assert "261 text text: The cell is missing." in last


def test_the_draft_leads_to_the_list_and_the_download(web: Client) -> None:
    batch = drafted(web, UNEVEN)
    page = html(web.get(batch.get_absolute_url()))
    assert reverse("row_problems", args=[batch.pk]) in page
    assert reverse("row_problems_download", args=[batch.pk]) in page
    assert "See 130 in a list" in said(web.get(batch.get_absolute_url()))


def test_the_download_has_the_cells_of_each_row_and_the_reason(web: Client) -> None:
    batch = drafted(web, b'id,,text\n=1,a,b\n2,"y\nz"\n3,c,d,e\n')
    assert downloaded(web, batch) == [
        ["row", "id", "", "text", "problem"],
        [
            *("3", "2", "y\nz", ""),
            "Column “text”: the cell is missing. The row has 2 cells where the header has 3 "
            "columns. Add what is missing, or skip the row.",
        ],
        [
            *("4", "3", "c", "d"),
            "4 cells where the header has 3 columns. If the text of a cell contains a comma, put "
            "the cell in quotation marks, or skip the row.",
            "e",
        ],
    ]


@pytest.mark.parametrize(("delimiter", "written"), [(b"\t", b","), (b"|", b","), (b";", b";")])
def test_the_download_has_semicolons_or_commas_for_excel(
    web: Client, delimiter: bytes, written: bytes
) -> None:
    batch = drafted(web, b"id;text;x\n1;a;b\n2\n".replace(b";", delimiter))
    response = web.get(reverse("row_problems_download", args=[batch.pk]))
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    header = b"\xef\xbb\xbfrow;id;text;x;problem"
    assert content.splitlines()[0] == header.replace(b";", written)


def test_the_added_columns_have_names_that_the_file_does_not_have(web: Client) -> None:
    batch = drafted(web, b"ROW,problem ,x\n1,2,3\n4\n")
    assert downloaded(web, batch)[0] == ["row_2", "ROW", "problem ", "x", "problem_2"]


def test_no_cell_of_the_download_runs_as_a_formula(web: Client) -> None:
    batch = drafted(web, b"a,b\n=1+2\nx,y\n")
    assert downloaded(web, batch)[1][:2] == ["2", "'=1+2"]


def test_rows_with_nothing_to_ask_are_listed_where_start_stops_at_them(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,\n3,y\n")
    assert not batch.problem_count
    press_start(web, batch, template="{{text}}", stop_at_blank="on")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.problem_count) == (BatchStatus.DRAFT, 1)
    page = problems(web, batch)
    assert "3 text text: The cell is blank, so there is nothing to ask." in page
    assert "1 of 3 rows of" in page
    assert "cannot be asked. Correct it in the file and upload the file again" in page
    assert "Or go back and skip it." in page
    reason = "Column “text”: the cell is blank, so there is nothing to ask. Fill it in, or skip"
    assert downloaded(web, batch)[1] == ["3", "2", "", f"{reason} the row."]


def test_of_a_single_row_the_link_has_no_number(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2\n")
    assert "See it in a list" in said(web.get(batch.get_absolute_url()))


def test_where_every_row_can_be_asked_there_is_no_list(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n")
    assert web.get(reverse("row_problems", args=[batch.pk])).status_code == 404
    assert web.get(reverse("row_problems_download", args=[batch.pk])).status_code == 404


def test_another_team_sees_neither(web: Client) -> None:
    batch = drafted(web, UNEVEN)
    other = signed_in(outsider())
    assert other.get(reverse("row_problems", args=[batch.pk])).status_code == 404
    assert other.get(reverse("row_problems_download", args=[batch.pk])).status_code == 404


@pytest.mark.parametrize("content", [None, b"no zstd"])
@pytest.mark.parametrize("page", ["row_problems", "row_problems_download"])
def test_a_list_that_is_lost_or_damaged_ends_in_a_sentence(
    web: Client, page: str, content: bytes | None
) -> None:
    batch = drafted(web, UNEVEN)
    files.default_storage.delete(batch.problems_file)
    if content is not None:
        files.save(batch.problems_file, io.BytesIO(content))
    response = web.get(reverse(page, args=[batch.pk]))
    assert response.status_code == 404
    assert (
        "The list of these rows cannot be read any more. Tell the person who runs batchui: a "
        "backup may have it whole."
    ) in said(response)
    assert "<h1>This file cannot be read</h1>" in html(response)
