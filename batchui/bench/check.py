"""Checks the result of a side: every row of the file, in order, with its own answer."""

import csv
from itertools import zip_longest
from pathlib import Path

from batchui.bench.question import COLUMNS, question
from batchui.bench.surroundings import BenchFailed
from batchui.bench.texts import Answers


class Check:
    """Compares results with the file that they were made from.

    There is one check for all sides, so results that pass are equal.
    """

    def __init__(self, source: Path, answers: Answers) -> None:
        self._source = source
        self._answers = answers

    def result(self, side: str, result: Path) -> None:
        """Raise BenchFailed, with the side and the row, if the result is wrong.

        It must be a CSV file with the source's columns and `answer` (others may follow), and with
        every row and its answer.
        """
        with (
            self._source.open(newline="", encoding="utf-8") as first,
            result.open(newline="", encoding="utf-8-sig") as second,
        ):
            given, found = csv.reader(first), csv.reader(second)
            self._same(side, "the header", [*next(given), "answer"], next(found, None))
            for number, (row, got) in enumerate(zip_longest(given, found), 1):
                wanted = [*row, self._answers.to(question(row[-1]))] if row else None
                self._same(side, f"row {number:,}", wanted, got)

    def _same(self, side: str, place: str, wanted: list[str] | None, got: list[str] | None) -> None:
        if got is None or got[: len(COLUMNS) + 1] != wanted:
            raise BenchFailed(
                f"The result of the {side} is wrong in {place}: {_shown(got)} instead of "
                f"{_shown(wanted)}."
            )


def _shown(row: list[str] | None) -> str:
    return "nothing" if row is None else repr(row)
