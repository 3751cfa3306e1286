"""Whether two answers agree."""

from decimal import Decimal
from typing import Any

import pytest

from batchui.batches.agreeing import agree, compared
from batchui.prompts.answer_columns import AnswerColumn


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((" good\n", "good"), ("", None), ("  ", None), (None, None), ("x" * 50, "x" * 50)),
        *(
            (1, 1.0),
            ("1.50", Decimal("1.5")),
            ("+7", 7),
            (True, True),
            (["a", "b"], ["b", "a", "a"]),
        ),
        *(([1, " x"], ["x", "1"]), ({"a": 1}, {"a": "1.0"})),
    ],
)
def test_these_agree(one: Any, other: Any) -> None:
    assert agree(one, other)
    assert agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("good", "Good"), ("good", None), (True, 1), (False, None), (0, None), ("1,5", "1.5")),
        *((["a"], ["a", "b"]), (["a"], "a"), ({"a": 1}, {"b": 1}), ("1" * 41, "1" * 41 + ".0")),
        *(("٣", 3), ("-", "."), ("nan", "NaN"), (10, 1)),
    ],
)
def test_these_do_not(one: Any, other: Any) -> None:
    assert not agree(one, other)
    assert not agree(other, one)


def test_answers_are_compared_by_the_columns_that_both_have() -> None:
    tone, score = AnswerColumn("tone"), AnswerColumn("score", "number")
    names, one, other = compared([score, tone], [AnswerColumn("Tone"), AnswerColumn("else")])
    assert names == ["tone"]
    assert list(one(b'{"score":1,"tone":"good"}')) == ["good"]
    assert list(other(b'{"else":"x","tone":"bad"}')) == ["bad"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b'"good "', b'"good"', True),
        (b'"{\\"a\\": 1}"', b'{"a":1.0}', True),
        (b'{"a":1}', b'{"a":2}', False),
        (b'"{not json"', b'"{not json"', True),
        (b"\xff", b"\xff", True),
        (None, b"null", True),
    ],
)
def test_whole_answers_are_read_as_what_they_say(
    one: bytes | None, other: bytes | None, same: bool
) -> None:
    names, read, read_other = compared([AnswerColumn("a")], [])
    assert names == []
    assert agree(read(one)[0], read_other(other)[0]) is same
