"""Rows become parts, and parts become the bodies of requests."""

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.cutting import Cut, Limits, cut, rows_per_part
from batchui.prompts.items import ItemWriter
from batchui.prompts.payload import payload
from batchui.prompts.problems import BadInput, Problem
from batchui.prompts.reading.readers import Row
from batchui.prompts.reading.rows import decode_row, encode_row
from batchui.prompts.repeats import Repeats
from tests.prompts.files import format_of, rows_of, together

WRITER = ItemWriter("prompt", Ask(template="{{text}}"), ("id", "text"))


def rows(texts: list[str]) -> Iterator[Row]:
    for number, text in enumerate(texts, 1):
        yield Row(number, number + 1, [str(number), text], None)


def parts(texts: list[str], **limits: int) -> list[Cut]:
    return list(cut(together(rows(texts)), WRITER, total=len(texts), limits=Limits(**limits)))


def sendable(part: Cut) -> list[int]:
    return [at for at in range(len(part.lines)) if at not in part.invalid | part.blank]


def body(part: Cut, positions: list[int] | None = None) -> bytes:
    wanted = sendable(part) if positions is None else positions
    return payload(part.lines, wanted, first_row=part.first_row, writer=WRITER)


@pytest.mark.parametrize(
    ("total", "size"),
    [
        (1, 25),
        (500, 25),
        (501, 26),
        (20_000, 1000),
        (100_000, 5000),
        (300_000, 15_000),
        (1_000_000, 15_000),
    ],
)
def test_about_twenty_parts_of_25_to_15000_rows(total: int, size: int) -> None:
    assert rows_per_part(total, Limits()) == size


def test_embeddings_take_smaller_parts() -> None:
    assert rows_per_part(1_000_000, Limits(rows=500)) == 500


def test_parts_are_consecutive_and_keep_every_row() -> None:
    texts = [f"text {at}" for at in range(1, 104)]
    cuts = parts(texts)
    assert [(part.number, part.first_row, len(part.lines)) for part in cuts] == [
        (1, 1, 25),
        (2, 26, 25),
        (3, 51, 25),
        (4, 76, 25),
        (5, 101, 3),
    ]
    stored = [decode_row(line) for part in cuts for line in part.lines]
    assert stored == [[str(at), text] for at, text in enumerate(texts, 1)]


def test_a_part_has_no_more_rows_than_its_limit() -> None:
    assert [len(part.lines) for part in parts(["x"] * 30, rows=12)] == [12, 12, 6]


@pytest.mark.parametrize("limit", [400, 500, 1000, 5000])
def test_no_body_is_larger_than_the_limit(limit: int) -> None:
    texts = ["é" * (at % 60 + 1) for at in range(200)]
    cuts = parts(texts, item_bytes=limit, least_rows=50)
    assert len(cuts) > 1
    assert sum(len(part.lines) for part in cuts) == 200
    for part in cuts:
        assert len(body(part)) <= part.item_bytes <= limit


def test_large_rows_fill_a_part_to_the_limit() -> None:
    cuts = parts(["x" * 1000] * 100, item_bytes=10_700, least_rows=100)
    assert {len(part.lines) for part in cuts} == {10}
    assert all(len(body(part)) == part.item_bytes for part in cuts)


def test_a_part_may_be_exactly_as_large_as_a_request() -> None:
    [three] = parts(["x" * 1000] * 3, least_rows=100)
    for limit, sizes in ((len(body(three)), [3, 3, 3]), (len(body(three)) - 1, [2, 2, 2, 2, 1])):
        cuts = parts(["x" * 1000] * 9, item_bytes=limit, least_rows=100)
        assert [len(part.lines) for part in cuts] == sizes


def test_an_estimate_of_sizes_never_makes_a_part_smaller() -> None:
    texts = ["x" * 100] * 25
    [whole] = parts(texts)
    exact = len(body(whole))
    for limit in range(exact, exact + 25 * 40, 5):
        assert len(parts(texts, item_bytes=limit)) == 1


def test_a_row_may_be_exactly_as_large_as_a_request() -> None:
    [alone] = parts(["x" * 1000])
    size = len(body(alone))
    assert [parts(["x" * 1000], item_bytes=size)[0].invalid] == [{}]
    assert list(parts(["x" * 1000], item_bytes=size - 1)[0].invalid) == [0]


def test_a_part_holds_no_more_of_the_file_than_it_may() -> None:
    big = [Row(at, at, ["y" * 1000, "x"], None) for at in range(1, 41)]
    five = 5 * len(encode_row(big[0].cells))
    for limit, rows_each in ((five, {5}), (five - 1, {4})):
        cuts = list(
            cut(together(big), WRITER, total=40, limits=Limits(row_bytes=limit, least_rows=40))
        )
        assert {len(part.lines) for part in cuts} == rows_each


