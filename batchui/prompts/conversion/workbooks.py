"""Workbooks (XLSX, XLSM, XLSB, XLS, ODS) -> a file of cells for each sheet. calamine reads them.

A row of the sheet is a line, from its row 1. Cells are as a person sees them: what calamine leaves
out (percentages, padded and long numbers, errors) is found in the XML of XLSX and ODS, where there
is any; of XLS and XLSB that is lost.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast
from xml.etree import ElementTree

import msgspec
import python_calamine as calamine

from batchui.prompts.conversion import cells, ole
from batchui.prompts.conversion.converted import Sheet
from batchui.prompts.conversion.looking import File, is_encrypted
from batchui.prompts.conversion.ods_xml import OdsXml
from batchui.prompts.conversion.ooxml import number_styles, refuse_strange_xml, sheet_parts
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.conversion.pretenders import PROTECTED
from batchui.prompts.conversion.sheet_xml import Correction, Findings, SheetXml
from batchui.prompts.problems import BadInput

FORMATS: tuple[str, ...] = ("Excel (XLSX, XLSM, XLSB, XLS)", "OpenDocument (ODS)")
# One of these is in every workbook; of an old one the name of its stream.
PARTS = {"xl/workbook.xml", "xl/workbook.bin", "Workbook", "Book", "WORKBOOK", "BOOK"}
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
SHEET_LIMIT = 1_000
ODS_CONTENT, ODS_STYLES = "content.xml", "styles.xml"
BINARY = "xl/workbook.bin"
STYLES_BYTES = 16_000_000
DAMAGED = (
    "This workbook is damaged or was not copied whole. Copy or download it again. If it still "
    "opens in Excel or LibreOffice, save it again there and upload that."
)
TOO_LONG_A_TIME = (
    "A cell of this workbook is shown as hours, and its number is far too large for that. Look for "
    "a cell with #####, give its column the format “General”, and upload the workbook again."
)
DAMAGE = (
    calamine.CalamineError,
    zipfile.BadZipFile,
    zlib.error,
    ElementTree.ParseError,
    EOFError,
    NotImplementedError,  # a kind of compression
    UnicodeDecodeError,
)
LOST = (
    "In a file of this kind, percentages are plain numbers: 25% is 0.25.",
    "Numbers lose the zeros before them, and are rounded after 15 digits; texts stay as they are.",
    "Error cells, hidden rows and formulas without a value are not counted.",
    "XLSX keeps all of this.",
)


class Marks(Protocol):
    """What the XML says about a sheet besides the values that calamine finds."""

    findings: Findings

    def corrections(self) -> Iterator[Correction]:
        """Cells that calamine has otherwise than the sheet shows them, row by row."""


def is_of(file: File) -> bool:
    """Whether the file holds what a workbook does."""
    return not PARTS.isdisjoint(file.holds) or file.mimetype.startswith(ODS_TYPE)


def convert(file: File, out: Output) -> tuple[Sheet, ...]:
    """Each worksheet of a workbook, in its order. Raises BadInput for what cannot be read."""
    with _sentences(), _marks(file) as marks, _named(file, out.folder) as path:
        book = calamine.load_workbook(path)
        if len(book.sheet_names) > SHEET_LIMIT:
            raise BadInput(
                f"This workbook has more than {SHEET_LIMIT:,} sheets. Save the sheet that you "
                "need as a workbook of its own, and upload that."
            )
        made = tuple(
            _sheet(book, at, marks(about.name), out)
            for at, about in enumerate(book.sheets_metadata)
            if about.typ == calamine.SheetTypeEnum.WorkSheet
        )
    if not any(sheet.rows for sheet in made):
        raise BadInput("There is nothing in this workbook. Choose one with a table in it.")
    return made


def _sheet(book: calamine.CalamineWorkbook, at: int, marks: Marks | None, out: Output) -> Sheet:
    about = book.sheets_metadata[at]
    out.progress(0, 0, about.name, now=True)
    sheet = book.get_sheet_by_index(at)
    (_, left), (bottom, right) = sheet.start or (0, 0), sheet.end or (-1, -1)
    made = Sheet(
        file=f"sheet-{at + 1}.jsonl.zst",
        name=about.name,
        rows=bottom + 1,
        columns=right + 1,
        hidden=about.visible != calamine.SheetVisibleEnum.Visible,
        merged=None if sheet.merged_cell_ranges is None else len(sheet.merged_cell_ranges),
        lost=() if marks else LOST,
    )
    corrections = marks.corrections() if marks else iter(())
    with out.file(made.file) as write:
        done = 0
        for block in _corrected(sheet, corrections, left=left):
            write(cells.lines(block, left=left, as_shown=True))
            done += len(block)
            out.progress(done, made.rows, about.name)
    return msgspec.structs.replace(made, **asdict(marks.findings)) if marks else made


def _corrected(
    sheet: calamine.CalamineSheet, corrections: Iterator[Correction], *, left: int
) -> Iterator[list[list[Any]]]:
    """The sheet's rows in blocks, with these cells put in. left: the column of their first cell."""
    width, first = sheet.width, 0
    correction = next(corrections, None)
    for block in cells.blocks(sheet.iter_rows(), width=width):
        end = first + len(block)
        while correction and correction[0] < end:
            row, column, cell = correction
            if row >= first and left <= column < left + width:
                block[row - first][column - left] = cell
            correction = next(corrections, None)
        yield block
        first = end
    for _ in corrections:  # below the last value: only to count what is there
        pass


