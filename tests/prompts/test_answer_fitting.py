"""Which answers fit their columns, and what is said of those that do not."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchui.prompts.answer_columns import AnswerColumn, Kind
from batchui.prompts.answer_fitting import (
    CUT_OFF,
    LARGEST,
    MOST_PROBLEMS,
    TOO_LARGE,
    Value,
    fields_of,
    fitted,
)

CHOICES = ("good", "Mixed", "not at all")
TONE = AnswerColumn("tone", "one_of", CHOICES)
SCORE = AnswerColumn("score", "number")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)
KINDS: list[Kind] = ["text", "number", "yes_no", "one_of", "several_of"]
HERS = [AnswerColumn(kind, kind, CHOICES if "_of" in kind else ()) for kind in KINDS]


def fit(value: Any, kind: Kind) -> Value | str:
    """The value of one column of this kind, or the sentence about what does not fit."""
    column = AnswerColumn("it", kind, CHOICES if "_of" in kind else ())
    found = fitted(json.dumps({"it": value}).encode(), [column])
    return found.error or found.values[0]


@pytest.mark.parametrize(
    ("kind", "value", "becomes"),
    [
        ("text", " as it is ", " as it is "),
        ("text", 3, "3"),
        ("text", True, "true"),
        ("number", 3, 3),
        ("number", 0.5, Decimal("0.5")),
        ("number", " -3.50 ", Decimal("-3.50")),
        ("number", "1e3", Decimal("1E+3")),
        ("yes_no", False, False),
        ("yes_no", "Yes.", True),
        ("yes_no", "FALSE", False),
        ("one_of", "GOOD", "good"),
        ("one_of", " not  at all. ", "not at all"),
        ("one_of", ["mixed"], "Mixed"),
        ("several_of", ["mixed", "good", "Mixed"], ["Mixed", "good"]),
        ("several_of", "good, mixed", ["good", "Mixed"]),
        ("several_of", "not at all", ["not at all"]),
    ],
)
def test_what_loses_nothing_is_accepted(kind: Kind, value: Any, becomes: Value) -> None:
    found = fit(value, kind)
    assert (found, type(found)) == (becomes, type(becomes))


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        ("text", ["a"], '“it” is ["a"], which is not a text.'),
        ("number", "3 stars", "“it” is “3 stars”, which is not a number."),
        ("number", "007", "“it” is “007”, which is not a number."),
        ("number", "1,234", "“it” is “1,234”, which is not a number."),
        ("number", "9" * 61, f"“it” is “{'9' * 60}…”, which is not a number."),
        ("number", True, "“it” is true, which is not a number."),
        ("yes_no", "perhaps", "“it” is “perhaps”, which is neither yes nor no."),
        ("yes_no", 1, "“it” is 1, which is neither yes nor no."),
        ("one_of", "angry", "“it” is “angry”, which is not one of good, Mixed, not at all."),
        ("one_of", ["good", "Mixed"], '“it” is ["good","Mixed"], which is not one of'),
        ("several_of", ["good", "x"], '“it” is ["good","x"], which is not one of'),
        ("several_of", 5, "“it” is 5, which is not one of"),
    ],
)
def test_what_does_not_fit_is_said(kind: Kind, value: Any, sentence: str) -> None:
    assert str(fit(value, kind)).startswith(sentence)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blank", [None, "", "  \n", [], {}])
def test_a_blank_value_fits_every_column(kind: Kind, blank: Any) -> None:
    assert fit(blank, kind) is None


@pytest.mark.parametrize("number", ["1e301", "-1E+301", "1e-301", "1e999999"])
def test_a_number_that_would_fill_a_page_does_not_fit(number: str) -> None:
    found = fitted(b'{"score": %b}' % number.encode(), [SCORE])
    assert (found.values, len(found.problems)) == ([None], 1)
    assert len(found.error) < 200
    assert fields_of(b'{"score": 1e300}', [SCORE]) == [Decimal("1E+300")]


def test_a_yes_or_no_answers_a_choice_of_these() -> None:
    column = AnswerColumn("it", "one_of", ("Yes", "No", "Unclear"))
    assert fields_of(b'{"it":true}', [column]) == ["Yes"]
    assert fields_of(b'{"it":false}', [column]) == ["No"]


def test_names_are_found_however_they_are_written() -> None:
    assert fields_of(b'{"SCORE ": 3, "Tone": "good", "more": 1}', [TONE, SCORE]) == ["good", 3]
    both = [AnswerColumn("a b")]
    assert fields_of(b'{"A  B": "other", "a b": "exact"}', both) == ["exact"]


def test_a_field_that_is_not_there_is_said() -> None:
    found = fitted(b'{"score": 3}', [TONE, SCORE])
    assert (found.values, found.error) == ([None, 3], "The answer has no “tone”.")


def test_an_object_may_stand_in_a_list() -> None:
    assert fields_of(b'[{"tone": "good"}]', [TONE]) == ["good"]


def test_one_column_needs_no_object() -> None:
    assert fields_of(b'"Good"', [TONE]) == ["good"]
    assert fields_of(b"3", [SCORE]) == [3]
    assert fields_of(b'"A sentence."', [AnswerColumn("summary")]) == ["A sentence."]
    found = fitted(b'"Good"', [TONE, SCORE])
    assert found.error == (
        "The answer is not the JSON object that was asked for: it begins “Good”."
    )


@pytest.mark.parametrize("text", ['{"tone": "go', '```json\n{"tone":', "  {"])
@pytest.mark.parametrize("columns", [[TONE], [TONE, SCORE], [AnswerColumn("text")]])
def test_an_answer_that_was_cut_off_says_so(text: str, columns: list[AnswerColumn]) -> None:
    assert fitted(json.dumps(text).encode(), columns).error == CUT_OFF


def test_only_the_first_problems_are_said() -> None:
    columns = [AnswerColumn(f"c{at}", "number") for at in range(MOST_PROBLEMS + 2)]
    answer = json.dumps({column.name: "x" for column in columns}).encode()
    assert fitted(answer, columns).error.endswith(" is not a number. 2 more fields do not fit.")
    assert fitted(answer, columns[:-1]).error.endswith("number. 1 more field does not fit.")
    assert fitted(answer, columns[:MOST_PROBLEMS]).error.count("not a number.") == MOST_PROBLEMS
    assert fitted(answer, columns[:MOST_PROBLEMS]).error.endswith("not a number.")


def test_fields_that_are_not_there_are_one_problem() -> None:
    columns = [AnswerColumn(name) for name in "abc"]
    assert fitted(b'{"b": "x"}', columns).error == "The answer has no “a” and “c”."


def test_many_choices_are_not_all_said() -> None:
    column = AnswerColumn("it", "one_of", tuple(map(str, range(20))))
    assert fitted(b'{"it": "x"}', [column]).error.endswith("one of 0, 1, 2, 3, 4, 5, 6, 7, ….")


@pytest.mark.parametrize("answer", [b"", b"{", b'{"it": NaN}', b"\xff", b"[" * 5_000, b"9" * 5_000])
def test_what_is_no_json_fits_nothing(answer: bytes) -> None:
    found = fitted(answer, HERS)
    assert found.values == [None] * len(HERS)
    assert found.problems


def test_an_answer_that_is_too_large_is_not_taken_apart() -> None:
    large = b'{"tone":"good","more":"%b"}'
    most = large % (b"x" * (LARGEST - len(large) + 2))
    assert len(most) == LARGEST
    assert fitted(most, [TONE]).values == ["good"]
    assert fitted(most + b" ", [TONE]).problems == [TOO_LARGE]


def test_no_answer_has_no_values() -> None:
    assert fields_of(None, HERS) == [None] * len(HERS)


@given(json_values)
def test_any_json_has_a_value_or_a_problem_for_each_column(value: Any) -> None:
    by_name = {column.name: value for column in HERS}
    found = fitted(json.dumps(by_name).encode(), HERS)
    assert len(found.values) == len(HERS)
    said = " ".join(found.problems)
    for column, one in zip(HERS, found.values, strict=True):
        # A value is there, or is blank, or is said not to fit: never two of these.
        assert (f"“{column.name}”" in said) <= (one is None)


@given(json_values)
def test_what_fits_fits_again_and_is_the_same(value: Any) -> None:
    found = fitted(json.dumps({column.name: value for column in HERS}).encode(), HERS)
    fit_ones = {
        column.name: float(one) if isinstance(one, Decimal) else one
        for column, one in zip(HERS, found.values, strict=True)
    }
    again = fitted(json.dumps(fit_ones).encode(), HERS)
    assert again.problems == []
    assert [str(one) if isinstance(one, str) else one for one in again.values] == [
        Decimal(str(one)) if isinstance(one, float) else one for one in fit_ones.values()
    ]
