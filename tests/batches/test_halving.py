"""Which rows are sent next: the refused ones are found with few requests, and only they fail."""

import random
from collections.abc import Callable, Sequence
from math import ceil, log2

import pytest

from batchui.batches.halving import Tried, next_rows

Verdict = Callable[[Sequence[int]], bool]


def accepted(*rows: int) -> Tried:
    return Tried(frozenset(rows), accepted=True)


def refused(*rows: int) -> Tried:
    return Tried(frozenset(rows), accepted=False)


def without(*bad: int) -> Verdict:
    """Accepts a request that has none of these rows."""
    return lambda rows: not set(bad).intersection(rows)


class Found:
    """A part that is sent until no row waits: which rows fail, and after how many requests."""

    def __init__(self, count: int, is_accepted: Verdict, *, most: int = 10_000) -> None:
        waiting, self.tried = list(range(count)), list[Tried]()
        self.failed: list[int] = []
        self.accepted: list[int] = []
        while waiting:
            rows = next_rows(waiting, self.tried)
            assert rows
            assert set(rows) <= set(waiting)
            assert len(self.tried) < most
            verdict = is_accepted(rows)
            self.tried.append(Tried(frozenset(rows), verdict))
            if verdict:
                self.accepted += rows
            elif len(rows) == 1:
                self.failed += rows
            done = {*self.accepted, *self.failed}
            waiting = [row for row in waiting if row not in done]
        self.sizes = [len(request.rows) for request in self.tried]


def test_a_part_without_a_refusal_is_sent_whole() -> None:
    assert next_rows([0, 1, 2], []) == [0, 1, 2]
    assert next_rows([3, 4], [accepted(0, 1, 2)]) == [3, 4]


def test_after_a_refusal_the_first_half_is_sent() -> None:
    assert next_rows([0, 1, 2, 3], [refused(0, 1, 2, 3)]) == [0, 1]
    assert next_rows([0, 1, 2, 3, 4], [refused(0, 1, 2, 3, 4)]) == [0, 1, 2]


def test_an_accepted_half_leaves_the_other_one_suspect() -> None:
    tried = [refused(0, 1, 2, 3, 4, 5, 6, 7), accepted(0, 1, 2, 3)]
    assert next_rows([4, 5, 6, 7], tried) == [4, 5]


def test_the_last_suspect_is_sent_alone() -> None:
    tried = [refused(0, 1, 2, 3), accepted(0, 1), refused(2, 3), accepted(2)]
    assert next_rows([3, 4, 5], tried) == [3]


def test_after_the_row_is_found_the_others_are_sent_together() -> None:
    tried = [refused(0, 1, 2, 3), accepted(0, 1), refused(2)]
    assert next_rows([3, 4, 5], tried) == [3, 4, 5]


@pytest.mark.parametrize(("count", "bad"), [(5_000, 0), (5_000, 1_234), (5_000, 4_999), (64, 31)])
def test_one_bad_row_is_found_with_few_requests(count: int, bad: int) -> None:
    found = Found(count, without(bad))
    assert found.failed == [bad]
    assert sorted(found.accepted) == [row for row in range(count) if row != bad]
    assert len(found.tried) <= ceil(log2(count)) + 4 < 2 * log2(count) + 4


@pytest.mark.parametrize("seed", range(60))
def test_whichever_rows_are_bad_only_they_fail_and_no_row_is_accepted_twice(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 60)
    bad = chance.sample(range(count), chance.randint(0, count))
    found = Found(count, without(*bad))
    assert sorted(found.failed) == sorted(bad)
    assert sorted(found.accepted) == sorted(set(range(count)) - set(bad))
    assert len(found.tried) <= 3 + len(bad) * (ceil(log2(count + 1)) + 2)


def test_rows_that_are_far_from_each_other_show_that_all_are_refused() -> None:
    waiting = list(range(1, 10))
    tried = [refused(*range(10)), refused(*range(5)), refused(0, 1, 2), refused(0, 1), refused(0)]
    assert next_rows(waiting, tried) == [9]
    assert next_rows(waiting[:-1], [*tried, refused(9)]) == [5]
    assert next_rows([1, 2, 3, 4, 6, 7, 8], [*tried, refused(9), refused(5)]) == [8]


def test_one_accepted_row_shows_that_not_all_are_refused() -> None:
    tried = [refused(0, 1, 2, 3), refused(0, 1), refused(0), accepted(3)]
    assert next_rows([1, 2], tried) == [1, 2]


def test_a_request_that_was_refused_for_its_number_of_rows_goes_in_pieces_that_fit() -> None:
    found = Found(1_000, lambda rows: len(rows) <= 100)
    assert found.failed == []
    assert sorted(found.accepted) == list(range(1_000))
    assert max(size for size in found.sizes[5:] if size) <= 100
    assert len(found.tried) < 35


def test_a_bad_row_in_a_part_with_too_many_rows_is_found_too() -> None:
    found = Found(1_000, lambda rows: len(rows) <= 100 and 700 not in rows)
    assert found.failed == [700]
    assert len(found.accepted) == 999
    assert len(found.tried) < 50


def test_rows_that_an_older_request_answered_are_no_pieces() -> None:
    """The receipt of a request before these came late, and brought the answers of rows 0 and 1."""
    tried = [refused(0, 1, 2, 3), refused(0, 1)]
    assert next_rows([2, 3], tried) == [2, 3]
