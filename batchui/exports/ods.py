"""Writes a new OpenDocument spreadsheet (ODS), row by row."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from xlsxwriter.utility import xl_col_to_name

from batchui.exports import ods_frame, xlsx_values
from batchui.exports.rows import Cell, ExportRow, cell_text
from batchui.exports.sheets import MOST_ROWS, Written, refuse_too_many, sheet_name, widths
from batchui.exports.spool import Spool, spooled
from batchui.exports.table import EVERYTHING, Selection, Table
from batchui.exports.typed_values import value_of
from batchui.exports.zipped import LEVEL

_special = re.compile(r"[&<>\x00-\x1f\ufffe\uffff]|  |^ | $")
# XML has none of these, and ODS knows no other way to write them.
_impossible = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
# Of blanks beside each other and at the ends of a line, readers keep only those that are counted.
_blanks = re.compile(r"^ +| +$|(?<= ) +")
_BLANK = "<table:table-cell/>"


def write_ods(
    rows: Iterable[ExportRow],
    table: Table,
    selection: Selection = EVERYTHING,
    *,
    target: Path,
    folder: Path,
    progress: Callable[[int], None] = lambda written: None,
    most_rows: int = MOST_ROWS,
) -> Written:
    """Write the rows as a new ODS file to `target`, as `xlsx.write_xlsx` does.

    No cell is cut. Programs that read ODS drop tabs, so one is a blank; control characters are left
    out, and a carriage return is a line break. A number that is padded with zeros is a text.
    """
    with spooled(rows, table, selection, folder) as spool:
        refuse_too_many(len(spool.columns) + spool.extras)
        sheets = _Sheets(spool, most_rows)
        content = spool.folder / "content.xml"
        with content.open("wb") as xml:
            xml.write(sheets.start().encode())
            for number, cells in enumerate(spool, 1):
                xml.write(sheets.row(cells).encode())
                if not number % 1_000:
                    progress(number)
            xml.write(sheets.end().encode())
        with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            archive.writestr("mimetype", ods_frame.MIMETYPE, compress_type=ZIP_STORED)
            archive.writestr("META-INF/manifest.xml", ods_frame.MANIFEST)
            archive.write(content, "content.xml")
        progress(spool.rows)
        return Written(spool.rows, len(sheets.ranges), 0)


class _Sheets:
    """The sheets as XML. ranges: the cells of each below its title, once they are written."""

    def __init__(self, spool: Spool, most_rows: int) -> None:
        self.ranges: list[str] = []
        self._spool = spool
        self._most_rows = most_rows
        self._widths = widths(spool, spool.header)
        self._numbers = spool.number_columns

    def start(self) -> str:
        """What stands before the first row."""
        return ods_frame.start(self._widths) + self._head(self._spool.layout.above)

    def row(self, cells: Sequence[Cell]) -> str:
        """A row; before it another sheet begins if this one is full."""
        full = self._end() + self._head(()) if self._row == self._most_rows else ""
        self._row += 1
        return full + _row(
            _cell(cell, is_number=at in self._numbers) for at, cell in enumerate(cells)
        )

    def end(self) -> str:
        """What stands behind the last row."""
        return self._end() + ods_frame.end(self.ranges)

    def _head(self, above: Sequence[Sequence[Cell]]) -> str:
        """The beginning of a sheet: these rows and the header."""
        name = sheet_name(len(self.ranges) + 1)
        layout = self._spool.layout
        wrapped = range(len(layout.columns), len(layout.columns) + layout.answers)
        self._first_row = self._row = len(above) + 1
        return (
            f'<table:table table:name="{name}">'
            + ods_frame.columns(self._widths, wrapped=wrapped)
            + "".join(_row(_cell(cell, is_number=False) for cell in cells) for cells in above)
            + _row(_text(name, ' table:style-name="header"') for name in self._spool.header)
        )

    def _end(self) -> str:
        name = sheet_name(len(self.ranges) + 1)
        last = xl_col_to_name(len(self._spool.header) - 1)
        self.ranges.append(f"'{name}'.A{self._first_row}:'{name}'.{last}{self._row}")
        return "</table:table>"


def _row(cells: Iterable[str]) -> str:
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def _cell(cell: Cell, *, is_number: bool) -> str:
    """The XML of a cell. is_number: its text is that of a number."""
    if cell == "":
        return _BLANK
    if is_number or not isinstance(cell, str):
        return _typed(cell) or _text(cell_text(cell))
    return _text(cell)


def _text(text: str, style: str = "") -> str:
    lines = [text]
    if _special.search(text):
        text = escape(_impossible.sub("", text.replace("\t", " ")))
        lines = [_blanks.sub(_counted, line) for line in re.split(r"\r\n?|\n", text)]
    paragraphs = "</text:p><text:p>".join(lines)
    return (
        f'<table:table-cell{style} office:value-type="string">'
        f"<text:p>{paragraphs}</text:p></table:table-cell>"
    )


def _counted(found: re.Match[str]) -> str:
    return f'<text:s text:c="{len(found[0])}"/>'


def _typed(cell: Cell) -> str | None:
    """The XML of a cell that is no text. None: ODS, or Excel, has no such value."""
    if isinstance(cell, bool):
        return _value("boolean", "boolean-value", str(cell).lower(), style="boolean")
    if not isinstance(cell, dict):
        text = cell_text(cell)
        return _value("float", "value", text) if xlsx_values.number(text) else None
    value = value_of(cell)
    if isinstance(value, datetime):
        return _value("date", "date-value", value.isoformat(), style="datetime")
    if isinstance(value, date):
        return _value("date", "date-value", value.isoformat(), style="date")
    if isinstance(value, time):
        return _value("time", "time-value", f"PT{value:%HH%MM%S.%f}S", style="time")
    if isinstance(value, timedelta):
        seconds = value // timedelta(microseconds=1) / 1_000_000
        return _value("time", "time-value", f"PT{seconds:f}S", style="time")
    return None if value is None else _value("percentage", "value", f"{value}", style="percent")


def _value(kind: str, name: str, value: str, *, style: str = "") -> str:
    look = f' table:style-name="{style}"' if style else ""
    return f'<table:table-cell{look} office:value-type="{kind}" office:{name}="{value}"/>'
