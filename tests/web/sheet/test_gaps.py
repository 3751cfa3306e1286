"""A first load of a sheet has the rows that a window shows; the others come when they are near."""

import re
from typing import NamedTuple

import pytest
from django.test import Client

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team, User
from batchui.web.sheet import gaps
from tests.batches.conftest import MakeBatch
from tests.batches.sheet.made import WAITS, made, yes
from tests.web.visiting import html, signed_in


class Row(NamedTuple):
    number: int
    signs: list[int]


ONE_LINE = [Row(number, [3, 20]) for number in range(2, 102)]
THREE_LINES = [Row(number, [3, 190]) for number in range(2, 102)]


@pytest.fixture
def whole_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not here: ten short rows at first, in place of some more."""
    monkeypatch.setattr(gaps, "HEIGHT", 10 * gaps.ROW_HEIGHT)


@pytest.fixture
def web(ana: User) -> Client:
    return signed_in(ana)


def test_about_a_window_of_rows_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert gaps.shown_first(ONE_LINE, None) == (0, 25)
    assert gaps.shown_first(THREE_LINES, None) == (0, 12)
    assert gaps.shown_first([Row(1, [2_000] * 10)] * 30, None) == (0, 1)
    assert gaps.shown_first([Row(1, [2_000])] * 30, None) == (0, 3)


def test_a_row_of_many_cells_weighs_more_and_a_part_of_a_window_has_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    assert gaps.shown_first([Row(1, [3] * 60)] * 30, None) == (0, 4)
    assert gaps.shown_first(ONE_LINE, None, share=0.6) == (0, 15)


def test_so_few_more_are_sent_too() -> None:
    assert gaps.shown_first(ONE_LINE[:15], None) == (0, 15)
    assert gaps.shown_first(ONE_LINE[:16], None) == (0, 10)
    assert gaps.shown_first([], None) == (0, 0)


@pytest.mark.parametrize(
    ("at", "expected"),
    [(2, (0, 10)), (4, (0, 10)), (52, (45, 55)), (100, (90, 100)), (101, (90, 100))],
)
def test_the_rows_around_the_one_to_go_to_are_sent(at: int, expected: tuple[int, int]) -> None:
    assert gaps.shown_first(ONE_LINE, at) == expected


def test_a_gap_is_about_as_high_as_its_rows() -> None:
    gap = gaps.gap("below", ONE_LINE[20:])
    assert gap is not None
    assert (gap.first, gap.last, gap.nearest) == (22, 101, 22)
    assert gap.height == 80 * gaps.ROW_HEIGHT
    above = gaps.gap("above", THREE_LINES[:3])
    assert above is not None
    assert (above.nearest, above.height) == (4, 3 * (gaps.ROW_HEIGHT + 2 * gaps.LINE_HEIGHT))
    assert gaps.gap("above", []) is None


def numbers(text: str) -> list[int]:
    """Of the rows in some HTML."""
    return [int(number) for number in re.findall(r'id="row-(\d+)"', text)]


def asks_for(text: str) -> dict[str, str]:
    """The addresses at which a page asks for its gaps."""
    found = re.findall(r'id="gap-(\w+)" class="gap" hx-get="([^"]+)"', text)
    return {side: address.replace("&amp;", "&") for side, address in found}


def some(team: Team) -> Batch:
    """60 rows, the last 20 of which wait."""
    answers = [yes(f"answer {number}") for number in range(1, 41)]
    return made(team, answers, [WAITS] * 20, status=BatchStatus.RUNNING)


def test_the_rows_that_a_page_left_out_come_when_it_asks(web: Client, team: Team) -> None:
    batch = some(team)
    here = batch.get_absolute_url()
    page = html(web.get(f"{here}?row=30"))
    shown = numbers(page)
    assert 30 in shown
    assert len(shown) == 10
    addresses = asks_for(page)
    assert addresses.keys() == {"above", "below"}
    above, below = (
        numbers(html(web.get(addresses[side], headers={"HX-Request": "true"})))
        for side in ("above", "below")
    )
    assert above + shown + below == list(range(1, 61))


def test_another_page_of_rows_comes_whole(web: Client, team: Team) -> None:
    headers = {"HX-Request": "true", "HX-Target": "grid-area"}
    area = html(web.get(some(team).get_absolute_url(), headers=headers))
    assert len(numbers(area)) == 60
    assert not asks_for(area)


def test_without_a_script_a_link_leads_on(web: Client, team: Team) -> None:
    page = html(web.get(some(team).get_absolute_url()))
    link = re.search(r'<a href="([^"]+)"[^>]*>\s*Rows 11 to 60', page)
    assert link
    assert 11 in numbers(html(web.get(link[1].replace("&amp;", "&"))))


def test_polls_leave_out_the_rows_of_a_gap(web: Client, team: Team) -> None:
    batch = some(team)
    page = html(web.get(batch.get_absolute_url()))
    gap = re.search(r'form="watched" name="gap" value="([^"]+)"', page)
    assert gap
    assert gap[1] == "11-60"
    asked = {"rows": "2a9_41_60", "at": "0", "seen": "", "count": "60", "page": "1"}
    poll = f"/batches/{batch.pk}/live/"
    assert 'id="cell-41-0"' in html(web.get(poll, asked))
    assert 'id="cell-41-0"' not in html(web.get(poll, asked | {"gap": gap[1]}))


def test_a_draft_has_gaps_too(web: Client, receive: MakeBatch) -> None:
    draft = receive(b"id,review\n" + b"".join(b"%d,Lovely\n" % n for n in range(60)))
    page = html(web.get(draft.get_absolute_url()))
    shown = numbers(page)
    rest = html(web.get(asks_for(page)["below"], headers={"HX-Request": "true"}))
    assert [*shown, *numbers(rest)] == list(range(2, 62))
