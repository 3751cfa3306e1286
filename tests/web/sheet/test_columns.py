"""The columns of a sheet."""

from collections.abc import Sequence

import pytest

from batchui.batches.models import Batch
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.prompts.reading.rows import encode_row
from batchui.web.sheet.columns import (
    A_SIGN,
    FAIR_ANSWER,
    MOST_COLUMNS,
    NARROWEST,
    WIDEST,
    SheetColumns,
    cells_of,
    columns_of,
    is_number,
    of_answers,
)
from batchui.web.sheet.view import SheetView


def columns(
    names: Sequence[str],
    *rows: list[str] | dict[str, str],
    template: str = "{{b}}",
    view: SheetView | None = None,
    empty: Sequence[str] = (),
    answers: Sequence[AnswerColumn] = (),
) -> SheetColumns:
    batch = Batch(
        source_format={
            "kind": "csv",
            "encoding": "utf-8",
            "delimiter": ",",
            "columns": list(names),
            "empty": list(empty),
        },
        sample=[encode_row(row).decode() for row in rows],
        template=template,
        answer_columns=to_json(answers),
    )
    return columns_of(batch, view or SheetView())


def test_hers_stand_in_their_order_and_the_answers_after_them() -> None:
    found = columns(["a", "b"], ["1", "x"])
    assert [(column.key, column.name) for column in found.shown] == [
        *(("c1", "a"), ("c2", "b"), ("a1", "answer"))
    ]
    assert [column.is_answer for column in found.shown] == [False, False, True]


def test_columns_with_nothing_in_them_are_left_out_and_the_others_keep_their_places() -> None:
    found = columns(["a", "b", "c"], ["1", "", "3"], empty=["b"])
    assert [(column.key, column.at) for column in found.hers] == [("c1", 0), ("c3", 2)]
    assert cells_of(["1", "", "3"], found.hers) == ["1", "3"]


def test_the_first_column_of_the_question_is_the_main_one() -> None:
    found = columns(["a", "b", "c"], template="{{c}} and {{b}}")
    assert [column.name for column in found.hers if column.is_main] == ["c"]
    assert "main" in found.hers[2].classes.split()


def test_without_a_column_of_the_question_the_first_one_is_the_main_one() -> None:
    assert [c.name for c in columns(["a", "b"], template="{{z}}").hers if c.is_main] == ["a"]


def test_a_column_is_as_wide_as_its_first_rows_but_neither_very_narrow_nor_very_wide() -> None:
    narrow, fair, wide = columns(["a", "b", "c"], ["1", "x" * 20, "x" * 900]).hers
    assert (narrow.width, wide.width) == (NARROWEST, WIDEST)
    assert NARROWEST < fair.width < WIDEST


def test_a_column_has_room_for_its_name_and_for_wide_signs() -> None:
    zimmer, latin, japanese = columns(["Zimmer", "latin", "感想"], ["1", "x" * 20, "感" * 20]).hers
    assert zimmer.width > 76  # what a browser needs for it in bold
    assert japanese.width == latin.width + 20 * A_SIGN


def test_columns_of_long_texts_take_the_room_that_is_left() -> None:
    found = columns(["a", "b"], ["1", "x" * 900])
    assert [column.name for column in found.shown if column.stretches] == ["b", "answer"]
    assert found.width == sum(column.width for column in found.shown)
    wanted = [AnswerColumn("tone", "one_of", ("good", "bad")), AnswerColumn("score", "number")]
    assert not any(column.stretches for column in columns(["a"], answers=wanted).shown)


def test_a_column_of_numbers_is_one_as_far_as_its_first_rows_say() -> None:
    rows = [["1", "1", ""], ["2.5", "two", ""], ["", "3", ""]]
    assert [column.is_number for column in columns(["a", "b", "c"], *rows).hers] == [
        *(True, False, False)
    ]


@pytest.mark.parametrize(
    "text", ["1", "-3.5", "+7", "1.234,50", "1 234", "$ 4", "25%", "€3", "1'000", "−2"]
)
def test_numbers_as_people_write_them(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", " ", "-", "a1", "1a", "2026-05-01", "12:30", "$", ".", "v2"])
def test_what_is_no_number(text: str) -> None:
    assert not is_number(text)


def test_of_many_columns_a_page_has_some_and_names_the_other_groups() -> None:
    names = [f"column {number}" for number in range(1, 151)]
    found = columns(names)
    assert len(found.hers) == MOST_COLUMNS == 60
    assert found.windows == [(1, 60), (61, 120), (121, 150)]
    later = columns(names, view=SheetView(columns=121))
    assert [column.name for column in later.hers] == names[120:]
    assert later.hers[0].key == "c121"
    beyond = columns(names, view=SheetView(columns=10**6))
    assert [column.name for column in beyond.hers] == names[-1:]


def test_objects_have_the_cells_of_their_names() -> None:
    found = columns(["a", "b"], {"a": "1", "b": "x"})
    assert found.hers[0].is_number
    assert cells_of({"b": "y"}, found.hers) == ["", "y"]


def test_answer_columns_have_their_kinds_under_their_names() -> None:
    wanted = [
        AnswerColumn("summary"),
        AnswerColumn("tone", "one_of", ("good", "bad")),
        AnswerColumn("score", "number"),
        AnswerColumn("again", "yes_no"),
    ]
    found = columns(["a"], answers=wanted).answers
    assert [(column.key, column.name, column.kind) for column in found] == [
        ("a1", "summary", "text"),
        ("a2", "tone", "good · bad"),
        ("a3", "score", "number"),
        ("a4", "again", "yes or no"),
    ]
    assert [column.has_tags for column in found] == [False, True, False, True]
    assert [column.is_number for column in found] == [False, False, True, False]


def test_a_choice_takes_no_more_room_than_its_values_until_reasons_stand_there() -> None:
    tone = [AnswerColumn("tone", "one_of", ("good", "bad"))]
    (narrow,), (wide,) = of_answers(tone), of_answers(tone, has_reasons=True)
    assert narrow.width < 160
    assert wide.width == FAIR_ANSWER
