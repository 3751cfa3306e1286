"""A workbook as an office has it: a note, a table under a title, and another table."""

from datetime import date
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook

SHEETS = ["Read me", "May", "June"]
TITLE = "Hotel reviews, May 2026"
NAMES = ["id", "date", "review", "stars", "share", "points", "note"]
# The rows of the sheet “May” as a spreadsheet counts them. One of them is blank.
HEADER_ROW, FIRST_ROW, BLANK_ROW, LAST_ROW = 3, 4, 7, 15
ANSWER_COLUMNS = "HIJ"
# As a person sees them: the texts of the sheet's cells, by row.
SHOWN = {
    row: [
        f"{row:05}",
        f"2026-05-{row:02}",
        f"Room {row} was lovely, the breakfast cold",
        str(row % 5 + 1),
        f"{row}%",
        str(row % 5 * 10 + 10),
        "two\nlines" if row % 2 else f"=1+{row}",
    ]
    for row in range(FIRST_ROW, LAST_ROW + 1)
    if row != BLANK_ROW
}
BLANK = [""] * len(NAMES)


def typed(row: int) -> list[Any]:
    """The cells of a row as values: a text, a date, numbers."""
    day = date(2026, 5, row)
    number, _, review, stars, _, points, note = SHOWN[row]
    return [number, day, review, int(stars), row / 100, int(points), note]


def write_hotel(file: Path) -> Path:
    """Write the workbook, with styles, a formula in each row, and a chart of them."""
    with Workbook(file) as book:
        head = book.add_format({"bold": True, "bg_color": "#DDEBF7", "border": 1})
        title = book.add_format({"bold": True, "font_size": 16})
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        percent = book.add_format({"num_format": "0%"})
        note = book.add_worksheet(SHEETS[0])
        note.write_column("A1", ["Reviews of our hotels", "Ask Ben before you change it."], title)
        may = book.add_worksheet(SHEETS[1])
        may.write("A1", TITLE, title)
        may.write_row(HEADER_ROW - 1, 0, NAMES, head)
        for row in SHOWN:
            number, on, review, stars, share, points, note = typed(row)
            at = row - 1
            may.write_string(at, 0, number)
            may.write_datetime(at, 1, on, day)
            may.write_string(at, 2, review)
            may.write_number(at, 3, stars)
            may.write_number(at, 4, share, percent)
            may.write_formula(at, 5, f"=D{row}*10", None, points)
            may.write_string(at, 6, note)
        chart = book.add_chart({"type": "column"})
        chart.add_series({"values": f"=May!$D${FIRST_ROW}:$D${LAST_ROW}"})
        june = book.add_worksheet(SHEETS[2])
        june.write_row(0, 0, ["id", "review"])
        june.write_row(1, 0, [1, "June was quiet"])
        june.write_formula("C2", "=A2+1", None, 2)
        june.insert_chart("E2", chart)
    return file


def answer_of(text: str) -> str:
    """What the sandbox answers when it is asked to translate a text to German."""
    return f"[sandbox] [German] {text}"
