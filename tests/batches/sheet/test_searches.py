"""Searching: words in cells and answers, at once or by a worker, with progress and a stop."""

from itertools import combinations

import msgspec
import pytest

from batchui.batches.long_tasks import StoppedError
from batchui.batches.models import Batch, Search
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import pages, searches, sizes
from batchui.batches.sheet.selection import Selection, parse
from batchui.batches.sheet.words import has_words, may_have_words
from batchui.batches.sheet_models import SearchStatus
from batchui.exports.answers import answer_text
from batchui.prompts.reading.rows import encode_row
from batchui.teams.models import Team
from tests.batches.sheet.made import damage, made, no, yes

pytestmark = pytest.mark.django_db


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, [yes("Cold breakfast"), no(), yes("Été")], [no(), yes("cold feet")])


def found(batch: Batch, chosen: Selection) -> list[int]:
    return [row.row for row in pages.page(batch, chosen, offset=0, limit=100)]


# -- words in a row -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "cells", "is_there"),
    [
        ("COLD", ["a cold day"], True),
        ("été", ["ÉTÉ 2026"], True),
        ("ete", ["Été"], False),
        ('say "hi"', ['they say "hi" twice'], True),
        ("a\\b", ["a\\b"], True),
        ('","', ["one", "two"], False),
        ("25%", [{"percent": "25%"}], True),
        ("percent", [{"percent": "25%"}], False),
        ("TRUE", [True], True),
        ("12.50", {"price": 12.5, "name": "12.50"}, True),
        ("price", {"price": "none"}, False),
        ("none", {"price": "None"}, True),
    ],
)
def test_words_are_looked_for_in_cells_and_in_nothing_around_them(
    words: str, cells: list[object], is_there: bool
) -> None:
    line = encode_row(cells)
    assert has_words(words)(line, None) is is_there
    assert may_have_words(words)(line) or not is_there


@pytest.mark.parametrize(
    "raw",
    [
        b'"say \\"no\\" or 1\\/2"',
        b'"caf\\u00e9 \\u212a"',
        b'{"score": 7, "text": "one\\ntwo"}',
        b'["one", "x\\ty"]',
    ],
)
def test_no_lines_are_passed_over_that_have_the_words(raw: bytes) -> None:
    text = answer_text(raw).lower()
    answer = Answer("answered", msgspec.Raw(raw))
    for begin, end in combinations(range(len(text) + 1), 2):
        words = text[begin:end]
        assert has_words(words)(b'["x"]', answer) <= may_have_words(words)(raw), words


def test_lines_without_the_words_are_passed_over() -> None:
    lines = b'["a cold day"]\n["warm"]\n'
    assert may_have_words("DAY")(lines)
    assert not may_have_words("rain")(lines)


@pytest.mark.parametrize("raw", [b'"caf\\u00e9 au lait"', '"Café au lait"'.encode()])
def test_an_answer_is_found_however_its_characters_are_written(raw: bytes) -> None:

    assert has_words("CAFÉ")(b'["x"]', Answer("answered", msgspec.Raw(raw)))


# -- in a small batch ---------------------------------------------------------------------------


def test_cells_and_answers_are_searched(some: Batch) -> None:
    assert found(some, parse("", "cold")) == [1, 5]
    assert found(some, parse("", "TEXT 4")) == [4]
    assert found(some, parse("", "nothing of that kind")) == []


def test_words_are_looked_for_among_the_rows_that_the_filter_shows(some: Batch) -> None:
    assert found(some, parse("failed", "text")) == [2, 4]
    assert found(some, parse("value:answer:Été", "text")) == [3]
    assert found(some, parse("failed", "cold")) == []


def test_the_rows_beside_a_found_row_are_found_rows(some: Batch) -> None:
    assert pages.neighbours(some, parse("", "cold"), 1) == (None, 5)
    assert pages.neighbours(some, parse("", "cold"), 5) == (1, None)
    assert pages.place(some, parse("", "cold"), 5) == 1


def test_the_same_search_is_made_once(some: Batch) -> None:
    for _ in range(3):
        found(some, parse("", "cold"))
    assert Search.objects.count() == 1


