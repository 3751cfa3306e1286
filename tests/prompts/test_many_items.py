"""The items of many rows at once are those of each row."""

from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.ranking import RankWriter
from batchui.prompts.reading.rows import encode_row

COLUMNS = ("id", "text")
ROWS = [["a", "one"], ["b", 'Zeile 1\nZeile 2\r\u2028 “x” \\ " '], ["c", "漢字 👋"], ["d"]]
ASKS = [
    Ask(template="{{text}}"),
    Ask(template="Say {{text}} of {{id}}.", instruction="Be brief.", max_tokens=7),
    Ask(template="{{text}} {{id}}", reference_column="id"),
]


def each(writer: ItemWriter, rows: list[Any]) -> list[bytes]:
    return [writer.encode(number, cells) for number, cells in enumerate(rows, 5)]


@pytest.mark.parametrize("asked", ASKS)
@pytest.mark.parametrize("item_format", ["prompt", "messages", "text"])
def test_the_items_of_many_rows_are_those_of_each(item_format: str, asked: Ask) -> None:
    writer = ItemWriter(item_format, asked, COLUMNS)
    rows = ROWS if "id" in asked.template else ROWS[:3]
    assert writer.encode_many(5, rows) == each(writer, rows)
    objects = [{"id": "a", "text": "one"}, {"text": 2.5, "id": None}]
    assert writer.encode_many(5, objects) == each(writer, objects)


def test_ready_made_items_are_made_one_by_one() -> None:
    writer = ItemWriter("prompt", Ask(as_items=True), ())
    rows = [{"prompt": "one"}, {"prompt": "two", "max_tokens": 3}]
    assert writer.encode_many(5, rows) == each(writer, rows)


def test_so_are_those_that_rank() -> None:
    asked = Ask(template="{{text}}{{id}}", query="Which?", job="rank")
    writer = RankWriter("contexts", asked, COLUMNS)
    assert writer.encode_many(5, ROWS[:3]) == each(writer, ROWS[:3])
    assert writer.bound(ROWS[:3]) is None


def test_a_blank_row_among_many_is_named() -> None:
    writer = ItemWriter("prompt", ASKS[0], COLUMNS)
    with pytest.raises(BadInput, match=r"^Row 6, column “text”: the cell is blank"):
        writer.encode_many(5, [["a", "x"], ["b", " \n"], ["c", "y"]])


@pytest.mark.parametrize("asked", ASKS)
def test_no_item_is_larger_than_its_bound(asked: Ask) -> None:
    writer = ItemWriter("messages", asked, COLUMNS)
    rows = [['é\n"' * 40, "x"], ["\u2028", "\x01" * 30]]
    for given in (rows, [dict(zip(COLUMNS, cells, strict=True)) for cells in rows]):
        each_bytes, times = writer.bound(given) or (0, 0)
        for cells, item in zip(given, each(writer, given), strict=True):
            assert len(item) <= each_bytes + times * len(encode_row(cells))


def test_nothing_is_said_of_rows_that_may_be_blank_or_are_looked_at_one_by_one() -> None:
    writer = ItemWriter("prompt", ASKS[0], COLUMNS)
    assert writer.bound([["a", "x"]]) is not None
    for rows in ([["a", " "]], [["a"]], [["a", 1]], [["a", "x"], {"text": "x"}], [{"text": ""}]):
        assert writer.bound(rows) is None
    assert ItemWriter("prompt", Ask(as_items=True), ()).bound([{"prompt": "x"}]) is None