def test_an_item_that_no_request_could_hold_is_invalid_with_a_reason() -> None:
    [part] = parts(["ok", "x" * 1_250_000, "ok"], item_bytes=1_000_000)
    assert sendable(part) == [0, 2]
    assert part.invalid[1] == (
        "Row 2 (line 3): its question would be 1.3 MB, more than the 1.0 MB that one request "
        "takes. Shorten its text, or skip the row."
    )
    assert decode_row(part.lines[1]) == ["2", "x" * 1_250_000]
    [part] = parts(["x" * 1_250_000] * 2, item_bytes=1_000_000)
    assert len(body(part)) == part.item_bytes == 15


def test_bad_rows_and_blank_prompts_are_invalid_and_keep_their_places() -> None:
    data = b"id,text\n1,a\n2,b,c\n3, \n\n5,e\n"
    writer = ItemWriter("prompt", Ask(template="{{text}}"), format_of(data).columns)
    [part] = cut(together(rows_of(data)), writer, total=5)
    assert sendable(part) == [0, 4]
    assert part.invalid[1].startswith("Row 3: 3 cells where the header has 2")
    assert part.blank[2].startswith("Row 4, column “text”: the cell is blank")
    assert part.blank[3].startswith("Row 5: the line is empty")
    assert (set(part.invalid), set(part.blank)) == ({1}, {2, 3})
    assert [decode_row(line) for line in part.lines][1:4] == [["2", "b", "c"], ["3", " "], []]


def test_a_blank_prompt_is_named_by_its_row_and_its_line() -> None:
    [part] = parts(["a", " "])
    assert part.blank[1].startswith("Row 2 (line 3), column “text”: the cell is blank")


def test_a_part_of_nothing_but_bad_rows_is_still_a_part() -> None:
    bad = [Row(at, at + 1, ["x"], Problem("bad.", row=at)) for at in (1, 2)]
    [part] = cut(together(bad), WRITER, total=2)
    assert (sendable(part), part.invalid) == ([], {0: "Row 1: bad.", 1: "Row 2: bad."})
    assert part.blank == {}
    assert len(body(part)) == part.item_bytes == 15


def test_a_full_part_of_nothing_but_bad_rows_is_a_request_without_items() -> None:
    cuts = parts(["", "", "a"], rows=2, least_rows=1, parts=1)
    assert [(list(part.blank), len(part.lines)) for part in cuts] == [([0, 1], 2), ([], 1)]
    assert cuts[0].blank[1].startswith("Row 2 (line 3), column “text”: the cell is blank")
    assert len(body(cuts[0])) == cuts[0].item_bytes == 15


def test_a_question_is_asked_once_whichever_part_its_other_rows_are_in() -> None:
    asked = list(rows(["a" * 1000, "b", "a" * 1000, "", "a" * 1000, "b"]))
    limits = Limits(rows=2, item_bytes=2_000, least_rows=1, parts=1)
    cuts = list(
        cut(together(asked), WRITER, total=6, limits=limits, repeats=Repeats(asked, WRITER))
    )
    assert [(list(part.blank), part.copies) for part in cuts] == [
        ([], {}),
        ([1], {0: 1}),
        ([], {0: 1, 1: 2}),
    ]
    assert [part.item_bytes for part in cuts[1:]] == [15, 15]


def test_no_row_gets_the_answer_of_one_that_is_not_asked() -> None:
    asked = [
        Row(2, 2, ["1", "a", "and"], Problem("3 cells.", row=2)),
        *(Row(at, at, [str(at), "a"], None) for at in (3, 4)),
    ]
    [part] = cut(together(asked), WRITER, total=3, repeats=Repeats(asked, WRITER))
    assert (list(part.invalid), part.copies) == ([0], {2: 3})


def test_no_rows_make_no_part() -> None:
    assert list(cut([], WRITER, total=0)) == []


def test_the_body_asks_for_the_rows_in_the_order_of_their_positions() -> None:
    [part] = parts(["a", "b", "c", "d"])

    def asked(positions: list[int] | None) -> list[Any]:
        made = payload(part.lines, positions, first_row=part.first_row, writer=WRITER)
        return [
            (item["prompt"], item["external_reference"]) for item in json.loads(made)["requests"]
        ]

    assert asked(None) == [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]
    assert asked([3, 1]) == [("d", "4"), ("b", "2")]
    assert asked([]) == []


def test_a_body_is_in_memory_once_beside_its_items() -> None:
    lines = [encode_row(["1", "x" * 1_000])] * 2_000
    tracemalloc.start()
    made = payload(lines, None, first_row=1, writer=WRITER)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 2_000_000 < len(made) < peak < 2.6 * len(made)


def test_row_numbers_in_a_body_count_through_the_batch() -> None:
    part = parts(["x"] * 60)[1]
    items = json.loads(body(part, [0, 24]))["requests"]
    assert [item["external_reference"] for item in items] == ["26", "50"]