def test_after_new_answers_the_rows_are_searched_again(some: Batch) -> None:
    found(some, parse("", "cold"))
    Search.objects.update(created_at="2026-01-01T00:00:00Z")
    some.version += 1
    found(some, parse("", "cold"))
    assert Search.objects.count() == 2


def test_only_the_latest_searches_are_kept(some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "MOST_KEPT", 3)
    for words in "abcdef":
        found(some, parse("", words))
    assert sorted(Search.objects.values_list("words", flat=True)) == ["d", "e", "f"]


def test_of_too_many_found_rows_the_first_are_kept(
    some: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "MOST_FOUND", 4)
    assert found(some, parse("", "text")) == [1, 2, 3, 4]
    assert Search.objects.get().is_cut


def test_a_damaged_part_is_searched_as_far_as_it_can_be_read(some: Batch) -> None:
    damage(some.parts.get(number=1), lines=2)
    assert found(some, parse("", "text")) == [1, 2, 4, 5]


# -- by a worker --------------------------------------------------------------------------------


@pytest.fixture
def large(some: Batch, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """A batch that is too large to be searched in a request."""
    monkeypatch.setattr(searches, "AT_ONCE_ROWS", 1)
    monkeypatch.setattr(searches, "PROGRESS_SECONDS", -1)
    return some


def test_a_large_batch_is_searched_by_a_worker(large: Batch) -> None:
    chosen = parse("", "cold")
    known = sizes.sizes(large, chosen)
    assert (known.rows, known.is_whole) == (0, False)
    search = searches.next_wanted()
    assert search is not None
    searches.carry_out(search.pk, beat=lambda: None)
    assert found(large, chosen) == [1, 5]
    assert sizes.sizes(large, chosen).is_whole
    assert searches.next_wanted() is None


def test_what_was_found_so_far_is_shown(large: Batch) -> None:
    chosen = parse("", "cold")
    search = searches.search_for(large, chosen)
    seen: list[tuple[list[int], int]] = []

    def look() -> None:
        seen.append((found(large, chosen), Search.objects.get().percent))

    searches.carry_out(search.pk, beat=look)
    assert seen == [([], 0), ([1], 60)]


def test_a_search_can_be_stopped_and_keeps_what_it_has_found(large: Batch) -> None:
    chosen = parse("", "cold")
    search = searches.search_for(large, chosen)
    beats: list[bool] = []

    def stop_at_the_second() -> None:
        beats.append(len(beats) == 1 and searches.stop(large, search.pk))

    searches.carry_out(search.pk, beat=stop_at_the_second)
    assert beats == [False, True]
    assert Search.objects.get().status == SearchStatus.STOPPED
    assert found(large, chosen) == [1]
    assert not searches.stop(large, search.pk)


def test_nobody_stops_a_search_of_another_batch(large: Batch, team: Team) -> None:
    search = searches.search_for(large, parse("", "cold"))
    assert not searches.stop(made(team, [yes()]), search.pk)


def test_two_workers_do_not_carry_out_the_same_search(large: Batch) -> None:
    search = searches.search_for(large, parse("", "cold"))

    def meanwhile() -> None:
        assert searches.next_wanted() is None
        searches.carry_out(search.pk, beat=pytest.fail)  # type: ignore[arg-type]

    searches.carry_out(search.pk, beat=meanwhile)
    assert Search.objects.get().status == SearchStatus.DONE


def test_a_worker_that_is_asked_to_stop_leaves_a_search_to_another(large: Batch) -> None:
    search = searches.search_for(large, parse("", "cold"))

    def stop() -> None:
        raise StoppedError

    searches.carry_out(search.pk, beat=stop)
    assert searches.next_wanted() == search
    searches.carry_out(search.pk, beat=lambda: None)
    assert found(large, parse("", "cold")) == [1, 5]


def test_a_search_that_was_cut_off_too_often_fails(large: Batch) -> None:
    search = searches.search_for(large, parse("", "cold"))
    Search.objects.update(begun=3)
    searches.carry_out(search.pk, beat=lambda: None)
    assert Search.objects.get().status == SearchStatus.FAILED
