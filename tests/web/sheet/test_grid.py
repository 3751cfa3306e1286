"""A page of the grid: its rows, what they cost to find, and the row somebody goes to."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from batchui.batches import compressed
from batchui.batches.models import WAITS_FOR_COPIES, Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.teams.models import Team
from batchui.web.sheet import grid, waiting
from batchui.web.sheet.columns import columns_of
from batchui.web.sheet.grid import Grid, grid_of
from batchui.web.sheet.view import SheetView
from tests.batches.sheet.made import WAITS, made, no, yes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def pages_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "ROWS_PAGE", 4)


@pytest.fixture
def some(team: Team) -> Batch:
    """Rows 1 to 12 in three parts; of each part the second one failed."""
    return made(team, *([yes("a"), no(), yes("b"), yes("c")] for _ in range(3)))


def shown(batch: Batch, *, show: str = "", **view: Any) -> Grid:
    return grid_of(batch, SheetView().but(show=show).but(**view))


def numbers(found: Grid) -> list[int]:
    return [row.number for row in found.rows]


def test_a_page_has_the_rows_with_their_cells_and_answers(some: Batch) -> None:
    found = shown(some, page=2)
    assert numbers(found) == [5, 6, 7, 8]
    assert found.rows[0].texts == ["5", "text 5"]
    assert [row.answers[0].text for row in found.rows] == ["a", "", "b", "c"]
    assert [row.status for row in found.rows] == ["answered", "failed", "answered", "answered"]
    assert (found.count, found.last_number, found.page.paginator.num_pages) == (12, 8, 3)


def test_a_page_behind_the_last_is_the_last(some: Batch) -> None:
    assert numbers(shown(some, page=99)) == [9, 10, 11, 12]


@pytest.mark.parametrize(("row", "page", "at"), [(1, 1, 1), (4, 1, 4), (5, 2, 5), (12, 3, 12)])
def test_the_page_of_a_row_has_it(some: Batch, row: int, page: int, at: int) -> None:
    found = shown(some, row=row)
    assert (found.page.number, found.at) == (page, at)
    assert at in numbers(found)


def test_a_row_behind_the_last_is_the_last_and_one_before_the_first_the_first(
    team: Team, some: Batch
) -> None:
    assert shown(some, row=10_000).at == 12
    assert shown(some, row=10_000).asked_for == 10_000
    assert shown(some, row=12).asked_for is None
    some.parts.update(first_row=F("first_row") + 1)
    assert shown(some, row=1).at == 2


def test_with_a_filter_the_page_has_the_row_or_the_next_one_that_is_chosen(some: Batch) -> None:
    assert numbers(shown(some, show="failed")) == [2, 6, 10]
    assert shown(some, show="answered", row=7).at == 7
    assert shown(some, show="answered", row=6).at == 7
    assert 7 in numbers(shown(some, show="answered", row=6))
    assert shown(some, show="failed", row=11).at == 10
    nothing = shown(some, show="empty", row=3)
    assert (nothing.at, nothing.rows, nothing.count) == (None, [], 0)


def test_only_the_parts_of_a_page_are_opened(some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    really = compressed.open_file

    def noted(name: str) -> Any:
        opened.append(name)
        return really(name)

    monkeypatch.setattr(compressed, "open_file", noted)
    second = some.parts.get(number=2)
    assert numbers(shown(some, page=2)) == [5, 6, 7, 8]
    assert set(opened) == {second.rows_file, second.answers_file}


@pytest.mark.parametrize("view", [{}, {"page": 2}, {"show": "failed"}, {"row": 6}])
def test_queries_do_not_grow_with_the_parts(team: Team, some: Batch, view: dict[str, Any]) -> None:
    many = made(team, *([yes("a"), no(), yes("b"), yes("c")] for _ in range(30)))
    counts = []
    for batch in (some, many):
        with CaptureQueriesContext(connection) as queries:
            shown(Batch.objects.get(pk=batch.pk), **view)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_rows_that_wait_say_what_their_own_part_does(team: Team) -> None:
    batch = made(team, [WAITS], [yes("a")], [WAITS], [WAITS], status=BatchStatus.RUNNING)
    for number, fields in (
        (1, {"status": PartStatus.RUNNING}),
        (3, {"status": PartStatus.QUEUED}),
        (4, {"status": PartStatus.HELD, "message": WAITS_FOR_COPIES}),
    ):
        batch.parts.filter(number=number).update(**fields)
    notes = [row.answers[0].note for row in shown(batch).rows]
    assert notes == ["on its way", "", "queued", "waits"]


def test_a_page_names_its_rows_that_wait_for_its_polls(team: Team, some: Batch) -> None:
    batch = made(team, [yes("a")] * 4, [yes("b"), WAITS, yes("c"), WAITS], [WAITS] * 3)
    pages = [waiting.as_text(shown(batch, page=page).waiting) for page in (1, 2, 3)]
    first = batch.first_row
    assert pages == [
        "",
        f"2g1_{first + 5}_{first + 5}.2g1_{first + 7}_{first + 7}",
        f"3g1_{first + 8}_{first + 10}",
    ]


def test_a_row_whose_text_is_lost_says_so_beside_its_answer(some: Batch) -> None:
    some.parts.filter(number=1).update(rows_file="never/written")
    row = shown(some).rows[0]
    assert sorted(row.texts) == ["", grid.LOST]
    assert row.answers[0].text == "a"


def test_cells_are_escaped(team: Team) -> None:
    row = grid.SheetRow(1, "", columns_of(made(team, [WAITS]), SheetView()).hers, ["<b>", "&"], [])
    assert row.cells == (
        '<td class="c1"><div>&lt;b&gt;</div></td><td class="c2 main"><div>&amp;</div></td>'
    )
