"""What a person reads about the sheets of a new spreadsheet."""

from batchui.exports.sheets import Written


def test_of_most_files_there_is_nothing_to_say() -> None:
    assert Written(rows=1_048_575, sheets=1, cut=0).remarks() == []


def test_rows_on_several_sheets_are_said() -> None:
    assert Written(rows=2_100_000, sheets=3, cut=0).remarks() == [
        "A sheet has room for 1,048,576 rows, so the 2,100,000 rows are on 3 sheets."
    ]


def test_texts_that_were_cut_are_counted() -> None:
    rest = (
        "longer than the 32,767 characters that a cell takes, and cut off there. The column “cut” "
        "says which. CSV and JSON have the whole text."
    )
    assert Written(rows=2, sheets=1, cut=1).remarks() == [f"One text is {rest}"]
    assert Written(rows=9, sheets=1, cut=1_234).remarks() == [f"1,234 texts are {rest}"]
