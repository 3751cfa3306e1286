"""Rows that ask exactly the same are found, in little memory."""

import tracemalloc
from collections.abc import Iterator

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import Problem
from batchui.prompts.reading.readers import Row
from batchui.prompts.repeats import Repeats

WRITER = ItemWriter("prompt", Ask(template="Rate: {{text}}"), ("id", "text"))


def rows(*texts: str) -> Iterator[Row]:
    for number, text in enumerate(texts, 2):
        yield Row(number, number, [str(number), text], None)


def question(text: str) -> bytes:
    return WRITER.question(["1", text]) or b""


def test_rows_that_ask_what_an_earlier_row_asks_are_counted() -> None:
    assert Repeats(rows("a", "b", "a", "c", "a", "b"), WRITER).rows == 3
    assert Repeats(rows("a", "b", "c"), WRITER).rows == 0
    assert Repeats(rows(), WRITER).rows == 0


def test_rows_without_a_question_are_not_alike() -> None:
    bad = Row(9, 9, ["9", "a"], Problem("it is bad.", row=9))
    assert Repeats([*rows("a", "", " ", ""), bad], WRITER).rows == 0


def test_the_first_row_with_a_question_is_that_of_all_others_with_it() -> None:
    repeats = Repeats(rows("a", "b", "a", "b", "c"), WRITER)
    asked = [("a", 2), ("b", 3), ("a", 4), ("b", 5), ("c", 6)]
    assert [repeats.first(question(text), row) for text, row in asked] == [2, 3, 2, 3, 6]


def test_many_different_questions_take_about_ten_bytes_each() -> None:
    count = 100_000
    tracemalloc.start()
    try:
        found = Repeats((Row(at, at, ["", str(at)], None) for at in range(count)), WRITER)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.rows == 0
    assert peak < 20 * count
