"""First lines of every kind: names, titles, rows, and nothing."""

from datetime import date

import pytest

from tests.batches.books import book
from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

COUNTED = Table(("id", "text"), 2, ["1", "one"])
BLANK = "The first rows of this table are all blank. …"
UNNAMED = ("Column 1", "Column 2")

ENTRIES = [
    Entry(
        "a title above the names",
        "r.csv",
        lines("Reviews of May", "id,text", "1,one", "2,two"),
        COUNTED,
    ),
    Entry(
        "a title with delimiters",
        "r.csv",
        lines("Reviews of May,", ",", "id,text", "1,one", "2,two"),
        COUNTED,
    ),
    Entry(
        "a title, a date, and blank lines",
        "r.csv",
        lines("Reviews", "Made on 2026-05-01", "", "", "id,text", "1,one", "2,two"),
        COUNTED,
    ),
    Entry(
        "blank lines above the names", "r.csv", lines("", "", "id,text", "1,one", "2,two"), COUNTED
    ),
    Entry(
        "lines of # above the names",
        "r.csv",
        lines("# made by x", "# v1.2", "id,text", "1,one", "2,two"),
        COUNTED,
    ),
    Entry(
        "no names, numbers and texts",
        "r.csv",
        lines("1,one", "2,two", "3,three"),
        Table(UNNAMED, 3, ["1", "one"]),
    ),
    Entry(
        "no names, a list of sentences",
        "r.csv",
        lines("The room was lovely.", "The breakfast was cold.", "The staff was kind."),
        Table(("Column 1",), 3, ["The room was lovely."]),
    ),
    Entry(
        "no names, a list of numbers",
        "r.csv",
        lines("17", "4", "23"),
        Table(("Column 1",), 3, ["17"]),
    ),
    Entry(
        "no names, addresses of mail",
        "r.csv",
        lines("ann@example.com,Ann", "bob@example.com,Bob", "cy@example.com,Cy"),
        Table(UNNAMED, 3, ["ann@example.com", "Ann"]),
    ),
    Entry(
        "no names, one row",
        "r.csv",
        lines("17,2026-05-01"),
        Table(UNNAMED, 1, ["17", "2026-05-01"]),
    ),
    Entry(
        "a repeated name",
        "r.csv",
        lines("id,text,text", "1,one,uno", "2,two,due"),
        Table(("id", "text", "text (2)"), 2, ["1", "one", "uno"]),
    ),
    Entry(
        "a name as a repeated one would get",
        "r.csv",
        lines("text,text (2),text", "a,b,c", "d,e,f"),
        Table(("text", "text (2)", "text (3)"), 2, ["a", "b", "c"]),
    ),
    Entry(
        "a missing name in the middle",
        "r.csv",
        lines("id,,text", "1,x,one", "2,y,two"),
        Table(("id", "Column 2", "text"), 2, ["1", "x", "one"]),
    ),
    Entry(
        "names of nothing but blanks",
        "r.csv",
        lines("id,  ,text", "1,x,one", "2,y,two"),
        Table(("id", "Column 2", "text"), 2, ["1", "x", "one"]),
    ),
    Entry(
        "an empty column",
        "r.csv",
        lines("id,notes,text", "1,,one", "2,,two"),
        Table(("id", "text"), 2, ["1", "", "one"]),
    ),
    Entry(
        "an index column as pandas writes it",
        "r.csv",
        lines(",id,text", "0,7,one", "1,8,two"),
        Table(("Column 1", "id", "text"), 2, ["0", "7", "one"]),
    ),
    Entry(
        "an index column as R writes it",
        "r.csv",
        lines('"id","text"', '"1",7,"one"', '"2",8,"two"'),
        Table(("Column 1", "id", "text"), 2, ["1", "7", "one"]),
    ),
    Entry(
        "years as names",
        "r.csv",
        lines("country,2023,2024,2025", "Peru,1.5,2.5,3.5", "Chile,4.5,5.5,6.5"),
        Table(("country", "2023", "2024", "2025"), 2, ["Peru", "1.5", "2.5", "3.5"]),
    ),
    Entry(
        "dates as names",
        "r.csv",
        lines("town,2026-05-01,2026-05-02", "Lima,17,18", "Rome,24,25"),
        Table(("town", "2026-05-01", "2026-05-02"), 2, ["Lima", "17", "18"]),
    ),
    Entry(
        "numbers as names",
        "r.csv",
        lines("1,2,3", "a,b,c", "d,e,f"),
        Table(("1", "2", "3"), 2, ["a", "b", "c"]),
    ),
    Entry(
        "names in another script",
        "r.csv",
        lines("编号,评论", "1,房间很好", "2,早餐不好"),
        Table(("编号", "评论"), 2, ["1", "房间很好"]),
    ),
    Entry(
        "questions as names, as forms have them",
        "r.csv",
        lines(
            "Timestamp,How satisfied are you with our service?,What could we do better?",
            "2026/05/01 10:00:00 AM GMT+2,5,Nothing at all",
            "2026/05/02 11:30:00 AM GMT+2,3,Cheaper breakfast",
        ),
        Table(
            ("Timestamp", "How satisfied are you with our service?", "What could we do better?"),
            2,
            ["2026/05/01 10:00:00 AM GMT+2", "5", "Nothing at all"],
        ),
    ),
    Entry(
        "names with line breaks",
        "r.csv",
        lines('"id\n(number)","text\n(English)"', "1,one", "2,two"),
        Table(("id\n(number)", "text\n(English)"), 2, ["1", "one"]),
    ),
    Entry(
        "a name of 1,001 characters over a column",
        "r.csv",
        lines("id," + "x" * 1_001, "1,one", "2,two"),
        "Row 1: the name of column 2, “xxx…",
    ),
    Entry(
        "names with braces",
        "r.csv",
        lines("{{id}},{text}", "1,one", "2,two"),
        Table(("{{id}}", "{text}"), 2, ["1", "one"]),
    ),
    Entry(
        "names without rows",
        "r.csv",
        lines("id,text"),
        "The file has a line with column names (“id” and “text”) but no rows under it. …",
    ),
    Entry(
        "names and blank lines",
        "r.csv",
        lines("id,text", "", ""),
        "The file has a line with column names (“id” and “text”) but no rows under it. …",
    ),
    Entry(
        "a title and nothing below",
        "r.csv",
        lines("Reviews of May"),
        "The file has a line with column names (“Reviews of May”) but no rows under it. …",
    ),
    # It has cells like any other row, and may be one: who asks about it sees it in the answers.
    Entry(
        "a row of totals at the end",
        "r.csv",
        lines("item,price", "tea,3", "cake,4", "Total,7"),
        Table(("item", "price"), 3, ["tea", "3"]),
    ),
    Entry(
        "a title in merged cells",
        "r.xlsx",
        lambda: book(
            (
                "Data",
                [["Reviews", "", ""], ["id", "text", "stars"], ["1", "one", 4], ["2", "two", 5]],
            )
        ),
        Table(("id", "text", "stars"), 2, ["1", "one", 4]),
    ),
    Entry(
        "a logo, an address and a date above the names of a workbook",
        "r.xlsx",
        lambda: book(
            (
                "Data",
                [
                    [],
                    ["Hotel Bella Vista"],
                    ["Via Roma 1"],
                    ["Date:", date(2026, 5, 1)],
                    [],
                    ["id", "text", "stars", "town"],
                    ["1", "one", 4, "Rome"],
                    ["2", "two", 5, "Lima"],
                ],
            )
        ),
        Table(("id", "text", "stars", "town"), 2, ["1", "one", 4, "Rome"]),
    ),
    Entry(
        "a table that begins in column C of a workbook",
        "r.xlsx",
        lambda: book(
            ("Data", [[], ["", "", "id", "text"], ["", "", "1", "one"], ["", "", "2", "two"]])
        ),
        Table(("id", "text"), 2, ["", "", "1", "one"]),
    ),
    Entry(
        "a workbook without names",
        "r.xlsx",
        lambda: book(("Data", [[1, "one"], [2, "two"], [3, "three"]])),
        Table(UNNAMED, 3, [1, "one"]),
    ),
    Entry("nothing but delimiters", "r.csv", lines(",,,", ",,,"), BLANK),
    Entry("nothing but blanks in cells", "r.csv", lines('" ",""', '"",""'), BLANK),
    Entry("lists of blanks", "r.json", b'[["", null], []]', BLANK),
    Entry("a workbook of blanks", "r.xlsx", lambda: book(("Data", [[" ", " "], [" "]])), BLANK),
    Entry(
        "a hundred rows of delimiters above the names",
        "r.csv",
        lines(*[","] * 100, "id,text", "1,one", "2,two"),
        COUNTED,
    ),
    Entry(
        "a table far down in a workbook",
        "r.xlsx",
        lambda: book(("Data", [*[[]] * 100, ["id", "text"], ["1", "one"], ["2", "two"]])),
        COUNTED,
    ),
    Entry(
        "names above groups of names, as surveys have them",
        "r.csv",
        lines(
            "Respondent,How was the room?,,How was the breakfast?,",
            ",Stars,Comment,Stars,Comment",
            "1,5,Lovely,3,Cold",
            "2,4,Quiet,2,Late",
        ),
        Table(
            ("Respondent", "How was the room?", "Column 3", "How was the breakfast?", "Column 5"),
            3,
            ["", "Stars", "Comment", "Stars", "Comment"],
        ),
    ),
]


@each(ENTRIES)
def test_the_names_of_the_columns_are_found(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
