"""Workbooks to upload in these tests."""

import io
from collections.abc import Sequence
from datetime import date
from typing import Any

from xlsxwriter import Workbook

ROWS: Sequence[Sequence[Any]] = [
    ["Reviews of May"],
    [],
    ["id", "text", "day", "stars", "share", "ok", "name", "name"],
    ["007", "Lovely room", date(2026, 5, 1), 5, 0.25, True, "Ann", "x"],
    ["008", "Noisy", date(2026, 5, 2), 1.5, 0.5, False, "Bob", "y"],
    [],
    ["009", "", date(2026, 5, 4), 3, 1.0, True, "Cy", "z"],
]


def book(*sheets: tuple[str, Sequence[Sequence[Any]]]) -> bytes:
    """A workbook with these sheets: the name of each, and its rows."""
    made = io.BytesIO()
    with Workbook(made) as workbook:
        day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        percent = workbook.add_format({"num_format": "0%"})
        for name, rows in sheets:
            sheet = workbook.add_worksheet(name)
            for at, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if isinstance(cell, date):
                        sheet.write_datetime(at, column, cell, day)
                    elif isinstance(cell, float) and cell <= 1:
                        sheet.write_number(at, column, cell, percent)
                    elif isinstance(cell, str):
                        sheet.write_string(at, column, cell)
                    else:
                        sheet.write(at, column, cell)
    return made.getvalue()


def reviews() -> bytes:
    """Three sheets: a note, the reviews below a title, and a short list."""
    june = [["id", "text"], *([str(number), f"June {number}"] for number in range(3))]
    return book(("Read me", [["These are our reviews"]]), ("May", ROWS), ("June", june))