@contextmanager
def _named(file: File, folder: Path) -> Iterator[Path]:
    """The file by a name with the ending of its format: calamine takes that for granted.

    By its contents alone, it would call one with a password damaged.
    """
    ending = ".xlsx"
    if file.head.startswith(ole.MAGIC):
        ending = ".xls"
    elif BINARY in file.holds:
        ending = ".xlsb"
    elif ODS_CONTENT in file.holds:
        ending = ".ods"
    link = folder / f"workbook{ending}"
    link.symlink_to(file.path.absolute())
    try:
        yield link
    finally:
        link.unlink()


@contextmanager
def _marks(file: File) -> Iterator[Callable[[str], Marks | None]]:
    """A function from the name of the next sheet to what its XML says; None if it has none."""
    if file.head.startswith(ole.MAGIC):
        yield lambda name: None
        return
    with zipfile.ZipFile(file.path) as archive:
        if any(map(is_encrypted, archive.filelist)):
            raise BadInput(PROTECTED)
        refuse_strange_xml(archive, sorted(n for n in file.holds if n.endswith(".xml")))
        if ODS_CONTENT in file.holds:
            ods = OdsXml(lambda: cast(BinaryIO, archive.open(ODS_CONTENT)), _styles(archive))
            yield lambda name: ods
            return
        if BINARY in file.holds:
            yield lambda name: None
            return
        parts, styles = sheet_parts(archive), number_styles(archive)

        def of_sheet(name: str) -> Marks | None:
            if name not in parts:
                return None
            return SheetXml(cast(BinaryIO, archive.open(parts[name])), styles)

        yield of_sheet


def _styles(archive: zipfile.ZipFile) -> bytes:
    if ODS_STYLES not in archive.NameToInfo:
        return b""
    with archive.open(ODS_STYLES) as stream:
        return stream.read(STYLES_BYTES)


@contextmanager
def _sentences() -> Iterator[None]:
    """Turns the exceptions of libraries into sentences."""
    try:
        yield
    except calamine.PasswordError:
        raise BadInput(PROTECTED) from None
    except OverflowError as exc:
        raise BadInput(TOO_LONG_A_TIME) from exc
    except DAMAGE as exc:
        raise BadInput(DAMAGED) from exc
    except BaseException as exc:
        if type(exc).__name__ != "PanicException":  # of Rust; no class that can be imported
            raise
        raise BadInput(DAMAGED) from None
