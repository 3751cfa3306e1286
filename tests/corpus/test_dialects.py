"""Text tables of every dialect, and quotation marks that are wrong."""

import pytest

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

TWO = Table(("id", "text"), 2, ["1", "one"])
QUOTED = Table(("id", "text"), 2, ["1", 'She said "hi", twice'])

ENTRIES = [
    Entry("commas", "r.csv", lines("id,text", "1,one", "2,two"), TWO),
    Entry("semicolons", "r.csv", lines("id;text", "1;one", "2;two"), TWO),
    Entry("tabs", "r.csv", lines("id\ttext", "1\tone", "2\ttwo"), TWO),
    Entry("pipes", "r.csv", lines("id|text", "1|one", "2|two"), TWO),
    Entry("tabs in a file without an ending", "r", lines("id\ttext", "1\tone", "2\ttwo"), TWO),
    Entry(
        "lines that end with CR LF", "r.csv", lines("id,text", "1,one", "2,two", end="\r\n"), TWO
    ),
    Entry("lines that end with CR", "r.csv", lines("id,text", "1,one", "2,two", end="\r"), TWO),
    Entry("line ends of every kind", "r.csv", b"id,text\r1,one\r\n2,two\n", TWO),
    Entry("no line end at the end", "r.csv", b"id,text\n1,one\n2,two", TWO),
    Entry(
        "a line of sep= with a semicolon", "r.csv", lines("sep=;", "id;text", "1;one", "2;two"), TWO
    ),
    Entry(
        "a line of sep= with another delimiter than it looks",
        "r.csv",
        lines("sep=|", "a,b|c,d", "1,2|3,4"),
        Table(("a,b", "c,d"), 1, ["1,2", "3,4"]),
    ),
    Entry(
        "a line of sep= with a tab",
        "r.csv",
        lines("sep=\t", "id\ttext", "1\tone", "2\ttwo", end="\r\n"),
        TWO,
    ),
    Entry(
        "a line of sep= in quotation marks",
        "r.csv",
        lines('"sep=;"', "id;text", "1;one", "2;two"),
        TWO,
    ),
    Entry(
        "a line of sep= and no more",
        "r.csv",
        lines("sep=;"),
        "Line 2: there are no column names below the line “sep=;”. …",
    ),
    Entry(
        "doubled quotation marks",
        "r.csv",
        lines("id,text", '1,"She said ""hi"", twice"', "2,x"),
        QUOTED,
    ),
    Entry(
        "quotation marks with a backslash",
        "r.csv",
        lines("id,text", r'1,"She said \"hi\", twice"', "2,x"),
        QUOTED,
    ),
    Entry(
        "quotation marks within a cell without any around it",
        "r.csv",
        lines("id,text", "1,He is 6'2\" tall", '2,an 8" pipe'),
        Table(("id", "text"), 2, ["1", "He is 6'2\" tall"]),
    ),
    Entry(
        "every cell in quotation marks",
        "r.csv",
        lines('"id";"text"', '"1";"one"', '"2";"two"'),
        TWO,
    ),
    Entry(
        "cells of several lines",
        "r.csv",
        lines("id,text", '1,"first', "", 'third"', "2,two"),
        Table(("id", "text"), 2, ["1", "first\n\nthird"]),
    ),
    Entry(
        "decimal commas between semicolons",
        "r.csv",
        lines("name;price;weight", "a;1,5;2,25", "b;2,5;3,75"),
        Table(("name", "price", "weight"), 2, ["a", "1,5", "2,25"]),
    ),
    Entry(
        "commas in texts between tabs",
        "r.tsv",
        lines("id\ttext", "1\tone, two, three", "2\tfour, five, six"),
        Table(("id", "text"), 2, ["1", "one, two, three"]),
    ),
    Entry(
        "one column whose texts have commas",
        "r.csv",
        lines("review", "Lovely, quiet room", "Noisy", "Good, but far, far away"),
        Table(("review",), 3, ["Lovely, quiet room"]),
    ),
    Entry(
        "one column whose texts have semicolons",
        "r.csv",
        lines("review", "Lovely; quiet", "Noisy", "Far away"),
        Table(("review",), 3, ["Lovely; quiet"]),
    ),
    Entry(
        "a blank after every comma",
        "r.csv",
        lines("id, text", "1, one", "2, two"),
        Table(("id", " text"), 2, ["1", " one"]),
    ),
    # The csv module would drop the blank before every cell, also of those without quotation marks,
    # while a plain CSV has each cell as it was. The row that this cuts is named, with what to do.
    Entry(
        "a blank before quotation marks",
        "r.csv",
        lines('id, "text"', '1, "one, or two"', '2, "three"'),
        Table(("id", ' "text"'), 2, ["1", ' "one', ' or two"'], bad=1),
    ),
    Entry(
        "a delimiter at the end of every line",
        "r.csv",
        lines("id;text;", "1;one;", "2;two;"),
        Table(("id", "text"), 2, ["1", "one", ""]),
    ),
    Entry(
        "a row with a cell too many",
        "r.csv",
        lines("id,text", "1,one", "2,two,three", "3,three"),
        Table(("id", "text"), 3, ["1", "one"], bad=1),
    ),
    Entry(
        "a row with a cell too few",
        "r.csv",
        lines("id,text,x", "1,one,a", "2,two", "3,three,c"),
        Table(("id", "text", "x"), 3, ["1", "one", "a"], bad=1),
    ),
    Entry(
        "blank lines between the rows",
        "r.csv",
        lines("id,text", "1,one", "", "", "2,two", ""),
        Table(("id", "text"), 4, ["1", "one"]),
    ),
    Entry(
        "rows of nothing but delimiters at the end, as Excel leaves them",
        "r.csv",
        lines("id,text", "1,one", "2,two", ",", ",", end="\r\n"),
        Table(("id", "text"), 4, ["1", "one"]),
    ),
    Entry(
        "a quotation mark that is never closed",
        "r.csv",
        lines("id,text", '1,"one', "2,two", "3,three"),
        "Row 2, column “text”: a quotation mark opens the cell here and nothing closes it. …",
    ),
    Entry(
        "a quotation mark that is never closed, far below",
        "r.csv",
        lines("id,text", *(f"{number},good" for number in range(99)), '100,"bad', "101,two"),
        "Row 101, column “text”: a quotation mark opens the cell here and nothing closes it. …",
    ),
    Entry(
        "text after the quotation mark that closes a cell",
        "r.csv",
        lines("id,text", '1,"one" and more', "2,two"),
        Table(("id", "text"), 2, ["1", '"one" and more'], bad=1),
    ),
    Entry(
        "an open quotation mark in the line of names",
        "r.csv",
        lines('id,"text', "1,one", "2,two"),
        "Line 1: the quotation mark that opens a cell here is not closed. …",
    ),
    Entry(
        "single quotation marks around cells",
        "r.csv",
        lines("id,text", "1,'one'", "2,'two'"),
        Table(("id", "text"), 2, ["1", "'one'"]),
    ),
    Entry(
        "typographic quotation marks around cells",
        "r.csv",
        lines("id;text", "1;“one; or”", "2;“two”"),
        Table(("id", "text"), 2, ["1", "“one", " or”"], bad=1),
    ),
    Entry(
        "two thousand columns",
        "r.csv",
        lines(",".join(f"c{n}" for n in range(2_000)), ",".join("x" * 2_000)),
        Table(tuple(f"c{n}" for n in range(2_000)), 1, ["x"] * 2_000),
    ),
    Entry(
        "a column more",
        "r.csv",
        lines(",".join(f"c{n}" for n in range(2_001)), ",".join("x" * 2_001)),
        "The table has 2,001 columns; at most 2,000 can be read. Remove the columns that are not …",
    ),
    Entry(
        "a Markdown table",
        "r.txt",
        lines("| id | text |", "|----|------|", "| 1 | one |", "| 2 | two |"),
        Table(("prompt",), 4, ["| id | text |"]),
    ),
    Entry(
        "tabs and blanks mixed",
        "r.txt",
        lines("id\ttext", "1\tone two", "2\tthree  four"),
        Table(("id", "text"), 2, ["1", "one two"]),
    ),
    Entry(
        "prompts, one on a line",
        "prompts.txt",
        lines(
            "Write a poem about spring, please.", "Name three towns; any will do.", "What is 2|3?"
        ),
        Table(("prompt",), 3, ["Write a poem about spring, please."]),
    ),
    Entry(
        "one prompt",
        "prompt.txt",
        b"Why is the sky blue?",
        Table(("prompt",), 1, ["Why is the sky blue?"]),
    ),
    Entry(
        "addresses of the web, one on a line",
        "links.txt",
        lines("https://example.com/a?x=1,2", "https://example.com/b", "https://example.com/c"),
        Table(("prompt",), 3, ["https://example.com/a?x=1,2"]),
    ),
]


@each(ENTRIES)
def test_a_text_table_is_read_in_its_dialect(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
