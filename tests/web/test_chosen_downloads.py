"""The page for downloads: what is chosen there, and what it says about it."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.export_models import Export
from batchui.batches.models import Batch
from batchui.batches.whole_files import KINDS
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.books import reviews
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.sheet.made import made, no, yes
from tests.corpus.test_books import in_ods
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A workbook with answers; its row 6 is blank and was skipped."""
    return work(start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True))


def test_rows_columns_and_the_name_of_the_answers_are_chosen_and_kept(
    web: Client, answered: Batch
) -> None:
    address = reverse("choose_download", args=[answered.pk])
    chosen = {"kind": "csv", "only": "answered", "columns": ["id", "day"], "answer": "tone"}
    response = web.post(address, chosen)
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    table = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert table[2] == ["id", "day", "tone", "status", "error"]
    assert [row[:2] for row in table[3:]] == [
        ["007", "2026-05-01"],
        ["008", "2026-05-02"],
        ["009", "2026-05-04"],
    ]
    page = html(web.get(address))
    assert 'value="tone"' in page
    answered.refresh_from_db()
    assert answered.download_choice == {
        "only": "answered",
        "columns": ["id", "day"],
        "answer": "tone",
        "whole": "unfit",
    }


def test_any_of_the_most_columns_can_be_chosen(web: Client, start: MakeBatch) -> None:
    names = [f"{number:04}{'x' * 90}" for number in range(2_000)]
    batch = start(f"{','.join(names)}\n{'a,' * 1999}b\n".encode(), template=f"{{{{{names[0]}}}}}")
    chosen = {"kind": "csv", "only": "all", "columns": names[1:], "answer": "tone"}
    response = web.post(reverse("choose_download", args=[batch.pk]), chosen)
    content = b"".join(response.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    header, *rows_found = csv.reader(io.StringIO(content))
    assert header == [*names[1:], "tone", "status", "error"]
    assert [row[:1999] for row in rows_found] == [["a"] * 1998 + ["b"]]


def test_only_rows_that_need_attention_go_out_on_request(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [1]})
    batch = work(start(b"id,text\n1,a\n2,\n3,c\n"))
    address = reverse("download", args=[batch.pk, "json"])
    response = web.get(f"{address}?only=attention")
    [row] = json.loads(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    assert (row["row"], row["status"]) == (4, "failed")


KEEPS = "My workbook always keeps all its rows and columns."


def test_where_rows_and_columns_are_chosen_it_is_said_that_her_workbook_keeps_all(
    web: Client, answered: Batch, start: MakeBatch
) -> None:
    assert KEEPS in said(web.get(reverse("choose_download", args=[answered.pk])))
    of_csv = start(rows(2))
    assert KEEPS not in said(web.get(reverse("choose_download", args=[of_csv.pk])))


def test_of_another_kind_of_workbook_it_is_said_what_hers_would_have_to_be(
    web: Client, start: MakeBatch
) -> None:
    saved_as = "To get it back so, save it as XLSX and upload that."
    of_ods = start(in_ods([["id", "text"], ["1", "one"]])(), "table.ods", template="{{id}}")
    assert saved_as in said(web.get(reverse("choose_download", args=[of_ods.pk])))
    for named in (start(reviews(), "reviews.xlsx", skip_invalid=True), start(rows(2))):
        assert saved_as not in said(web.get(reverse("choose_download", args=[named.pk])))


@pytest.mark.parametrize(
    ("chosen", "about"),
    [
        ({"kind": "xlsx"}, "All rows, 2 KB,"),
        (
            {"kind": "xlsx", "only": "answered", "columns": ["id", "day"], "answer": "tone"},
            "Only answered rows, 2 of 8 columns, answers in “tone”, 2 KB,",
        ),
        (
            {"kind": "workbook", "only": "answered", "columns": ["id"]},
            "Only answered rows, 2 KB,",
        ),
    ],
)
def test_of_a_file_that_was_made_it_is_said_what_was_chosen(
    web: Client, answered: Batch, chosen: dict[str, Any], about: str
) -> None:
    address = reverse("choose_download", args=[answered.pk])
    web.post(address, chosen)
    Export.objects.update(size=1_800)
    label = KINDS[chosen["kind"]].label
    assert f"Made within the last day {label} {about}" in said(web.get(address))


@pytest.mark.parametrize("query", ["only=odd", "columns=nothing", f"answer={'x' * 101}"])
def test_a_choice_that_is_not_there_is_said(web: Client, answered: Batch, query: str) -> None:
    address = reverse("download", args=[answered.pk, "csv"])
    response = web.get(f"{address}?{query}")
    assert response.status_code == 404
    assert "This batch has no such rows or columns." in said(response)


def test_the_menu_and_the_page_say_which_of_two_kinds_to_take(web: Client, answered: Batch) -> None:
    for address in (
        answered.get_absolute_url(),
        reverse("choose_download", args=[answered.pk]),
    ):
        page = said(web.get(address)).replace("(", "").replace(")", "")
        assert "CSV for Excel and Sheets for people: opens in every spreadsheet" in page
        assert "CSV, every cell exactly as it is for programs, and for another upload" in page


def test_whole_answers_are_chosen_where_answers_have_columns(
    web: Client, team: Team, answered: Batch
) -> None:
    assert "whole answer" not in said(web.get(reverse("choose_download", args=[answered.pk])))
    batch = made(
        team, [yes({"tone": "good"}), no("unfit")], answer_columns=[{"name": "tone"}], unfit=1
    )
    address = reverse("choose_download", args=[batch.pk])
    assert "A column with the whole answer, as the model sent it" in said(web.get(address))
    headers = {}
    for whole in ("", "unfit", "always", "never"):
        response = web.post(address, {"kind": "csv", "only": "all", "whole": whole})
        content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
        headers[whole] = content.decode("utf-8-sig").splitlines()[0]
    assert headers["unfit"] == headers[""] == "id,text,tone,answer,status,error"
    assert headers["always"] == headers["unfit"]
    assert headers["never"] == "id,text,tone,status,error"
    Batch.objects.filter(pk=batch.pk).update(unfit=0)
    for whole, names in {"always": "tone,answer", "unfit": "tone"}.items():
        response = web.get(reverse("download", args=[batch.pk, "csv"]), {"whole": whole})
        content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
        assert content.decode("utf-8-sig").splitlines()[0] == f"id,text,{names},status,error"
