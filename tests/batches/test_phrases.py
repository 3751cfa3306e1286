"""Counts as sentences say them."""

import pytest

from batchui.batches.phrases import parts_phrase, rows_are, rows_phrase


@pytest.mark.parametrize(
    ("count", "rows", "are", "parts"),
    [
        (0, "0 rows", "0 rows are", "0 parts"),
        (1, "1 row", "1 row is", "1 part"),
        (2, "2 rows", "2 rows are", "2 parts"),
        (2500, "2,500 rows", "2,500 rows are", "2,500 parts"),
    ],
)
def test_a_count_has_its_noun_and_its_verb(count: int, rows: str, are: str, parts: str) -> None:
    assert (rows_phrase(count), rows_are(count), parts_phrase(count)) == (rows, are, parts)
