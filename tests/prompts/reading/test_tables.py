"""Typed cells of a table, and objects within objects."""

import io
import json
from decimal import Decimal

import pytest

from batchui.prompts.problems import LIMITS, BadInput
from batchui.prompts.reading.checking import Blank, FirstProblems, check
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.readers import read, rows_above
from batchui.prompts.reading.rows import decode_to_show, encode_row, flat, shown_text
from batchui.prompts.template import Template
from tests.prompts.files import cells_of, format_of

TABLE = Format("table", "utf-8", None, ("id", "n", "when"), header_row=2, first_row=3)
LINES = (
    b'["A title"]\n["id","n","when"]\n["007",1.10,{"date":"2026-05-01"}]\n[]\n'
    b'["",true]\n["x",123456789012345678,{"percent":"25%"}]\n[]\n[]\n'
)


def test_a_table_is_read_from_its_first_row_and_blank_rows_keep_their_places() -> None:
    rows = list(read(io.BytesIO(LINES), TABLE))
    assert [(row.number, row.cells) for row in rows] == [
        (3, ["007", Decimal("1.10"), {"date": "2026-05-01"}]),
        (4, ["", "", ""]),
        (5, ["", True, ""]),
        (6, ["x", 123456789012345678, {"percent": "25%"}]),
    ]
    assert [row.problem for row in rows if row.problem] == [
        "Row 4: the row is empty. Fill it in, or remove it if it is not a row."
    ]
    assert rows_above(io.BytesIO(LINES), TABLE) == [["A title", "", ""], ["id", "n", "when"]]


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        (b'["%s"]\n["id","n","when"]\n', b'["1"]\n', "Row 1"),
        (b'["A title"]\n["id","n","%s"]\n', b'["1"]\n', "Row 2"),
        (LINES, b'["",2,"%s"]\n', "Row 9, column “when”"),
        (LINES, b'["",2,"","%s"]\n', "Row 9"),
    ],
)
def test_a_cell_that_is_too_long_is_refused(before: bytes, after: bytes, place: str) -> None:
    def read_with(size: int) -> None:
        list(read(io.BytesIO((before + after).replace(b"%s", b"x" * size)), TABLE))

    read_with(LIMITS.cell)
    with pytest.raises(BadInput) as raised:
        read_with(LIMITS.cell + 1)
    sentence = f"{place}: this cell is longer than 1,000,000 characters. Shorten it."
    assert str(raised.value) == sentence


def test_cells_are_stored_as_they_were() -> None:
    for row in read(io.BytesIO(LINES), TABLE):
        assert json.loads(encode_row(row.cells), parse_float=Decimal) == row.cells
    assert encode_row([Decimal("1.10")]) == b"[1.10]"
    assert str(decode_to_show(b"[1.10,0.1234567890123456789]")) == (
        "[Decimal('1.10'), Decimal('0.1234567890123456789')]"
    )


def test_a_cell_is_shown_as_a_person_sees_it() -> None:
    cells = ["007", "", 12, Decimal("1.10"), 0.5, True, False, {"time": "12:30:00"}]
    assert [shown_text(cell) for cell in cells] == [
        *("007", "", "12", "1.10", "0.5", "TRUE", "FALSE", "12:30:00"),
    ]
    assert shown_text({"shown": "00123", "number": 123}) == "00123"


def test_a_prompt_has_the_texts_of_its_cells() -> None:
    columns = ("id", "n", "when")
    both = Template("{{n}} on {{when}}").bind(columns)
    one = Template("n={{n}}").bind(columns)
    cells = ["x", 5, {"date": "2026-05-01"}]
    assert both.prompt_of(cells) == "5 on 2026-05-01"
    assert one.prompt_of(cells) == "n=5"
    assert one.prompt_of(["x", 0, ""]) == "n=0"
    assert one.prompt_of(["x", "", ""]) is None
    assert both.prompt_of(["x", " ", ""]) is None
    assert both.prompt_of(["x", False, ""]) == "FALSE on "
    assert both.fill(["x", 5], 100) == "5 on "
    assert not both.is_blank(["x", 0, ""])
    assert both.is_blank(["x", "", " "])
    assert both.cell_bytes(cells) == len("52026-05-01")


def test_numbers_are_not_blank() -> None:
    report = check(lambda: io.BytesIO(LINES), TABLE, problems=FirstProblems, max_rows=100)
    assert (report.rows, report.bad_rows) == (4, 0)  # the empty one is not bad
    assert report.blanks == {"id": Blank(1, 5), "when": Blank(1, 5)}


def test_a_blank_cell_may_stand_above_typed_ones() -> None:
    lines = b'["x","",{"date":"2026-05-01"}]\n["y",1.10," "]\n["","",true]\n'
    fmt = Format("table", "utf-8", None, ("id", "n", "when"))
    report = check(lambda: io.BytesIO(lines), fmt, problems=FirstProblems, max_rows=100)
    assert report.blanks == {"id": Blank(1, 3), "n": Blank(2, 1), "when": Blank(1, 2)}


NESTED = b'{"a": {"b": 1, "c": {"d": "x"}}, "e": [1, {"f": 2}]}\n{"a": null, "g": {}}\n'


def test_objects_within_objects_become_columns() -> None:
    fmt = format_of(NESTED, "x.jsonl")
    assert (fmt.nested, fmt.columns) == ("columns", ("a.b", "a.c.d", "e", "a", "g"))
    assert cells_of(NESTED, "x.jsonl") == [
        {"a.b": 1, "a.c.d": "x", "e": [1, {"f": 2}]},
        {"a": None, "g": {}},
    ]


def test_objects_within_objects_stay_text_where_a_person_chose_that() -> None:
    fmt = format_of(NESTED, "x.jsonl", nested="text")
    assert (fmt.nested, fmt.columns) == ("text", ("a", "e", "g"))
    [first, _] = read(io.BytesIO(NESTED), fmt)
    assert first.cells == json.loads(NESTED.splitlines()[0])


def test_objects_without_others_are_not_touched() -> None:
    assert format_of(b'{"a": 1}\n', "x.jsonl").nested is None
    cells = {"a": 1, "b": [2]}
    assert flat(cells) is cells


def test_a_name_that_is_there_already_keeps_its_own_value() -> None:
    assert flat({"a.b": 1, "a": {"b": 2}}) == {"a.b": 1, "a": {"b": 2}}
    deep: dict[str, object] = {"x": 1}
    for _ in range(12):
        deep = {"n": deep}
    [(name, value)] = flat(deep).items()
    assert name == ".".join("n" * 9)
    assert value == {"n": {"n": {"n": {"x": 1}}}}


def test_ready_made_items_are_never_flattened() -> None:
    fmt = format_of(b'{"prompt": "x", "response_format": {"type": "json_schema"}}\n', "x.jsonl")
    assert (fmt.items, fmt.nested) == (True, None)
