"""Questions and rows made to be expensive: they are refused, or cost little."""

import io
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any, BinaryIO, cast

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.cutting import USUAL, cut
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.readers import MOST_BYTES, Row, read_beginning
from batchui.prompts.reading.rows import encode_row
from batchui.prompts.reading.sniffing import sniff
from batchui.prompts.template import LONGEST_TEXT, MOST_USES, Template
from tests.prompts.files import together
from tests.worst import assert_cheap

CELL = "x" * 990_000


def bound(text: str, columns: tuple[str, ...] = ("a",)) -> None:
    with suppress(BadInput):
        Template(text).bind(columns)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 2_400_000,
        "{{" * 1_200_000 + "a}}",
        "{{a" * 800_000,
        "{{a}}" * 480_000,
        "}}{{" * 600_000,
    ],
    ids=["open", "open and closed", "never closed", "many", "closed and open"],
)
def test_a_long_text_of_braces_is_read_in_no_time(text: str) -> None:
    assert_cheap(lambda: bound(text))


@pytest.mark.parametrize("letters", [60, 60_000])
def test_a_wrong_name_is_compared_with_the_columns_in_no_time(letters: int) -> None:
    columns = tuple("a" * (letters - 1) + f"{number}" for number in range(2_000))
    assert_cheap(lambda: bound("{{" + "a" * letters + "}}", columns))


def test_a_text_is_as_long_as_allowed_and_no_longer() -> None:
    Template("{{a}}" + "x" * (LONGEST_TEXT - 5)).bind(["a"])
    with pytest.raises(BadInput, match=r"The text has 100,001 characters; at most 100,000"):
        Template("{{a}}" + "x" * (LONGEST_TEXT - 4)).bind(["a"])


def test_an_instruction_is_as_long_as_allowed_and_no_longer() -> None:
    asked = Ask(template="{{a}}", instruction="x" * LONGEST_TEXT)
    ItemWriter("messages", asked, ["a"])
    with pytest.raises(BadInput, match=r"The instruction has 100,001 characters"):
        ItemWriter("messages", Ask(template="{{a}}", instruction="x" * 100_001), ["a"])


def test_columns_are_named_as_often_as_allowed_and_no_more() -> None:
    Template("{{a}}" * MOST_USES).bind(["a"])
    with pytest.raises(BadInput, match=r"names columns 201 times; at most 200"):
        Template("{{a}}" * (MOST_USES + 1)).bind(["a"])


@pytest.mark.parametrize(
    "cells", [[CELL], {"a": CELL}, {"a": [CELL]}], ids=["list", "text", "json"]
)
def test_a_question_too_large_for_any_request_is_never_built(cells: list[str]) -> None:
    writer = ItemWriter("messages", Ask(template="{{a}}" * MOST_USES), ["a"])
    rows = [Row(1, 2, cells, None)]

    def cut_it() -> None:
        [part] = cut(together(rows), writer, total=1)
        assert "its question would be 198.0 MB" in part.invalid[0]

    assert_cheap(cut_it)


@pytest.mark.parametrize(
    ("asked", "cells"),
    [
        (Ask(template="{{a}}" + "\x01" * 99_000), ["1"]),
        (Ask(template="{{a}}", instruction="\x01" * 99_000), {"a": 1}),
        (Ask(as_items=True, options={"stop": "\x01" * 99_000}), {"prompt": "1"}),
    ],
    ids=["template", "instruction", "options"],
)
def test_a_long_question_is_not_made_anew_for_each_row_to_find_its_size(
    asked: Ask, cells: Any
) -> None:
    writer = ItemWriter("messages", asked, ["a"])
    exact, stored = len(writer.encode(7, cells)), len(encode_row(cells))
    assert writer.size(7, cells, stored=stored, enough=0) == exact
    assert_cheap(lambda: [writer.size(7, cells, stored=stored, enough=0) for _ in range(2_000)])


def test_a_prompt_is_filled_as_far_as_it_is_shown() -> None:
    filler = Template("<{{a}}|" * MOST_USES).bind(["a"])
    assert filler.fill([CELL], 5) == "<xxxx"
    assert filler.fill(["12"], 6) == "<12|<1"
    assert filler.fill([], 3) == "<|<"
    assert filler.fill(["12"], 0) == ""
    assert_cheap(lambda: filler.fill([CELL], 1_000))


class EmptyLines(io.RawIOBase):
    """A file with a head, a gigabyte of empty lines, and a last row."""

    def __init__(self, head: bytes, end: bytes) -> None:
        self._pieces = chain([head] if head else [], repeat(b"\n" * 64_000, 16_000), [end])

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


@pytest.mark.parametrize(
    ("name", "head", "end"),
    [
        ("a.csv", b"a,b\n1,2\n", b"3,4\n"),
        ("a.csv", b"", b"a,b\n1,2\n"),
        ("a.jsonl", b'{"a":1}\n', b'{"a":2}\n'),
        ("a.txt", b"one\n", b"two\n"),
    ],
)
def test_the_first_rows_of_a_file_of_empty_lines_are_there_in_no_time(
    name: str, head: bytes, end: bytes
) -> None:
    form = sniff(head or end, name=name, whole=False)

    def first_rows() -> None:
        rows = list(islice(read_beginning(cast(BinaryIO, EmptyLines(head, end)), form), 20))
        assert len(rows) == bool(head)

    assert_cheap(first_rows)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_the_beginning_of_a_file_has_whole_rows_alone(encoding: str) -> None:
    line = "x" * 899_999 + "\n"  # so that MOST_BYTES end within a row
    fit = MOST_BYTES // len(line.encode(encoding))
    form = replace(sniff(b"one\n", name="a.txt", whole=True), encoding=encoding)
    stream = io.BytesIO(line.encode(encoding) * (fit + 3))
    rows = [cells for block in read_beginning(stream, form) for cells in block.cells]
    assert {len(cells[0]) for cells in rows} == {899_999}
    assert fit - 1 <= len(rows) <= fit


@pytest.mark.parametrize("cell", ["x", "\u00e9", '"', "\U0001f600"])
def test_the_least_size_of_a_question_is_never_more_than_its_size(cell: str) -> None:
    writer = ItemWriter("prompt", Ask(template="{{a}} – {{a}}"), ["a"])
    cells = [cell * 50, "b"]
    least = writer.size(1, cells, stored=USUAL.item_bytes, enough=0)
    assert 100 <= least <= len(writer.encode(1, cells))
