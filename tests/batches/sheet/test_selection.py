"""What an address chooses."""

import pytest

from batchui.batches.sheet import selection
from batchui.batches.sheet.selection import ALL, LONGEST_WORDS, Selection, parse
from batchui.batches.states import AnswerStatus


@pytest.mark.parametrize("status", AnswerStatus)
def test_every_status_is_a_filter(status: AnswerStatus) -> None:
    assert parse(status.value).statuses == (status.value,)


@pytest.mark.parametrize(
    "chosen",
    [
        ALL,
        Selection(shown="attention"),
        Selection(shown="waiting"),
        Selection(reason="failed-too-long"),
        Selection(column="tone", value="good"),
        Selection(column="a:b %", value="c: d"),
        Selection(column="tone", value=""),
    ],
)
def test_a_filter_comes_back_from_its_address(chosen: Selection) -> None:
    assert parse(chosen.show) == chosen


@pytest.mark.parametrize("show", ["nonsense", "value:", "value:column", "ANSWERED", None, "…" * 99])
def test_an_address_that_means_nothing_shows_all(show: str | None) -> None:
    assert parse(show).is_all


def test_words_are_bounded_and_without_needless_spaces() -> None:
    assert parse("", "  cold \n breakfast ").words == "cold breakfast"
    assert len(parse("", "x" * 9_999).words) == LONGEST_WORDS


def test_what_needs_attention_is_every_status_but_those_with_which_nothing_is_wrong() -> None:
    assert set(selection.ATTENTION) == set(AnswerStatus) - selection.FINE
    assert "answered" not in selection.ATTENTION


@pytest.mark.parametrize(
    ("show", "may_be"),
    [
        ("", True),
        ("answered", True),
        ("edited", True),
        ("value:tone:good", True),
        ("failed", False),
        ("attention", False),
        ("waiting", False),
        ("reason:empty", False),
    ],
)
def test_it_knows_whether_answers_have_to_be_read(show: str, may_be: bool) -> None:
    assert parse(show).may_be_answered == may_be