def test_a_blank_row_asked_for_by_mistake_is_not_sent() -> None:
    [part] = parts(["a", ""])
    with pytest.raises(BadInput, match=r"^Row 2, column “text”: the cell is blank"):
        payload(part.lines, None, first_row=1, writer=WRITER)


def test_the_lines_of_a_part_may_come_one_by_one() -> None:
    [part] = parts(["a", "b"])
    made = payload(iter(part.lines), [1], first_row=1, writer=WRITER)
    assert json.loads(made)["requests"][0]["prompt"] == "b"


def test_a_question_that_the_model_cannot_read_is_invalid_and_says_how_long_it_is() -> None:
    texts = ["ok", "word " * 6_000, "word " * 24_000]
    rows = [Row(at, at, [str(at), text], None) for at, text in enumerate(texts, 2)]
    [part] = cut(together(rows), WRITER, total=3, limits=Limits(context_window=8_192))
    assert sendable(part) == [0, 1]
    assert part.invalid[2] == (
        "Row 4: its question has about 20,000 words, and the model reads about 6,100 words at "
        "once. Choose a model that reads more or shorten the text, or skip the row."
    )


def test_a_question_that_a_request_just_takes_is_only_too_long_for_the_model() -> None:
    size = len(body(parts(["x" * 1000])[0]))
    for item_bytes, said in ((size, "about 200 words"), (size - 1, "would be 0.0 MB")):
        [part] = parts(["x" * 1000], item_bytes=item_bytes, context_window=100)
        assert said in part.invalid[0]


def test_where_nobody_knows_what_a_model_reads_only_requests_are_limited() -> None:
    rows = [Row(2, 2, ["1", "word " * 500_000], None)]
    [part] = cut(together(rows), WRITER, total=1, limits=Limits())
    assert sendable(part) == [0]


@pytest.mark.parametrize("at_once", [1, 3, 10, 26, 1000])
@pytest.mark.parametrize("kind", ["table", "objects"])
def test_however_many_rows_come_at_once_the_parts_are_the_same(at_once: int, kind: str) -> None:
    texts = ["x" * (at % 90) if at % 11 else " " for at in range(400)]
    given = [
        Row(at, at, [str(at), text] if kind == "table" else {"id": at, "text": text}, None)
        for at, text in enumerate(texts, 2)
    ]
    limits = Limits(item_bytes=3_000, row_bytes=2_500, rows=30, least_rows=30)

    def cuts(size: int) -> list[tuple[int, int, list[bytes], list[int]]]:
        found = cut(together(given, size), WRITER, total=400, limits=limits)
        return [(part.number, part.first_row, part.lines, list(part.blank)) for part in found]

    assert cuts(at_once) == cuts(7)
    assert [line for _, _, lines, _ in cuts(at_once) for line in lines] == [
        encode_row(row.cells) for row in given
    ]


@pytest.mark.parametrize("objects", [False, True])
def test_small_rows_that_come_together_are_counted_with_at_least_their_bytes(objects: bool) -> None:
    texts = ['"é' * 20] * 100
    given = [
        Row(at, at, {"text": text} if objects else ["", text], None)
        for at, text in enumerate(texts, 2)
    ]
    for part in cut(together(given, 50), WRITER, total=100, limits=Limits(rows=40, least_rows=40)):
        assert len(body(part, list(range(len(part.lines))))) <= part.item_bytes <= 40 * 400


def test_one_blank_row_among_many_is_found_wherever_it_is() -> None:
    for blank in range(9):
        texts = [" " if at == blank else "x" for at in range(9)]
        [part] = parts(texts)
        assert list(part.blank) == [blank]


def test_a_row_is_asked_if_one_of_its_columns_has_text() -> None:
    writer = ItemWriter("prompt", Ask(template="{{a}} {{b}}"), ("a", "b"))
    for cells, blank in (
        (["", "x"], []),
        (["x", ""], []),
        ([" ", ""], [1]),
        ([], [1]),
        (["x"], []),
    ):
        given = [Row(2, 2, ["x", "y"], None), Row(3, 3, cells, None)]
        [part] = cut(together(given), writer, total=2)
        assert list(part.blank) == blank


def test_a_column_of_numbers_is_not_blank() -> None:
    given = [Row(at, at, ["", at], None) for at in (2, 3)]
    [part] = cut(together(given), WRITER, total=2)
    assert (part.blank, part.invalid) == ({}, {})


def test_one_question_that_is_too_long_is_found_among_many_short_ones() -> None:
    given = [Row(at, at, [str(at), "x" * (900 if at == 50 else 5)], None) for at in range(2, 102)]
    [part] = cut(
        together(given, 100), WRITER, total=100, limits=Limits(context_window=100, parts=1)
    )
    assert list(part.invalid) == [48]
