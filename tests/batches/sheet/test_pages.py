"""A page of the chosen rows: the right ones, and no part is opened that is not on it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import pytest

from batchui.batches import compressed, part_answers, results
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import digests, pages, sizes
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.sheet.selection import ALL, Selection, parse
from batchui.teams.models import Team
from tests.batches.sheet.made import WAITS, damage, made, no, put, summed, yes

pytestmark = pytest.mark.django_db

EMPTY, LOST = no("empty", "nothing"), no("missing", "gone")
PARTS: Sequence[Sequence[Answer | None]] = (
    [yes("a"), no(), yes("b"), EMPTY],
    [yes("a")] * 4,
    [no(), no("failed", "Gate 3 is shut."), LOST, yes("c")],
    [no("failed", "Gate 17 is shut."), WAITS, WAITS],
)
# What is chosen, and the numbers of its rows.
CHOSEN = {
    "": [*range(1, 16)],
    "answered": [1, 3, 5, 6, 7, 8, 12],
    "attention": [2, 4, 9, 10, 11, 13],
    "failed": [2, 9, 10, 13],
    "empty": [4],
    "waiting": [14, 15],
    "unsent": [],
    f"reason:{reason_of('failed', 'broken').key}": [2, 9],
    f"reason:{reason_of('failed', 'Gate 8 is shut.').key}": [10, 13],
    "reason:empty": [4],
    "reason:nothing-of-that-kind": [],
    "value:answer:a": [1, 5, 6, 7, 8],
    "value:answer:c": [12],
    "value:answer:never": [],
    "value:no such column:a": [],
}


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, *PARTS)


def numbers(batch: Batch, chosen: Selection, *, size: int) -> list[int]:
    """The rows of all pages of so many rows, one page after another."""
    found = range(0, pages.count(batch, chosen), size)
    return [row.row for at in found for row in pages.page(batch, chosen, offset=at, limit=size)]


@pytest.mark.parametrize("show", CHOSEN)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_pages_have_every_chosen_row_once_in_order(some: Batch, show: str, size: int) -> None:
    assert numbers(some, parse(show), size=size) == CHOSEN[show]
    assert pages.count(some, parse(show)) == len(CHOSEN[show])


def test_a_row_of_a_page_has_its_cells_and_its_answer(some: Batch) -> None:
    [row] = pages.page(some, parse("failed"), offset=2, limit=1)
    assert (row.row, row.cells, row.status) == (10, ["10", "text 10"], "failed")
    assert row.error == "Gate 3 is shut."
    [row] = pages.page(some, ALL, offset=11, limit=1)
    assert (row.row, row.answer) == (12, b'"c"')


def test_rows_without_a_line_of_their_own_have_the_status_of_their_part(some: Batch) -> None:
    last = some.parts.order_by("number").last()
    assert last is not None
    Part.objects.filter(pk=last.pk).update(
        waiting_became="failed", waiting_error="Gate 5 is shut.", failed=3
    )
    summed(some)
    shut = Selection(reason=reason_of("failed", "Gate 1 is shut.").key)
    assert numbers(some, shut, size=2) == [10, 13, 14, 15]
    assert numbers(some, parse("failed"), size=2) == [2, 9, 10, 13, 14, 15]
    assert numbers(some, parse("waiting"), size=2) == []


def test_rows_that_a_retry_asks_again_wait(some: Batch) -> None:
    first = some.parts.get(number=1)
    Part.objects.filter(pk=first.pk).update(forget_unanswered=True, failed=0, empty=0)
    summed(some)
    assert numbers(some, parse("waiting"), size=10) == [2, 4, 14, 15]
    broken = Selection(reason=reason_of("failed", "broken").key)
    assert numbers(some, broken, size=10) == [9]


def test_behind_the_last_chosen_row_of_a_part_nothing_is_read(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = made(team, [no("failed", "why"), yes("a"), no("failed", "why"), *[yes("a")] * 50])
    [key] = digests.of(batch).reasons[0]
    read: list[int] = []
    whole = compressed.read_lines

    def noted(name: str, *, lines: int) -> Iterator[bytes]:
        for at, line in enumerate(whole(name, lines=lines)):
            read.append(at)
            yield line

    for module in (part_answers, results):
        monkeypatch.setattr(module, "read_lines", noted)
    for offset in (0, 1):
        read.clear()
        shown = pages.page(batch, Selection(reason=key), offset=offset, limit=100)
        assert [one.row - batch.first_row for one in shown] == [0, 2][offset:]
        assert max(read) == 2


def test_only_the_parts_of_a_page_are_opened(some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    pages.count(some, parse("value:answer:a"))  # makes the digests
    opened: list[str] = []
    really = compressed.open_file

    def noted(name: str) -> BinaryIO:
        opened.append(name)
        return really(name)

    monkeypatch.setattr(compressed, "open_file", noted)
    files = [(part.answers_file, part.rows_file) for part in some.parts.order_by("number")]
    for show, offset, parts in (
        ("", 5, [1]),
        ("failed", 1, [2]),
        ("failed", 3, [3]),
        ("value:answer:c", 0, [2]),
        ("unsent", 0, []),
    ):
        opened.clear()
        pages.page(some, parse(show), offset=offset, limit=1)
        assert set(opened) == {name for at in parts for name in files[at]}, show


@pytest.mark.parametrize("parts", [2, 40])
def test_a_page_takes_as_many_queries_for_many_parts_as_for_few(
    team: Team, parts: int, django_assert_max_num_queries: object
) -> None:
    many = made(team, *[[yes(), no()]] * parts)
    pages.count(many, parse("reason:empty"))
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        pages.page(many, parse("failed"), offset=0, limit=100)
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        pages.page(many, parse("value:answer:yes"), offset=0, limit=100)


@pytest.mark.parametrize("show", CHOSEN)
def test_the_rows_beside_a_row_are_those_of_the_filter(some: Batch, show: str) -> None:
    chosen = CHOSEN[show]
    for number in range(1, 16):
        before, after = pages.neighbours(some, parse(show), number)
        assert before == max((one for one in chosen if one < number), default=None)
        assert after == min((one for one in chosen if one > number), default=None)


@pytest.mark.parametrize("show", CHOSEN)
def test_a_row_knows_its_place_among_the_chosen_ones(some: Batch, show: str) -> None:
    chosen = CHOSEN[show]
    for number in (0, *range(1, 16), 16):
        place = pages.place(some, parse(show), number)
        assert place == (chosen.index(number) if number in chosen else None)


@pytest.mark.parametrize("number", [-1, 0, 16, 10**9])
def test_nothing_stands_beside_a_row_that_is_not_there(some: Batch, number: int) -> None:
    assert pages.neighbours(some, ALL, number) == (None, None)


def test_of_damaged_answers_those_are_shown_that_can_be_read(some: Batch) -> None:
    damage(some.parts.get(number=1), lines=2)
    assert [row.row for row in pages.page(some, ALL, offset=0, limit=5)] == [1, 2, 3, 4, 5]
    assert [row.row for row in pages.page(some, parse("answered"), offset=0, limit=2)] == [1]
    lost = pages.page(some, ALL, offset=2, limit=1)[0]
    assert (lost.status, "damaged" in (lost.error or "")) == ("missing", True)


def test_of_damaged_answers_only_rows_with_the_words_are_shown(some: Batch) -> None:
    said = parse("", "text 4")
    assert pages.count(some, said) == 1  # the search was made before the damage
    damage(some.parts.get(number=1), lines=3)
    [row] = pages.page(some, said, offset=0, limit=5)
    assert (row.row, row.status) == (4, "missing")


def test_a_batch_whose_answers_change_is_counted_anew(some: Batch) -> None:
    chosen = parse("value:answer:a")
    assert pages.count(some, chosen) == 5
    put(some.parts.get(number=2), [yes("a"), yes("z"), yes("z"), yes("z")])
    assert numbers(some, chosen, size=2) == [1, 5]


def test_what_is_not_counted_yet_is_said(some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchui.batches.sheet.digests.SECONDS_IN_A_REQUEST", -1)
    known = sizes.sizes(some, parse("value:answer:a"))
    assert (known.rows, known.is_whole) == (0, False)


def test_every_row_of_a_long_part_is_found_in_one_look(team: Team) -> None:
    long = made(team, [yes() if at % 3 else no() for at in range(500)])
    assert list(islice(numbers(long, parse("failed"), size=50), 3)) == [1, 4, 7]
    assert len(numbers(long, parse("failed"), size=50)) == 167
