"""How a CSV is written: its delimiter, and quotation marks with a backslash."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.prompts.reading.dialects import Doubling, doubled
from batchui.prompts.reading.format import ONE_COLUMN, Choices, Format
from tests.prompts.files import cells_of, format_of, rows_of


def test_a_pipe_is_a_delimiter() -> None:
    fmt = format_of(b"id|text\n1|a, b\n2|c\n")
    assert (fmt.delimiter, fmt.columns) == ("|", ("id", "text"))


def test_a_title_above_the_names_does_not_hide_the_delimiter() -> None:
    fmt = format_of(b"Sales of May, all shops\n\nid;price\n1;2,50\n2;3,50\n3;4,50\n")
    assert (fmt.delimiter, fmt.columns, fmt.header_row) == (";", ("id", "price"), 3)


def test_a_name_over_texts_with_commas_is_no_title() -> None:
    found = format_of(b"review\nLovely, quiet\nNoisy\nGood, but far, far away\n")
    assert (found.delimiter, found.columns, found.header_row) == ("", ("review",), 1)
    half = format_of(b"Reviews\nid,text\n1,a\n2,b,c\n")
    assert (half.delimiter, half.columns, half.header_row) == (",", ("id", "text"), 2)


def test_a_file_that_names_its_delimiter_is_taken_at_its_word() -> None:
    found = format_of(b"sep=|\na,b|c,d\n1,2|3,4\n5,6|7,8\n")
    assert (found.delimiter, found.columns) == ("|", ("a,b", "c,d"))


def test_a_person_chooses_the_delimiter() -> None:
    data = b"a;b,c\n1;2,3\n"
    assert format_of(data, delimiter=",").columns == ("a;b", "c")
    assert format_of(data, delimiter=";").columns == ("a", "b,c")
    whole = format_of(data, delimiter=ONE_COLUMN, header_row=1)
    assert (whole.delimiter, whole.columns) == ("", ("a;b,c",))
    assert not any(format_of(data, delimiter=one).backslashes for one in (",", ";", ONE_COLUMN))


def test_a_chosen_delimiter_makes_a_table_of_any_text() -> None:
    one = format_of(b"a|b\n1|2\n", "notes.txt", delimiter=ONE_COLUMN, header_row=1)
    assert (one.kind, one.delimiter, one.columns) == ("csv", "", ("a|b",))
    fmt = format_of(b"a|b\n1|2\n", "notes.txt", delimiter="|", header_row=1)
    assert (fmt.kind, fmt.columns) == ("csv", ("a", "b"))


ESCAPED = rb"""id,text
1,"she said \"hi, there\" and left"
2,"a backslash at the end \\"
3,plain \n text
4,"two
lines \" here"
"""


def test_quotation_marks_may_be_written_with_a_backslash() -> None:
    fmt = format_of(ESCAPED)
    assert fmt.backslashes
    for piece in (1, 2, 3, 1 << 20):
        assert [row.cells for row in rows_of(ESCAPED, piece=piece)] == [
            ["1", 'she said "hi, there" and left'],
            ["2", "a backslash at the end \\"],
            ["3", r"plain \n text"],
            ["4", 'two\nlines " here'],
        ]
        assert [row.line for row in rows_of(ESCAPED, piece=piece)] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "data",
    [
        b'id,path\n1,"C:\\"\n2,"D:\\"\n',
        b'id,path\n1,"C:\\dir"\n2,x\n',
        b'id,text\n1,5\\" disk\n2,x\n',
        b'id,text\n1,"say ""\\"""\n2,x\n',
    ],
)
def test_backslashes_before_a_closing_mark_are_text(data: bytes) -> None:
    fmt = format_of(data)
    assert not fmt.backslashes
    expected = list(csv.reader(io.StringIO(data.decode())))[1:]
    assert cells_of(data) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text('a,"\\\n '), min_size=1, max_size=4), st.integers(1, 5))
def test_what_is_escaped_comes_back(cells: list[str], piece: int) -> None:
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL, doublequote=False, escapechar="\\")
    writer.writerow(["c"] * len(cells))
    writer.writerow(cells)
    text = written.getvalue()
    change = Doubling()
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    together = "".join(change(part, final=False) for part in pieces) + change("", final=True)
    assert together == doubled(text)
    assert list(csv.reader(io.StringIO(together, newline="")))[1:] == [cells]


def test_a_format_that_an_older_version_stored_has_names_in_its_first_row() -> None:
    older = {"kind": "csv", "encoding": "utf-8", "delimiter": ",", "columns": ["a", "b"]}
    found = Format.from_dict(older)
    assert (found.header_row, found.first_row, found.columns) == (1, 2, ("a", "b"))
    assert Format.from_dict({**older, "kind": "jsonl"}).first_row == 1


@pytest.mark.parametrize(
    ("delimiter", "stored"),
    [(None, {}), (";", {"delimiter": ";"}), (ONE_COLUMN, {"delimiter": ""})],
)
def test_only_what_was_chosen_is_stored(delimiter: str | None, stored: dict[str, str]) -> None:
    chosen = Choices(delimiter=delimiter, header_row=0)
    assert chosen.to_dict() == {**stored, "header_row": 0}
    assert Choices.from_dict(chosen.to_dict()) == chosen
