"""Two runs of one file side by side, on their page and as a file."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.batches import comparing as comparing_core
from batchui.batches import deleting
from batchui.batches.comparison_models import Comparison
from batchui.batches.models import Batch
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team, User
from batchui.web import comparing
from tests.batches.sheet.made import made, no, yes
from tests.teams.people import outsider
from tests.web.visiting import HTMX, element, html, said

pytestmark = pytest.mark.django_db

FILE = {"source_sha256": "a" * 64}


@pytest.fixture
def one(team: Team) -> Batch:
    now = timezone.now()
    took = {"started_at": now - timedelta(minutes=4), "finished_at": now, "prompt_tokens": 9}
    answers = [yes("good"), yes("<b>bad</b>"), no("failed")]
    return made(team, answers, name="First", **FILE | took)


@pytest.fixture
def other(team: Team) -> Batch:
    return made(team, [yes("good"), yes("=1+1"), yes("x")], name="Second", **FILE)


def compare(web: Client, one: Batch, other: Batch, query: str = "", **extra: Any) -> Any:
    return web.get(f"{reverse('compare', args=[one.pk, other.pk])}{query}", **extra)


def test_rows_that_differ_stand_side_by_side(web: Client, one: Batch, other: Batch) -> None:
    page = compare(web, one, other)
    text = said(page)
    assert "50% agree: 1 of the 2 rows that both have answered." in text
    assert "Different 2 All rows 3" in text
    assert "2 ≠different" in text
    assert "1 row has an answer in one of the two only." in text
    assert "2 ≠different text 2 <b>bad</b> =1+1" in text
    assert "&lt;b&gt;bad&lt;/b&gt;" in html(page)
    assert "3 ≠different text 3 Failed x" in text
    assert "text 1" not in text
    assert "1 text 1 good good" in said(compare(web, one, other, "?show=all"))


def test_each_run_says_what_it_cost_and_how_long_it_took(
    web: Client, one: Batch, other: Batch
) -> None:
    text = said(compare(web, one, other)).partition("agree:")[0]
    assert "A First" in text
    assert "B Second" in text
    assert "4 min 00 s" in text
    assert "free" in text


def test_the_share_of_each_answer_column_is_shown(web: Client, team: Team) -> None:
    columns = FILE | {"answer_columns": [{"name": "tone"}, {"name": "score", "kind": "number"}]}
    one = made(team, [yes({"tone": "good", "score": n}) for n in range(1, 4)], **columns)
    other = made(team, [yes({"tone": "good", "score": 1}) for _ in range(3)], **columns)
    text = said(compare(web, one, other))
    assert "tone 100% agree" in text
    assert "score 33% agree" in text
    assert 'class="other"' in html(compare(web, one, other))


def test_nearly_all_is_not_all() -> None:
    assert comparing._percent(999, 1000) == "99%"
    assert comparing._percent(1000, 1000) == "100%"
    assert comparing._percent(0, 0) == ""


def test_pages_keep_what_is_shown(
    web: Client, one: Batch, other: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "ROWS_PAGE", 1)
    page = html(compare(web, one, other, "?show=all&rows=2"))
    assert "text 2" in page
    assert "text 1" not in page
    assert "show=all&amp;rows=3" in page
    for odd in ("?rows=x", "?rows=99", "?rows=-1", "?show=nonsense"):
        assert compare(web, one, other, odd).status_code == 200


def test_a_large_comparison_shows_how_far_it_is_until_it_is_there(
    web: Client, one: Batch, other: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing_core, "AT_ONCE_ROWS", 1)
    page = compare(web, one, other)
    assert "Comparing: 0% of 3 rows." in said(page)
    assert "every 2s" in element(html(page), "compared")
    comparing_core.carry_out(Comparison.objects.get(), beat=lambda: None)
    fragment = html(compare(web, one, other, headers=HTMX | {"HX-Target": "compared"}))
    assert fragment.lstrip().startswith("<div")
    assert "hx-get" not in element(fragment, "compared")
    why = "The stored file batches/x/answers-1 is damaged. Bring it back from a backup."
    Comparison.objects.update(status="failed", problem=why)
    told = "These two were not compared. A stored file is damaged. Bring it back from a backup."
    assert told in said(compare(web, one, other))


def test_it_takes_as_many_queries_for_many_rows_as_for_few(
    web: Client, team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    few = [made(team, [yes("a")] * 2, **FILE), made(team, [yes("b")] * 2, **FILE)]
    many = [made(team, [yes("a")] * 90, **FILE), made(team, [yes("b")] * 90, **FILE)]
    for pair in (few, many):
        compare(web, *pair)
    with django_assert_num_queries(10) as counted:
        compare(web, *few)
    with django_assert_num_queries(len(counted.captured_queries)):
        compare(web, *many)


def test_all_rows_go_out_as_csv_and_no_cell_runs(web: Client, one: Batch, other: Batch) -> None:
    response = web.get(reverse("compare_download", args=[one.pk, other.pk]))
    content = b"".join(response.streaming_content).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(content)))
    assert rows == [
        [
            *("row number", "id", "text", "same", "answer: First", "answer: Second"),
            *("status: First", "status: Second"),
        ],
        ["1", "1", "text 1", "yes", "good", "good", "answered", "answered"],
        ["2", "2", "text 2", "no", "<b>bad</b>", "'=1+1", "answered", "answered"],
        ["3", "3", "text 3", "no", "", "x", "failed", "answered"],
    ]
    assert "attachment" in response["Content-Disposition"]


def test_the_other_run_is_chosen_from_a_list(web: Client, one: Batch, other: Batch) -> None:
    address = reverse("choose_run", args=[one.pk])
    assert address in html(web.get(one.get_absolute_url()))
    assert reverse("compare", args=[one.pk, other.pk]) in html(web.get(address))
    Batch.objects.filter(pk=other.pk).update(source_sha256="b")
    assert "No other run of this file yet" in said(web.get(address))


def test_two_ticked_in_the_history_are_compared_the_older_one_first(
    web: Client, one: Batch, other: Batch
) -> None:
    def tick(*batches: object) -> Any:
        return web.get(reverse("compare_two"), {"batch": list(batches)})

    page = html(web.get(reverse("batches")))
    assert page.count('class="compare-tick"') == 2
    there = reverse("compare", args=[one.pk, other.pk])
    assert tick(other.pk, one.pk)["Location"] == there
    for wrong in ((), (one.pk,), (one.pk, one.pk), (one.pk, "x"), (one.pk, other.pk, other.pk)):
        assert tick(*wrong)["Location"] == reverse("batches")
    assert "Tick two batches" in html(web.get(reverse("batches")))
    Batch.objects.filter(pk=other.pk).update(source_sha256="b")
    assert tick(other.pk, one.pk)["Location"] == reverse("batches")
    assert "did not ask the same file" in html(web.get(reverse("batches")))


def test_nothing_of_another_team_or_file_is_compared(web: Client, one: Batch) -> None:
    team = outsider().membership.team
    ensure_connection(team)
    theirs = made(team, [yes("Wolpertinger")], **FILE)
    another = made(one.team, [yes()], source_sha256="b" * 64)
    for other in (theirs, another, one):
        for name in ("compare", "compare_download"):
            assert web.get(reverse(name, args=[one.pk, other.pk])).status_code == 404
    for name in ("compare", "compare_download"):
        assert web.get(reverse(name, args=[theirs.pk, one.pk])).status_code == 404
    assert web.get(reverse("choose_run", args=[theirs.pk])).status_code == 404
    assert web.get(reverse("compare_two"), {"batch": [one.pk, theirs.pk]})["Location"] == "/"
    assert not Comparison.objects.exists()


def test_two_sheets_of_one_workbook_are_not_compared_and_it_is_said_why(
    web: Client, team: Team
) -> None:
    sheets = [{"name": name, "columns": 2, "header": True} for name in ("May", "June")]
    may, june, may_again = (
        made(team, [yes()], converted={"kind": "workbook", "sheets": sheets, "chosen": at}, **FILE)
        for at in (0, 1, 0)
    )
    chosen = html(web.get(reverse("choose_run", args=[may.pk])))
    assert reverse("compare", args=[may.pk, may_again.pk]) in chosen
    assert str(june.pk) not in chosen
    assert compare(web, may, june).status_code == 404
    answer = web.get(reverse("compare_two"), {"batch": [may.pk, june.pk]}, follow=True)
    assert "different sheets of one workbook: “May” and “June”" in html(answer)
    there = web.get(reverse("compare_two"), {"batch": [may.pk, may_again.pk]})
    assert there["Location"] == reverse("compare", args=[may.pk, may_again.pk])


def test_of_a_run_that_a_colleague_has_deleted_it_is_said(
    web: Client, one: Batch, other: Batch, ana: User
) -> None:
    assert compare(web, one, other).status_code == 200
    deleting.delete(other, by=ana)
    for name in ("compare", "compare_download"):
        for pair in ((one, other), (other, one)):
            answer = web.get(reverse(name, args=[run.pk for run in pair]))
            assert answer.status_code == 410
            assert "“Second”" in said(answer)
            assert "Bring it back" in said(answer)


def test_a_row_leads_to_its_sheet_and_what_differs_is_not_cut_to_three_lines(
    web: Client, one: Batch, other: Batch
) -> None:
    page = html(compare(web, one, other))
    assert reverse("row", args=[one.pk, 2]) in page
    assert '<span class="clamp">=1+1' not in page
    assert '<span class="clamp">good' in html(compare(web, one, other, "?show=all"))
