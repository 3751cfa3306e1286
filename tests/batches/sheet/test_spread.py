"""How numbers of many parts are spread: near the truth, whatever the number of parts."""

import random

import pytest

from batchui.batches.sheet import spread
from batchui.batches.sheet.spread import POINTS, Spread, Together, spread_of


def parts(number: int, *, rows: int = 200) -> list[Spread]:
    """Parts with numbers from 0 to 100, most of them small."""
    pick = random.Random(number)
    made = (spread_of([100 * pick.random() ** 2 for _ in range(rows)]) for _ in range(number))
    return [one for one in made if one is not None]


@pytest.mark.parametrize("number", [1, 20, 1_000, 5_000])
def test_the_middle_and_the_bars_are_near_the_truth(number: int) -> None:
    together = Together(parts(number))
    assert together.count == 200 * number
    near = 5 if number == 1 else 1
    assert together.middle == pytest.approx(25, abs=4 * near)
    first, *_ = together.histogram(4)  # up to 25 stands half of the numbers
    assert first.rows == pytest.approx(together.count / 2, rel=0.06 * near)
    assert sum(one.rows for one in together.histogram(4)) == pytest.approx(together.count, rel=0.01)


def test_each_bar_begins_where_the_one_before_it_ends() -> None:
    bars = Together([Spread(2, 10.0, 30.0, 40.0, [10.0, 30.0])]).histogram(4)
    edges = [(bar.start, bar.end) for bar in bars]
    assert edges == [(10.0, 15.0), (15.0, 20.0), (20.0, 25.0), (25.0, 30.0)]


def test_of_many_parts_fewer_points_are_looked_at() -> None:
    few, many = parts(100, rows=40), parts(5_000, rows=40)
    assert len(spread._weighted(few)) == 100 * POINTS
    assert len(spread._weighted(many)) <= spread.ENOUGH * 4 / 3
    assert sum(weight for _, weight in spread._weighted(many)) == pytest.approx(5_000 * 40)


def test_a_part_with_few_numbers_keeps_all_of_them() -> None:
    small = Spread(2, 1.0, 9.0, 10.0, [1.0, 9.0])
    kept = spread._weighted([small, *parts(5_000, rows=40)])
    assert (1.0, 1.0) in kept
    assert (9.0, 1.0) in kept
