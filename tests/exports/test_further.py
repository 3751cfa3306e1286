"""The rows with their answers as lines that another batch reads."""

import json
from decimal import Decimal
from typing import Any

import pytest

from batchui.exports.further import object_lines, table_lines
from batchui.exports.table import Table
from tests.exports.rows import row


def lines(*rows: Any, table: Table) -> list[bytes]:
    return list(table_lines(rows, table))


def objects(*rows: Any, columns: tuple[str, ...] = ("text",)) -> list[bytes]:
    return list(object_lines(rows, Table(columns)))


def test_every_row_of_the_sheet_is_a_line() -> None:
    table = Table(["a", "b"], header=["a", ""], above=[["Title", "", ""], []], typed=True)
    cells: list[Any] = [{"shown": "007", "number": 7}, Decimal("1.10")]
    assert lines(row(4, cells), row(5, ["", True], error="Why"), table=table) == [
        b'["Title"]',
        b"[]",
        b'["a","","answer","status","error"]',
        b'[{"shown":"007","number":7},1.10,"yes","answered"]',
        b'["",true,"yes","answered","Why"]',
    ]


def test_the_rows_above_are_left_as_they_are() -> None:
    above = [["Title", ""]]
    lines(row(1, ["x"]), table=Table(["a"], above=above))
    assert above == [["Title", ""]]


def test_a_name_that_is_taken_gets_a_number() -> None:
    table = Table(["Answer", "b"], header=["Answer", "error"])
    assert json.loads(lines(table=table)[0]) == ["Answer", "error", "answer_2", "status", "error_2"]


def test_cells_beyond_the_header_stay_beyond_it() -> None:
    made = row(1, ["x"], extras=["more", "", "most"], answer=None, status="invalid")
    assert lines(made, table=Table(["a"]))[1] == b'["x","","invalid","","more","","most"]'


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        (b'"two\\nlines"', b'"two\\nlines"'),
        (b"12345678901234567890123", b"12345678901234567890123"),
        (b"4.50", b"4.50"),
        (b"false", b"false"),
        (b"null", b'""'),
        (b'{"a":\n 1.0}', b'"{\\"a\\":1.0}"'),
        (b'"half a \\ud83d"', b'"half a ?"'),
    ],
)
def test_an_answer_keeps_its_type(answer: bytes, cell: bytes) -> None:
    made = lines(row(1, ["x"], answer=answer), table=Table(["a"]))
    assert made[1] == b'["x",%b,"answered"]' % cell


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (b'{"a":\n[1.10, 2]}', b'{"a":[1.10,2]}'),
        (b'"yes"', b'"yes"'),
        (b"null", b"null"),
        (None, b"null"),
        (b'{"a":"\\ud83d"', b'"{\\"a\\":\\"\\\\ud83d\\""'),
    ],
)
def test_a_structured_answer_stays_structured_in_an_object(
    answer: bytes | None, value: bytes
) -> None:
    made = objects(row(1, columns={"text": Decimal("1.10")}, answer=answer))
    assert made == [b'{"text":1.10,"answer":%b,"status":"answered","error":null}' % value]


def test_a_key_that_is_taken_gets_a_number() -> None:
    made = objects(row(1, columns={"answer": 1}, error="Why"), columns=("answer",))
    assert made == [b'{"answer":1,"answer_2":"yes","status":"answered","error":"Why"}']


def test_a_line_that_was_no_object_is_the_same_line() -> None:
    unreadable = row(1, [""], extras=["no öbject"], answer=None, status="invalid")
    empty = row(2, [""], answer=None, status="invalid", error="Empty.")
    assert objects(unreadable, empty) == [
        "no öbject".encode(),
        b'{"answer":null,"status":"invalid","error":"Empty."}',
    ]
