"""Workbooks written for these tests, and read back by other programs."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.utils.escape import unescape
from python_calamine import CalamineWorkbook

from batchui.exports.rows import ExportRow
from batchui.exports.table import EVERYTHING, Selection, Table
from batchui.exports.xlsx import write_xlsx
from tests.office import convert


def workbook(
    folder: Path,
    rows: Iterable[ExportRow],
    table: Table,
    selection: Selection = EVERYTHING,
    **how: Any,
) -> Path:
    """The path of a new workbook with these rows."""
    target = folder / "made.xlsx"
    write_xlsx(rows, table, selection, target=target, folder=folder, **how)
    return target


def by_calamine(path: Path, sheet: int = 0) -> list[list[Any]]:
    """The rows of a sheet, with types, as the product itself reads them."""
    found = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(sheet)
    return found.to_python(skip_empty_area=False)


def by_openpyxl(path: Path) -> list[list[Any]]:
    """The same by openpyxl, which has None for blank cells and leaves escapes alone."""
    sheet = openpyxl.load_workbook(path).active
    return [
        [unescape(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row]
        for row in sheet.iter_rows(values_only=True)
    ]


def by_libreoffice(path: Path) -> list[list[str]]:
    """The texts that LibreOffice shows in the first sheet."""
    # Comma, quotation mark, UTF-8, from line 1 on; then: cells as shown, only the first sheet.
    how = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,true,false,false,1"
    [made] = convert(path.parent / "shown", {path.name: path.read_bytes()}, to=how).values()
    return list(csv.reader(io.StringIO(made.decode(), newline="")))
