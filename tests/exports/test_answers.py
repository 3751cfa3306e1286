"""An answer in raw JSON as a cell."""

from decimal import Decimal

import pytest

from batchui.exports.answers import answer_cell, answer_cells
from batchui.exports.rows import Cell


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        (b'"text"', "text"),
        (b'"7"', "7"),
        (b'""', ""),
        (b"7", 7),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"1.10", Decimal("1.10")),
        (b"1e400", Decimal("1E+400")),
        (b"true", True),
        (b"false", False),
        (b'"true"', "true"),
        (b"null", ""),
        (None, ""),
        (b' {"a": [1.10,\n 2]}', '{"a":[1.10,2]}'),
        (b"[0.1, 2]", "[0.1,2]"),
        (b"NaN", "NaN"),
        (b"not json", "not json"),
        (b"", ""),
        (b'"cut \\ud83d"', "cut ?"),
        (b'"cut \xf0\x9f"', "cut \ufffd"),
    ],
)
def test_an_answer_keeps_its_type_where_a_cell_has_one(answer: bytes | None, cell: Cell) -> None:
    found = answer_cell(answer)
    assert found == cell
    assert type(found) is type(cell)
    if isinstance(cell, Decimal):
        assert str(found) == str(cell)


@pytest.mark.parametrize(
    ("answers", "cells"),
    [
        ([], []),
        ([b'"a"', b'"7"', b'"\\n"', b'""'], ["a", "7", "\n", ""]),
        ([b'"a"', None], ["a", ""]),
        ([b'"a"', b""], ["a", ""]),
        ([b'"a"', b"7", b"true"], ["a", 7, True]),
        ([b'"a","b"', b'"c', b'd"'], ['"a","b"', '"c', 'd"']),
        ([b'"a"', b'"cut \xf0\x9f"'], ["a", "cut \ufffd"]),
    ],
)
def test_the_answers_of_many_rows_are_the_same_cells(
    answers: list[bytes | None], cells: list[Cell]
) -> None:
    assert answer_cells(answers) == cells == list(map(answer_cell, answers))
