"""The columns that an answer is wanted in: written by people, checked, stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchui.prompts import answer_columns
from batchui.prompts.answer_columns import (
    MOST_CHOICES,
    MOST_COLUMNS,
    AnswerColumn,
    choices_of,
    from_json,
    from_words,
    to_json,
)
from batchui.prompts.problems import BadInput

TONE = AnswerColumn("tone", "one_of", ("good", "mixed", "bad"), "How she feels")
names = st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable() and text.strip())


@given(st.lists(names, max_size=5, unique_by=answer_columns.folded))
def test_what_is_stored_is_read_again(chosen: list[str]) -> None:
    columns = answer_columns.checked(AnswerColumn(name) for name in chosen)
    assert from_json(to_json(columns)) == columns


def test_blanks_around_texts_go_and_choices_of_a_text_too() -> None:
    [column] = answer_columns.checked([AnswerColumn(" tone ", "text", ("a", "b"), " what \r\n x ")])
    assert column == AnswerColumn("tone", "text", (), "what \n x")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ([AnswerColumn("  ")], "Answer column 1 has no name"),
        ([AnswerColumn("tone"), AnswerColumn("Tone ")], "Two answer columns are called “Tone”"),
        ([AnswerColumn("x" * 61)], "is too long"),
        ([AnswerColumn("a\nb")], "cannot be seen"),
        ([AnswerColumn("a", meaning="x" * 501)], "What “a” means is too long"),
        ([AnswerColumn("a", meaning="\0")], "What “a” means"),
        ([AnswerColumn("a", "one_of", ("only",))], "write two values or more"),
        ([AnswerColumn("a", "several_of", ())], "write two values or more"),
        ([AnswerColumn("a", "one_of", ("x", "X"))], "Two values of “a” are the same"),
        ([AnswerColumn("a", "one_of", ("x", "y" * 101))], "cannot be used"),
        ([AnswerColumn("a", "one_of", ("x", " "))], "cannot be used"),
        ([AnswerColumn("a", "one_of", ("x", "y;z"))], "has a semicolon"),
        (
            [AnswerColumn("a", "one_of", tuple(map(str, range(MOST_CHOICES + 1))))],
            f"{MOST_CHOICES} are possible",
        ),
        (
            [AnswerColumn(str(at)) for at in range(MOST_COLUMNS + 1)],
            f"{MOST_COLUMNS} are possible",
        ),
    ],
)
def test_what_cannot_be_a_column_is_said(columns: list[AnswerColumn], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        answer_columns.checked(columns)


def test_as_many_columns_and_choices_as_are_possible() -> None:
    choices = tuple(map(str, range(MOST_CHOICES)))
    columns = [AnswerColumn(str(at), "one_of", choices) for at in range(MOST_COLUMNS)]
    assert answer_columns.checked(columns) == tuple(columns)


@pytest.mark.parametrize(
    "stored", [{"name": "a"}, [{"kind": "text"}], [{"name": "a", "kind": "x"}]]
)
def test_anything_else_is_no_list_of_columns(stored: object) -> None:
    with pytest.raises(BadInput, match="These are no answer columns"):
        from_json(stored)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("summary", AnswerColumn("summary")),
        ("score:number", AnswerColumn("score", "number")),
        ("refund: yes-no", AnswerColumn("refund", "yes_no")),
        ("tone:one_of:good; bad", AnswerColumn("tone", "one_of", ("good", "bad"))),
        ("topics:several-of:a,b", AnswerColumn("topics", "several_of", ("a", "b"))),
    ],
)
def test_a_column_in_words(text: str, column: AnswerColumn) -> None:
    assert from_words(text) == column


def test_a_kind_that_is_not_known_is_said() -> None:
    with pytest.raises(BadInput, match="“date” is no kind of column"):
        from_words("when:date")


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("good, mixed, bad", ("good", "mixed", "bad")),
        ("yes, at once; no", ("yes, at once", "no")),
        ("one\r\ntwo, or so\n\n", ("one", "two, or so")),
        ("a; a; b;", ("a", "b")),
        ("", ()),
    ],
)
def test_choices_as_people_write_them(text: str, choices: tuple[str, ...]) -> None:
    assert choices_of(text) == choices
