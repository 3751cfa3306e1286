"""A figure stands only where every row of the result is right."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from batchui.bench.check import Check
from batchui.bench.question import question
from batchui.bench.surroundings import BenchFailed
from batchui.bench.texts import Answers

Rows = list[list[str]]


@pytest.fixture
def rows(reviews: Path, answers: Answers) -> Rows:
    """The right result: the header, then every row with its answer."""
    with reviews.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return [[*header, "answer"], *([*row, answers.to(question(row[-1]))] for row in rows)]


def check(rows: Rows, reviews: Path, answers: Answers, path: Path, encoding: str = "utf-8") -> None:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file).writerows(rows)
    Check(reviews, answers).result("script", path)


def test_a_right_result_passes(rows: Rows, reviews: Path, answers: Answers, tmp_path: Path) -> None:
    check(rows, reviews, answers, tmp_path / "result.csv")


def test_further_columns_and_a_byte_order_mark_are_fine(
    rows: Rows, reviews: Path, answers: Answers, tmp_path: Path
) -> None:
    more = [[*row, "answered"] for row in rows]
    check(more, reviews, answers, tmp_path / "result.csv", encoding="utf-8-sig")


def spoil_answer(rows: Rows) -> None:
    rows[150][-1] += " "


def swap_answers(rows: Rows) -> None:
    rows[150][-1], rows[151][-1] = rows[151][-1], rows[150][-1]


def change_cell(rows: Rows) -> None:
    rows[150][1] = "Paris"


def swap_rows(rows: Rows) -> None:
    rows[150], rows[151] = rows[151], rows[150]


def lose_row(rows: Rows) -> None:
    del rows[150]


@pytest.mark.parametrize("spoil", [spoil_answer, swap_answers, change_cell, swap_rows, lose_row])
def test_one_wrong_row_is_found_and_named(
    spoil: Callable[[Rows], None], rows: Rows, reviews: Path, answers: Answers, tmp_path: Path
) -> None:
    spoil(rows)
    with pytest.raises(BenchFailed, match=r"^The result of the script is wrong in row 150: "):
        check(rows, reviews, answers, tmp_path / "result.csv")


def test_a_last_row_that_is_missing_is_found(
    rows: Rows, reviews: Path, answers: Answers, tmp_path: Path
) -> None:
    with pytest.raises(BenchFailed, match=r"row 200: nothing instead of"):
        check(rows[:-1], reviews, answers, tmp_path / "result.csv")


def test_a_row_too_many_is_found(
    rows: Rows, reviews: Path, answers: Answers, tmp_path: Path
) -> None:
    with pytest.raises(BenchFailed, match=r"row 201: .* instead of nothing"):
        check([*rows, rows[-1]], reviews, answers, tmp_path / "result.csv")


def test_a_wrong_header_is_found(
    rows: Rows, reviews: Path, answers: Answers, tmp_path: Path
) -> None:
    rows[0][-1] = "reply"
    with pytest.raises(BenchFailed, match="the header"):
        check(rows, reviews, answers, tmp_path / "result.csv")


def test_an_empty_result_is_found(reviews: Path, answers: Answers, tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match="the header: nothing"):
        check([], reviews, answers, tmp_path / "result.csv")
