"""Counts, statuses and problems as sentences say them."""

from collections.abc import Sequence

import pytest

from batchui.batches.models import Batch
from batchui.batches.phrases import (
    part_numbers,
    parts_phrase,
    problem_of,
    rows_are,
    rows_phrase,
    size_phrase,
)


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


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([4], "Part 4"),
        ([4, 5], "Parts 4 and 5"),
        ([1, 2, 3, 7], "Parts 1 to 3 and 7"),
        ([1, 3, 4, 5, 9], "Parts 1, 3 to 5 and 9"),
        ([1000, 1001], "Parts 1,000 and 1,001"),
        (range(1, 27, 2), "Parts 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 25"),
        (range(1, 29, 2), "Parts 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 2 more"),
    ],
)
def test_numbers_of_parts_are_named_in_runs(numbers: Sequence[int], text: str) -> None:
    assert part_numbers(numbers) == text


ROWS = [{"sentence": "Row 2: too few cells."}, {"sentence": "Row 3: too many cells."}]


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (Batch(), ""),
        (Batch(problem="The file is empty."), "The file is empty."),
        (Batch(problem="Broken.", bad_rows=2, problem_rows=ROWS), "Broken. Row 2: too few cells."),
        (
            Batch(bad_rows=2, problem_rows=ROWS),
            "2 rows cannot be asked. Correct them in the file, or skip them. Row 2: too few cells.",
        ),
        (
            Batch(bad_rows=1, problem_rows=ROWS[:1]),
            "1 row cannot be asked. Correct it in the file, or skip it. Row 2: too few cells.",
        ),
    ],
)
def test_a_batch_that_cannot_start_says_why_and_names_the_first_row(
    batch: Batch, sentence: str
) -> None:
    assert problem_of(batch) == sentence


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "1 KB"),
        (1_016, "1 KB"),
        (15_600, "16 KB"),
        (999_000, "999 KB"),
        (1_000_000, "1.0 MB"),
        (9_940_000, "9.9 MB"),
        (30_000_000, "30 MB"),
        (1_073_741_824, "1.07 GB"),
    ],
)
def test_sizes_are_written_in_one_way(size: int, text: str) -> None:
    assert size_phrase(size) == text
