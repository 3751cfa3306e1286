"""JSONL and TXT: a line, a row."""

from decimal import Decimal

from batchui.prompts.rows import as_list, as_object, decode_row, encode_row, extras
from tests.prompts.files import cells_of, format_of, report_of, rows_of


def test_every_line_of_a_txt_is_a_prompt_as_it_stands() -> None:
    data = b'  Why?  \r\nA "quote", here\nlast\x0b one\x0c\n'
    assert cells_of(data, "p.txt") == [["  Why?  "], ['A "quote", here'], ["last\x0b one\x0c"]]


def test_an_empty_line_of_a_txt_is_a_row_with_a_problem_unless_it_is_at_the_end() -> None:
    rows = rows_of(b"one\n\ntwo\n\n\n", "p.txt")
    assert [row.cells for row in rows] == [["one"], [""], ["two"]]
    assert [bool(row.problem) for row in rows] == [False, True, False]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith("Row 2 (line 2): the line is empty.")


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
    data = b'{"a": 1, "b": 2}\n[1, 2]\n{"a": \n\n{"a": 3}\n'
    rows = rows_of(data, "r.jsonl")
    assert [row.line for row in rows if row.problem] == [2, 3, 4]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith("Row 2 (line 2): this line is not a JSON object (")
    columns = format_of(data, "r.jsonl").columns
    assert [extras(row.cells, columns) for row in rows] == [[], ["[1, 2]"], ['{"a": '], [], []]
    assert as_list(rows[1].cells, columns) == ["", ""]


def test_hostile_json_is_a_problem_of_its_row() -> None:
    lines = [
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"a": 1e99999999999999999999}',
        b'{"a": "\\ud800"}',
        b'{"a": NaN}',
        b'{"a": 1} {"a": 2}',
    ]
    report = report_of(b'{"a": 1}\n' + b"\n".join(lines) + b'\n{"a": 2}\n', "r.jsonl")
    assert (report.rows, report.bad_rows) == (8, 6)
    assert [problem.line for problem in report.problems] == [2, 3, 4, 5, 6, 7]


def test_columns_of_a_jsonl_are_those_of_the_whole_file() -> None:
    report = report_of(
        b'{"b": 1}\n{"a": 2}\n' * 9000 + b'{"c": 3, "b": 1}\n', "r.jsonl", max_rows=20_000
    )
    assert report.format.columns == ("b", "a", "c")
