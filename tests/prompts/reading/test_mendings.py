"""What is said about the columns of a file that had to be made readable."""

import pytest

from batchui.prompts.reading.mendings import mendings, remarks
from tests.prompts.files import format_of, report_of


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"id,text\n1,x\n2,y\n", []),
        (
            b"Sales,,\n\nid,shop,price\n1,x,2\n2,y,3\n",
            ["Rows 1 to 2 stand above the column names, so nothing is asked about them."],
        ),
        (
            b"Sales,,\n1,2,3\n4,5,6\n7,8,9\n",
            ["Row 1 stands above the first row of the table, so nothing is asked about it."],
        ),
        (
            b",text\n1,x\n2,y\n",
            ["One column has no name in the file. Here it is called “Column 1”."],
        ),
        (
            b",text,\n1,x,5\n2,y,6\n",
            ["2 columns have no name in the file. Here they are called “Column 1” and “Column 3”."],
        ),
        (
            b"n,n,id,n,x,x\n1,2,3,4,5,6\n",
            [
                "3 columns have the name “n”. Here they are called “n”, “n (2)” and “n (3)”.",
                "2 columns have the name “x”. Here they are called “x” and “x (2)”.",
            ],
        ),
    ],
)
def test_what_was_done_is_said(data: bytes, said: list[str]) -> None:
    assert mendings(format_of(data)) == said


def test_columns_without_anything_in_them_are_left_out_and_said() -> None:
    one = report_of(b"id,note,text\n1,,x\n2, ,y\n").format
    assert (one.empty, one.shown_columns) == (("note",), ("id", "text"))
    assert mendings(one) == [
        "The column “note” has nothing in it, so it is left out here. The downloads have it."
    ]
    two = report_of(b"id,note,text,\n1,,x,\n2,,y,\n").format
    assert mendings(two) == [
        "The columns “note” and “Column 4” have nothing in them, so they are left out here. The "
        "downloads have them."
    ]


def test_what_else_a_sheet_has_is_said() -> None:
    assert remarks({"hidden_rows": None, "errors": 0, "lost": ()}) == []
    assert remarks({"hidden_rows": 1, "first_hidden_row": 7, "errors": 1, "first_error": "C9"}) == [
        "One row is hidden in the sheet, row 7. It is read like the others.",
        "The cell C9 has an error such as #N/A. It is read as blank.",
    ]
    assert remarks({"hidden_rows": 2, "first_hidden_row": 7, "errors": 3, "first_error": "C9"}) == [
        "2 rows are hidden in the sheet; the first is row 7. They are read, too.",
        "3 cells have an error such as #N/A; the first is C9. They are read as blank.",
    ]
    assert remarks({"uncalculated": 1, "first_uncalculated": "D4"}) == [
        "One formula has no value in the file, beginning with D4. To have it, open the workbook in "
        "Excel or LibreOffice, save it and upload it again."
    ]
    assert remarks({"lost": ["A is b.", "C is d."]}) == ["A is b. C is d."]
