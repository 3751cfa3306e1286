"""Finds out what a sheet holds, and which columns are free, before anything is written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from zipfile import ZipInfo

from batchui.exports.workbook.cannot_write import CannotWrite, unreadable
from batchui.exports.workbook.elements import MAIN, Elements, read_elements
from batchui.exports.workbook.package import Package
from batchui.exports.workbook.relations import Relation, relations
from batchui.exports.workbook.row_cells import LastColumns
from batchui.exports.workbook.sheet_xml import Row, SheetXml
from batchui.exports.workbook.tags import LAST_COLUMN, Tags, attributes_of, place

# What stands before and behind the rows. 1,000,000 merged cells are 30 MB.
LARGEST_SURROUNDINGS = 64_000_000

# The elements that say where a table or a pivot table is.
_PLACED = {"table": "table", "pivotTable": "location"}
_range = re.compile(r"([A-Za-z]+[0-9]+)(?::([A-Za-z]+[0-9]+))?").fullmatch
_digits = re.compile("[0-9]{1,5}").fullmatch


class Area(NamedTuple):
    """A rectangle of cells: rows and columns from 1, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass
class Scan:
    """What a sheet holds, of which the rows from `first_row` on are written to.

    last_row: of the rows that the file lists, blank ones too. last_cell, last_filled: the last
    column with a cell, and with a value or formula. last_taken: the last column of merged cells,
    tables, array formulas and sparklines, which keep their places also where they are empty; only
    those that reach into the rows that are written to. hidden: from which to which column.
    last_covered: the last column that a chart or a picture lies on. has_filter: rows can be sorted
    by a menu in the column names, which leaves new columns behind.
    """

    first_row: int
    last_row: int = 0
    last_cell: int = 0
    last_filled: int = 0
    last_taken: int = 0
    last_covered: int = 0
    hidden: list[tuple[int, int]] = field(default_factory=list)
    has_filter: bool = False

    @property
    def first_free(self) -> int:
        """The column from which on nothing is in the way. It may lie beyond the last one."""
        return max(self.last_filled, self.last_taken) + 1

    def take(self, reference: str) -> None:
        """Keep the columns of an area, such as `A1:C5`."""
        taken = area(reference)
        if taken.bottom >= self.first_row:
            self.last_taken = max(self.last_taken, taken.right)


def scan(package: Package, part: ZipInfo, *, first_row: int) -> Scan:
    """What a sheet holds. Raises CannotWrite as `SheetXml` and `cells_of` do."""
    found = Scan(first_row)
    sheet = SheetXml(package.chunks(part))
    surroundings = _Surroundings(found)
    surroundings.feed(sheet.head)
    columns = LastColumns(sheet.tags)
    for row in sheet.rows():
        found.last_row = row.number
        cell, filled = columns.of(row)
        found.last_cell = max(found.last_cell, cell)
        found.last_filled = max(found.last_filled, filled)
        if b"ref" in row.cells:
            for reference in _array_formulas(row, sheet.tags):
                found.take(reference)
    for chunk in sheet.tail():
        surroundings.feed(chunk)
    surroundings.close()
    for relation in relations(package, part.filename):
        _look_at(found, package, relation)
    return found


def area(reference: str) -> Area:
    """The area of a reference like `A1:C5` or `A1`."""
    found = _range(reference)
    if found is None:
        raise unreadable("The sheet has a range of cells that cannot be read.")
    top, left = place(found[1].encode())
    bottom, right = place((found[2] or found[1]).encode())
    return Area(top, left, bottom, right)


def _array_formulas(row: Row, tags: Tags) -> Iterator[str]:
    for formula in tags.formula.finditer(row.cells):
        reference = attributes_of(formula[1]).get(b"ref")
        if reference is not None:
            yield reference.decode(errors="replace")


def _look_at(scan: Scan, package: Package, relation: Relation) -> None:
    """Look at a table, or at charts and pictures, that belong to the sheet."""

    def found(namespace: str, name: str, attributes: Mapping[str, str]) -> None:
        if namespace in MAIN and name == _PLACED.get(relation.kind):
            scan.take(attributes["ref"])
        elif namespace in MAIN and name == "autoFilter":
            scan.has_filter = True

    def text(name: str, text: str) -> None:
        if relation.kind == "drawing" and name == "col" and _digits(text):
            scan.last_covered = max(scan.last_covered, int(text) + 1)

    if relation.target is not None and relation.kind in (*_PLACED, "drawing"):
        read_elements([package.read(relation.target)], found, text)


class _Surroundings:
    """Looks at everything in a sheet but its rows."""

    _in_sparkline = False

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._elements = Elements(self._found, self._text)
        self._left = LARGEST_SURROUNDINGS

    def feed(self, chunk: bytes) -> None:
        self._left -= len(chunk)
        if self._left < 0:
            raise CannotWrite("The sheet has too much beside its rows.")
        self._elements.feed(chunk)

    def close(self) -> None:
        self._elements.close()

    def _found(self, namespace: str, name: str, attributes: Mapping[str, str]) -> None:
        # A sparkline has a formula and its place; other extensions have places too.
        self._in_sparkline = name == "sparkline" or (self._in_sparkline and name in ("f", "sqref"))
        if namespace not in MAIN:
            return
        if name == "mergeCell":
            self._scan.take(attributes["ref"])
        elif name == "autoFilter":
            self._scan.has_filter = True
        elif name == "col" and attributes["hidden"] in ("1", "true"):
            self._hide(attributes["min"], attributes["max"])

    def _text(self, name: str, text: str) -> None:
        if self._in_sparkline and name == "sqref":
            self._scan.take(text.strip())

    def _hide(self, first: str, last: str) -> None:
        if not (first.isdecimal() and last.isdecimal()) or len(self._scan.hidden) >= LAST_COLUMN:
            raise unreadable("The sheet has columns that cannot be read.")
        self._scan.hidden.append((int(first), int(last)))
