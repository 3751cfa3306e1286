"""JSONL and TXT: a line, a row."""

from decimal import Decimal

import pytest

from batchui.prompts.reading.checking import Blank
from batchui.prompts.reading.rows import as_list, as_object, decode_row, encode_row, extras
from tests.prompts.files import format_of, report_of, rows_of


def test_every_line_of_a_txt_is_a_prompt_as_it_stands() -> None:
    data = b'  Why?  \r\nA "quote", here\nlast\x0b one\x0c\n'
    rows = rows_of(data, "p.txt")
    assert [row.cells for row in rows] == [["  Why?  "], ['A "quote", here'], ["last\x0b one\x0c"]]
    assert [(row.number, row.line) for row in rows] == [(1, 1), (2, 2), (3, 3)]


def test_an_empty_line_of_a_txt_is_a_row_with_a_problem_unless_it_is_at_the_end() -> None:
    rows = rows_of(b"one\n\ntwo\n\n\n", "p.txt")
    assert [row.cells for row in rows] == [["one"], [""], ["two"]]
    assert [bool(row.problem) for row in rows] == [False, True, False]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith("Row 2: the line is empty.")


@pytest.mark.parametrize(
    ("data", "name", "empty"),
    [
        (b"one\n\n\ntwo\n", "p.txt", [""]),
        (b'{"a": 1, "b": 2}\n\n\n{"a": 3}\n', "r.jsonl", ["", ""]),
    ],
)
@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_empty_lines_keep_their_places_in_whatever_pieces_a_file_comes(
    data: bytes, name: str, empty: list[str], piece: int
) -> None:
    rows = rows_of(data, name, piece=piece)
    assert [(row.number, row.line) for row in rows] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert [row.cells for row in rows[1:3]] == [empty, empty]
    assert [row.problem for row in rows] == [
        None,
        "Row 2: the line is empty. Fill it in, or remove it if it is not a row.",
        "Row 3: the line is empty. Fill it in, or remove it if it is not a row.",
        None,
    ]


def test_the_lines_of_a_jsonl_are_objects() -> None:
    rows = rows_of(b'{"a": 1, "b": ["x", null]}\r\n{"b": "\\u00e9"}', "r.jsonl")
    assert [row.cells for row in rows] == [{"a": 1, "b": ["x", None]}, {"b": "é"}]
    assert [(row.number, row.line) for row in rows] == [(1, 1), (2, 2)]


def test_numbers_of_a_jsonl_keep_every_digit() -> None:
    line = b'{"a":1.10,"b":0.12345678901234567890123,"c":123456789012345678901234567890,"d":1E+5}'
    [row] = rows_of(line, "r.jsonl")
    assert encode_row(row.cells) == line
    assert encode_row(decode_row(encode_row(row.cells))) == line
    assert as_object(row.cells, ())["a"] == Decimal("1.10")


def test_a_line_that_is_no_object_is_a_row_with_a_problem_and_keeps_its_text() -> None:
    data = b'{"a": 1, "b": 2}\n[1, 2]\n{"a": \n\n \t\n{"a": 3}\n'
    rows = rows_of(data, "r.jsonl")
    assert [row.line for row in rows if row.problem] == [2, 3, 4, 5]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith("Row 2: this line is not a JSON object (")
    columns = format_of(data, "r.jsonl").columns
    kept = [extras(row.cells, columns) for row in rows]
    assert kept == [[], ["[1, 2]"], ['{"a": '], [], [" \t"], []]
    assert as_list(rows[1].cells, columns) == ["", ""]


def test_hostile_json_is_a_problem_of_its_row() -> None:
    reasons = {
        b'{"a": ' + b"[" * 40_000 + b"]" * 40_000 + b"}": "nested too deeply",
        b'{"a": ' + b"9" * 10_000 + b"}": "out of range",
        b'{"a": 1e99999999999999999999}': "a number that is too large",
        b'{"a": "\\ud800"}': "truncated",
        b'{"a": NaN}': "invalid character",
        b'{"a": 1} {"a": 2}': "trailing characters",
    }
    report = report_of(b'{"a": 1}\n' + b"\n".join(reasons) + b'\n{"a": 2}\n', "r.jsonl")
    assert (report.rows, report.bad_rows) == (8, 6)
    assert [problem.line for problem in report.problems] == [2, 3, 4, 5, 6, 7]
    for problem, reason in zip(report.problems, reasons.values(), strict=True):
        assert reason in problem


def test_columns_of_a_jsonl_are_those_of_the_whole_file() -> None:
    data = b'{"b": 1}\n{"a": 2}\n' * 15_000 + b'{"c": 3, "b": 1}\n'
    assert format_of(data, "r.jsonl").columns == ("b", "a")
    report = report_of(data, "r.jsonl", max_rows=40_000)
    assert report.format.columns == ("b", "a", "c")
    assert report.blanks == {"b": Blank(15_000, 2), "a": Blank(15_001, 1), "c": Blank(30_000, 1)}
