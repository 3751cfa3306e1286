"""A pass over rows tells how far it is."""

import pytest

from batchui.batches.progress import telling


@pytest.mark.parametrize(
    ("rows", "told_of"),
    [(0, []), (1, []), (1_000, []), (1_001, [1_000]), (2_500, [1_000, 2_000])],
)
def test_after_each_thousand_rows_it_is_told_how_many_there_were(
    rows: int, told_of: list[int]
) -> None:
    told: list[int] = []
    assert list(telling(range(rows), told.append)) == list(range(rows))
    assert told == told_of
