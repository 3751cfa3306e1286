"""Every problem of one place names it twice: in its sentence for people, in its fields for code."""

from collections.abc import Callable
from typing import Any

import pytest

from batchui.prompts.items import Ask, ItemWriter
from batchui.prompts.problems import CELL_LIMIT, BadInput, Problem, listed, place, quoted
from tests.prompts.files import format_of, report_of, rows_of

LONG = b"x" * (CELL_LIMIT + 1)
Place = tuple[int | None, int | None, str | None]


def read(data: bytes, name: str = "x.csv") -> Callable[[], Any]:
    return lambda: rows_of(data, name)


def checked(data: bytes, name: str) -> Callable[[], Any]:
    return lambda: report_of(data, name, max_rows=9_999)


def asked(cells: Any, *, template: str = "", as_items: bool = False) -> Callable[[], Any]:
    writer = ItemWriter("prompt", Ask(template=template, as_items=as_items), ("id", "text"))
    return lambda: writer.encode(42, cells, 43)


PLACES: dict[str, tuple[Callable[[], Any], Place]] = {
    "a NUL byte": (lambda: format_of(b"a,b\n1,2\n3,\0\n"), (None, 3, None)),
    "a byte of no character": (lambda: format_of("a\né\n".encode() + b"\xe9\n"), (None, 3, None)),
    "a header with a stray quote": (lambda: format_of(b'\n"a"x,b\n1,2\n'), (None, 2, None)),
    "a line without an end": (read(b"a\nb\n" + b"x" * 9_000_000), (None, 3, None)),
    "a quote that is not closed": (read(b'a,b\n1,2\n3,"x\n'), (3, 3, "b")),
    "a quote closed lines later": (read(b'a,b\n1,2\n"x\n3,4\n"y,5\n'), (3, 3, "a")),
    "a long cell": (read(b"a,b\n1,2\n3,%b\n" % LONG), (3, 3, "b")),
    "a long line of text": (read(b"1\n%b\n" % LONG, "x.txt"), (2, 2, None)),
    "a long value": (read(b'{"a": 1}\n{"b": "%b"}\n' % LONG, "x.jsonl"), (2, 2, "b")),
    "too many keys": (
        checked(b"".join(b'{"%d": 1}\n' % at for at in range(2_001)), "x.jsonl"),
        (2_001, 2_001, None),
    ),
    "a blank cell": (asked(["1", " "], template="{{text}}"), (42, 43, "text")),
    "only blank cells": (asked(["", " "], template="{{id}}{{text}}"), (42, 43, None)),
    "an item that is no object": (asked(["1"], as_items=True), (42, 43, None)),
    "an item without a question": (asked({"seed": 1}, as_items=True), (42, 43, None)),
    "an item with a blank question": (asked({"prompt": ""}, as_items=True), (42, 43, "prompt")),
}


@pytest.mark.parametrize(("cause", "expected"), PLACES.values(), ids=PLACES)
def test_a_problem_knows_the_place_that_its_sentence_names(
    cause: Callable[[], Any], expected: Place
) -> None:
    with pytest.raises(BadInput) as caught:
        cause()
    problem = caught.value.problem
    assert problem is not None
    row, line, column = expected
    assert (problem.row, problem.line, problem.column) == expected
    assert (
        str(caught.value)
        == problem
        == f"{place(row=row, line=line, column=column)}: {problem.what}"
    )


def test_a_problem_without_a_place_is_one_of_the_file() -> None:
    assert place() == "The file"
    assert place(column="price") == "The file, column “price”"


@pytest.mark.parametrize(
    ("what", "once_skipped"),
    [
        ("it is odd. Fill it in, or skip the row.", "Row 3: it is odd. Fill it in."),
        ("the line is empty. Fill it in.", "Row 3: the line is empty. Fill it in."),
        ("“a, or skip the row.” is odd.", "Row 3: “a, or skip the row.” is odd."),
    ],
)
def test_of_a_skipped_row_it_is_not_said_that_it_can_be_skipped(
    what: str, once_skipped: str
) -> None:
    assert Problem(what, row=3).once_skipped == once_skipped


def test_names_are_listed_as_a_sentence_has_them_and_at_most_twelve() -> None:
    assert listed(["a"]) == "“a”"
    assert listed(["a", "b"]) == "“a” and “b”"
    assert listed(["a", "b", "c"]) == "“a”, “b” and “c”"
    assert listed("abcdefghijkl").endswith("“j”, “k” and “l”")
    assert listed("abcdefghijklm").endswith("“k”, “l” and 1 more")


def test_a_name_is_quoted_on_one_line_and_at_most_sixty_characters_of_it() -> None:
    assert quoted("a\tb\x1b[1m\u200bc é") == "“a b [1m c é”"
    assert quoted("x" * 60) == f"“{'x' * 60}”"
    assert quoted("x" * 61) == f"“{'x' * 60}…”"
