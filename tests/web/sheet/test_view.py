"""What the address of a sheet says."""

from urllib.parse import parse_qs

import pytest
from django.test import RequestFactory

from batchui.batches.models import Batch
from batchui.batches.sheet.selection import ALL, LONGEST_WORDS, Selection
from batchui.web.sheet.view import SheetView


def view(query: str, status: str = "finished") -> SheetView:
    format_ = {"kind": "csv", "encoding": "utf-8", "delimiter": ",", "columns": ["a", "b", "c"]}
    batch = Batch(source_format=format_, status=status)
    return SheetView.of(RequestFactory().get(f"/{query}"), batch)


def test_without_a_query_it_shows_the_first_page_of_all_rows() -> None:
    assert view("") == SheetView(ALL, page=1, row=None, columns=1)
    assert view("").query() == ""


def test_while_a_batch_runs_addresses_of_all_rows_say_so() -> None:
    """It may end with problems while somebody reads, and opens on those then."""
    assert view("", "running").query(page=2) == "?show=&page=2"
    assert view("?show=failed", "running").query() == "?show=failed"


@pytest.mark.parametrize(
    "query",
    [
        *("?page=0", "?page=-1", "?page=x", "?page=1.5", "?page=٣", "?page=1e3", "?page="),
        *("?row=0", "?row=x", "?row=" + "9" * 10, "?columns=0", "?columns=x"),
        *("?show=nonsense", "?show=reason", "?show=value:only", "?q=%00", "?q=%20%20"),
        *("?page[]=2", "?show=%00", "?nothing=1"),
    ],
)
def test_what_makes_no_sense_is_left_out(query: str) -> None:
    assert view(query) == view("")


def test_a_number_may_have_its_commas() -> None:
    assert view("?row=1,204&page=%2013").row == 1204
    assert view("?row=1,204&page=%2013").page == 13


def test_a_long_search_is_cut() -> None:
    assert len(view(f"?q={'x' * 10_000}").q) == LONGEST_WORDS


def test_no_more_columns_are_passed_over_than_there_are() -> None:
    assert view("?columns=2").columns == 2
    assert view("?columns=99999").columns == 3


@pytest.mark.parametrize(
    "query",
    [
        "?show=failed&q=river+view&page=7&columns=2",
        "?show=reason%3Aabc&row=12",
        "?show=value%3Atone%3Avery+good%3F",
        "?q=%26%3D%23%C3%A4",
    ],
)
def test_a_view_comes_back_from_its_own_query(query: str) -> None:
    asked = view(query)
    assert view(asked.query()) == asked
    assert parse_qs(asked.query().lstrip("?")) == parse_qs(query.lstrip("?"))


def test_another_filter_or_search_begins_at_its_first_page() -> None:
    there = view("?show=failed&q=river&page=7&row=4&columns=2")
    assert there.but(show="empty") == SheetView(Selection("empty", words="river"), columns=2)
    assert there.but(q="") == SheetView(Selection("failed"), columns=2)
    assert there.but(show="empty", page=3).page == 3


def test_another_page_is_not_that_of_the_row_somebody_went_to() -> None:
    assert view("?row=4&page=2").but(page=3) == SheetView(page=3)
