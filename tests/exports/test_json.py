"""JSON and JSONL: what is structured stays structured."""

import json
from decimal import Decimal
from typing import Any

import pytest

from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.table import Table
from tests.exports.rows import row

COLUMNS = ["id", "review"]
FIRST = {
    "row": 1,
    "columns": {"id": "1", "review": "good"},
    "answer": "yes",
    "status": "answered",
    "error": None,
    "external_reference": "1",
    "usage": None,
}


def both(rows: list[Any], columns: list[str] = COLUMNS) -> list[Any]:
    """The rows as JSON gives them; JSONL must give the same."""
    array = json.loads(b"".join(json_chunks(rows, Table(columns))))
    lines = b"".join(jsonl_chunks(rows, Table(columns)))
    assert [json.loads(line) for line in lines.splitlines()] == array
    assert not lines or lines.endswith(b"\n")
    found: list[Any] = array
    return found


def test_an_object_for_each_row() -> None:
    assert both([row(1)]) == [FIRST]
    assert list(both([row(1)])[0]) == list(FIRST)


def test_the_array_has_a_row_a_line() -> None:
    text = b"".join(json_chunks([row(1), row(2)], Table(COLUMNS))).decode()
    assert text.startswith('[{"row":1,')
    assert text.count("},\n{") == 1
    assert text.endswith("}]")


@pytest.mark.parametrize("rows", [1, 2, 200, 2_000])
def test_an_array_over_many_chunks_is_one_array(rows: int) -> None:
    made = [row(number, answer=b'"%b"' % (b"word " * 100)) for number in range(1, rows + 1)]
    chunks = list(json_chunks(made, Table(COLUMNS)))
    assert len(chunks) >= 3 + rows // 200
    assert [entry["row"] for entry in json.loads(b"".join(chunks))] == list(range(1, rows + 1))


def test_no_rows_are_an_empty_array() -> None:
    assert both([]) == []


def test_answers_and_usage_are_passed_through_number_for_number() -> None:
    answer = b'{"score":1.10,"big":123456789012345678901234567890,"text":"\\u00e9\\ud83d"}'
    made = row(1, answer=answer, usage=b'{"total_tokens":12}')
    text = b"".join(jsonl_chunks([made], Table(COLUMNS)))
    assert b'"answer":' + answer + b',"status"' in text
    assert b'"usage":{"total_tokens":12}}' in text


@pytest.mark.parametrize("line_break", [b"\n", b"\r", b"\r\n"])
def test_any_line_break_between_tokens_goes(line_break: bytes) -> None:
    made = row(1, answer=b"[1,%b2]" % line_break)
    assert both([made, row(2)])[0]["answer"] == [1, 2]


def test_json_over_several_lines_still_makes_one_line_a_row() -> None:
    made = row(1, answer=b'{\r\n "a": "x\\ny",\n "b": [1,\n2]\n}', usage=b'{\r"n": 1}')
    assert both([made, row(2)])[0]["answer"] == {"a": "x\ny", "b": [1, 2]}


def test_the_object_of_a_jsonl_row_is_given_as_it_was() -> None:
    made = row(1, ["", "1.10"], columns={"b": Decimal("1.10"), "c": [None]})
    text = b"".join(jsonl_chunks([made], Table(["a", "b"])))
    assert b'"columns":{"b":1.10,"c":[null]}' in text


def test_cells_beyond_the_header_are_given_where_there_are_some() -> None:
    found = both([row(1, extras=["x"]), row(2)])
    assert found[0]["extra_cells"] == ["x"]
    assert "extra_cells" not in found[1]


def test_an_answer_that_is_not_there_is_null() -> None:
    found = both([row(1, answer=None, status="missing", error="Nothing came back.")])[0]
    assert (found["answer"], found["status"]) == (None, "missing")
    assert found["error"] == "Nothing came back."


def test_cells_that_do_not_fit_the_columns_are_never_dropped_silently() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(jsonl_chunks([row(1, "abc")], Table(COLUMNS)))


def test_text_is_utf8_and_control_characters_are_escaped() -> None:
    made = row(1, ["é 日\u2028\x00\n", "x"])
    text = b"".join(jsonl_chunks([made], Table(COLUMNS)))
    assert "é 日".encode() in text
    assert json.loads(text)["columns"]["id"] == "é 日\u2028\x00\n"
