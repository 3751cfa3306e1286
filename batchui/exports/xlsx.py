"""Writes a new workbook (XLSX) with xlsxwriter, one row after the other."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from batchui.exports import xlsx_text, xlsx_values
from batchui.exports.names import free_name
from batchui.exports.rows import Cell, ExportRow, cell_text
from batchui.exports.sheets import (
    MOST_ROWS,
    Written,
    refuse_too_many,
    sheet_name,
    widths,
)
from batchui.exports.spool import Spool, spooled
from batchui.exports.table import EVERYTHING, Selection, Table

MIMETYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# The name of the column that says which cells of a row were cut.
CUT = "cut"
# Beyond these, more title rows would fill a small screen if they stayed on it.
MOST_FROZEN = 10
# Excel has room for about 200 formats of a file's own.
MOST_FORMATS = 150
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "use_zip64": True,  # only where a part has over 2 GB
}
_TOP = {"valign": "top"}


def write_xlsx(
    rows: Iterable[ExportRow],
    table: Table,
    selection: Selection = EVERYTHING,
    *,
    target: Path,
    folder: Path,
    progress: Callable[[int], None] = lambda written: None,
    most_rows: int = MOST_ROWS,
) -> Written:
    """Write the rows as a new workbook to the file `target`.

    A number, a boolean, a date, a time and a percentage are that in the workbook, as far as it has
    them; every other cell is a text, and never a formula or a link. In a file of texts, a column of
    numbers is one of numbers (see `column_kinds.Column`). A cell that is longer than a workbook
    takes is cut; a column behind the errors then names the columns that were.

    folder: for temporary files, which need up to three times the room of the cells. progress: is
    told now and then how many rows are written; what it raises ends the writing. most_rows: of a
    sheet, with its header. Raises TooManyColumns, and ValueError for a row that does not have one
    cell for each column.
    """
    with spooled(rows, table, selection, folder) as spool:
        workbook = Workbook(str(target), {**_OPTIONS, "tmpdir": str(spool.folder)})
        try:
            writer = _Writer(workbook, spool, most_rows)
            writer.write(progress)
            workbook.close()
        except FileCreateError as problem:
            raise problem.__context__ or problem from None  # what the disk said
        finally:
            for sheet in workbook.worksheets():
                sheet._opt_close()
        return Written(spool.rows, len(workbook.worksheets()), writer.cut)


class _Sheet(Worksheet):
    """A sheet that writes every text exactly.

    Of `_x0041_x0042_`, xlsxwriter escapes one half. What begins with <r> and ends with </r> it
    takes for XML of its own, and writes it unescaped.
    """

    @staticmethod
    def _escape_control_characters(data: Any) -> Any:
        return xlsx_text.escaped(data) if isinstance(data, str) else data

    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, False, attributes)


class _Writer:
    """Writes the cells of a spool into the sheets of a workbook. cut: how many were too long."""

    def __init__(self, workbook: Workbook, spool: Spool, most_rows: int) -> None:
        self.cut = 0
        self._workbook = workbook
        self._spool = spool
        self._most_rows = most_rows
        self._names = spool.names
        self._header = [*spool.header]
        self._number_columns = spool.number_columns
        self._has_cuts = _has_too_long(spool)
        if self._has_cuts:
            self._header.append(free_name(CUT, self._header))
        refuse_too_many(len(self._header) + spool.extras)
        self._bold = workbook.add_format({**_TOP, "bold": True, "bottom": 1})
        self._top = workbook.add_format(_TOP)
        self._wrapped = workbook.add_format({**_TOP, "text_wrap": True})
        self._formats: dict[str, Format | None] = {"": None}

    def write(self, progress: Callable[[int], None]) -> None:
        """Write all rows. `progress` is told how many, after every thousandth and the last."""
        self._begin_sheet(self._spool.layout.above)
        for number, cells in enumerate(self._spool, 1):
            if self._row == self._most_rows:
                self._end_sheet()
                self._begin_sheet(())
            self._write_row(cells)
            if not number % 1_000:
                progress(number)
        self._end_sheet()
        progress(self._spool.rows)

    def _begin_sheet(self, above: Sequence[Sequence[Cell]]) -> None:
        """Begin a sheet with these rows and the header."""
        number = len(self._workbook.worksheets()) + 1
        layout = self._spool.layout
        self._sheet = self._workbook.add_worksheet(sheet_name(number), worksheet_class=_Sheet)
        for at, letters in enumerate(widths(self._spool, self._header)):
            is_answer = 0 <= at - len(layout.columns) < layout.answers
            self._sheet.set_column(at, at, letters, self._wrapped if is_answer else self._top)
        for self._row, cells in enumerate(above):
            for at, cell in enumerate(cells):
                self._write_cell(at, cell, is_number=False)
        self._row = len(above)
        for at, name in enumerate(self._header):
            if name:
                self._sheet.write_string(self._row, at, xlsx_text.cut(name), self._bold)
        self._row += 1
        if self._row <= MOST_FROZEN:
            self._sheet.freeze_panes(self._row, 0)
        self._first_row = self._row

    def _end_sheet(self) -> None:
        last = len(self._header) - 1
        self._sheet.autofilter(self._first_row - 1, 0, self._row - 1, last)
        # Excel would mark every text that looks like a number, such as 00123.
        texts = f"A1:{xl_col_to_name(last + self._spool.extras)}{self._row}"
        self._sheet.ignore_errors({"number_stored_as_text": texts})

    def _write_row(self, cells: list[Cell]) -> None:
        """Write the cells of a row of the spool, which get one more if any cell is cut."""
        cut = []
        if self._has_cuts:
            cells.insert(len(self._names), "")
        for at, cell in enumerate(cells):
            if cell == "":
                continue
            if self._write_cell(at, cell, is_number=at in self._number_columns):
                cut.append(self._name(at))
        if cut:
            self.cut += len(cut)
            self._write_cell(len(self._names), ", ".join(cut), is_number=False)
        self._row += 1

    def _name(self, at: int) -> str:
        """What the column at this position is called. Those beyond the header have no name."""
        return self._names[at] if at < len(self._names) else f"column {xl_col_to_name(at)}"

    def _write_cell(self, at: int, cell: Cell, *, is_number: bool) -> bool:
        """Write one cell; returns whether it was cut. is_number: its text is that of a number."""
        if is_number or not isinstance(cell, str):
            if self._write_typed(at, cell):
                return False
            cell = cell_text(cell)
        is_cut = xlsx_text.is_too_long(cell)
        if is_cut:
            cell = xlsx_text.cut(cell)
        self._sheet.write_string(self._row, at, cell)
        return is_cut

    def _write_typed(self, at: int, cell: Cell) -> bool:
        """Write a cell that is no text. False: a workbook has no such value."""
        if isinstance(cell, bool):
            self._sheet.write_boolean(self._row, at, cell)
            return True
        found = (
            xlsx_values.typed(cell)
            if isinstance(cell, dict)
            else xlsx_values.number(cell_text(cell))
        )
        if found is None or not self._has_format(found[1]):
            return False
        self._sheet.write_number(self._row, at, found[0], self._formats[found[1]])
        return True

    def _has_format(self, how: str) -> bool:
        """Whether there is such a format; it is made if there is room for one more."""
        if how not in self._formats:
            if len(self._formats) == MOST_FORMATS:
                return False
            self._formats[how] = self._workbook.add_format({**_TOP, "num_format": how})
        return True


def _has_too_long(spool: Spool) -> bool:
    """Whether any cell must be cut. The rows are read once more only where one may have to be."""
    return spool.longest > xlsx_text.SURELY_FITS and any(
        isinstance(cell, str) and xlsx_text.is_too_long(cell) for cells in spool for cell in cells
    )
