"""Writes the workbook that somebody uploaded again, with the answers beside its columns.

The cells are put between the bytes of the sheet; everything else is copied as it is: other sheets,
formulas, styles, charts, macros. What cannot be done safely raises CannotWrite. It takes two
readings of the sheet, which find the free columns and write; both hold a few rows at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.elements import read_elements
from batchui.exports.workbook.package import CHUNK_BYTES, Package
from batchui.exports.workbook.relations import worksheet
from batchui.exports.workbook.sheet_scan import Scan, scan
from batchui.exports.workbook.sheet_xml import SheetXml
from batchui.exports.workbook.splicing import Answers, Splicer
from batchui.exports.workbook.tags import LAST_COLUMN, column_letters
from batchui.exports.xlsx_text import LONGEST_TEXT

# How the names of workbooks end that can take answers.
ENDINGS = (".xlsx", ".xlsm")
PROGRESS_ROWS = 5_000


@dataclass(frozen=True)
class Added:
    """What was added to a sheet, and what a person should know about it.

    letters: of the new columns, for example ("E", "F", "G"). rows: that were given. cut: cells with
    more than LONGEST_TEXT characters, which hold their beginning. has_names: the columns got their
    names (the sheet has a row for them). is_hidden: some of the columns are hidden in the sheet.
    is_covered: a chart or a picture may lie on them. has_filter: the sheet has a filter or a table,
    which does not reach them.
    """

    letters: tuple[str, ...]
    rows: int
    cut: int = 0
    has_names: bool = True
    is_hidden: bool = False
    is_covered: bool = False
    has_filter: bool = False

    def remarks(self) -> list[str]:
        """Sentences for the page; none for most sheets."""
        cut = (
            f"Cells with more than {LONGEST_TEXT:,} characters are cut in the workbook: "
            f"{self.cut:,}. The other downloads have them whole."
        )
        no_names = "The sheet has no row with column names, so the new columns have no names."
        hidden = "Some of the new columns are hidden in this sheet. Unhide them in Excel."
        covered = "A chart or a picture may cover the new columns. Move it aside."
        unfiltered = (
            "The filter or the table of this sheet does not reach the new columns. Extend it "
            "before you sort, or the answers stay behind."
        )
        said = [
            (self.cut, cut),
            (not self.has_names, no_names),
            (self.is_hidden, hidden),
            (self.is_covered, covered),
            (self.has_filter, unfiltered),
        ]
        return [sentence for holds, sentence in said if holds]


def add_columns(
    source: BinaryIO,
    target: BinaryIO,
    *,
    sheet: str,
    header_row: int,
    columns: Sequence[str],
    rows: Iterable[Answers],
    last_row: int = 0,
    progress: Callable[[int], None] = lambda rows: None,
) -> Added:
    """Write `source`, an XLSX or XLSM workbook, to `target` with more columns in one sheet.

    source: can seek. target: empty, can seek; what is in it after an error is of no use. sheet: its
    name. header_row: the row with the column names, from 1; 0 if there is none, and then the new
    columns have no names either. columns: the names of the new columns. rows: (row of the sheet,
    one value for each column) in ascending order, below the header row; read while it is written.
    last_row: the last of them, needed only if it is below the last one of the sheet. progress:
    called with the number of rows written, every PROGRESS_ROWS rows.

    The new columns begin behind the last column with a value or a formula, and behind what keeps
    its columns though it is empty (merged cells, tables). Raises CannotWrite for a workbook that
    cannot take them safely, and ValueError for rows that are not in order.
    """
    package = Package(source)
    part = worksheet(package, sheet)
    found = scan(package, part, first_row=max(header_row, 1))
    first = found.first_free
    last = first + len(columns) - 1
    if last > LAST_COLUMN:
        raise CannotWrite(f"The sheet “{sheet}” has no room for {len(columns)} more columns.")
    xml = SheetXml(package.chunks(part))
    splicer = Splicer(
        xml,
        found,
        first=first,
        count=len(columns),
        header_row=header_row,
        last_row=last_row,
    )
    counted = _Counted(rows, progress)
    names: list[Answers] = [(header_row, columns)] if header_row else []
    written = _checked(_joined(splicer.rows(chain(names, counted))), xml)
    content = chain([splicer.head()], written, xml.tail())
    package.copy(target, name=part.filename, content=content)
    return Added(
        letters=tuple(column_letters(number) for number in range(first, last + 1)),
        rows=counted.rows,
        cut=splicer.cut,
        has_names=bool(header_row),
        is_hidden=_is_hidden(found, first, last),
        is_covered=found.last_covered >= first,
        has_filter=found.has_filter,
    )


class _Counted:
    """Rows, counted as they are taken."""

    def __init__(self, rows: Iterable[Answers], progress: Callable[[int], None]) -> None:
        self.rows = 0
        self._rows, self._progress = rows, progress

    def __iter__(self) -> Iterator[Answers]:
        for answers in self._rows:
            yield answers
            self.rows += 1
            if self.rows % PROGRESS_ROWS == 0:
                self._progress(self.rows)


def _checked(chunks: Iterable[bytes], xml: SheetXml) -> Iterator[bytes]:
    """The same chunks of whole rows. Raises CannotWrite for one that is no well-formed XML.

    What stands before and behind the rows is checked by `scan`. Each chunk has a parser of its own,
    because a parser remembers every name that it meets.
    """
    for chunk in chunks:
        read_elements([xml.opening, chunk, xml.closing])
        yield chunk


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of about CHUNK_BYTES."""
    chunk: list[bytes] = []
    size = 0
    for piece in pieces:
        chunk.append(piece)
        size += len(piece)
        if size >= CHUNK_BYTES:
            yield b"".join(chunk)
            chunk, size = [], 0
    yield b"".join(chunk)


def _is_hidden(found: Scan, first: int, last: int) -> bool:
    return any(left <= last and first <= right for left, right in found.hidden)
