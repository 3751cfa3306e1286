"""Puts new cells into the XML of a sheet, and leaves every other byte as it is."""

from collections.abc import Iterable, Iterator, Sequence

from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.cell_xml import CellWriter, Value
from batchui.exports.workbook.row_cells import cells_of, last_filled
from batchui.exports.workbook.sheet_scan import Area, Scan, area
from batchui.exports.workbook.sheet_xml import Row, SheetXml
from batchui.exports.workbook.tags import (
    LAST_ROW,
    attributes_of,
    blanked,
    column_letters,
    style_of,
    with_attribute,
)

Answers = tuple[int, Sequence[Value]]

_NO_MORE: Answers = (LAST_ROW + 1, ())


class Splicer:
    """Puts values into the columns from `first` on.

    scan: what the same sheet holds. count: of columns. header_row: 0 if there is none; its cells
    are styled as the last one to their left. last_row: no values are for a row below. cut: how many
    cells had to be cut (`cell_xml.py`).
    """

    def __init__(
        self, sheet: SheetXml, scan: Scan, *, first: int, count: int, header_row: int, last_row: int
    ) -> None:
        self._sheet, self._tags = sheet, sheet.tags
        self._first, self._last, self._header_row = first, first + count - 1, header_row
        self._last_row = max(scan.last_row, header_row, last_row)
        letters = [column_letters(first + at) for at in range(count)]
        self._writer = CellWriter(letters, sheet.tags.prefix.decode())
        # Most sheets end where their values end. In others, formatted empty cells are in the way.
        self._is_clear = scan.last_cell < first

    @property
    def cut(self) -> int:
        return self._writer.cut

    def head(self) -> bytes:
        """What stands before the rows, with the size that the sheet has now if it says one.

        Programs that only read trust it (openpyxl's read-only mode).
        """
        head = self._sheet.head
        found = self._tags.dimension.search(blanked(head)[0])
        if found is None or (reference := attributes_of(found[1]).get(b"ref")) is None:
            return head
        old = _area_or_first_cell(reference)
        top = min(old.top, self._header_row or old.top)
        left, right = min(old.left, self._first), max(old.right, self._last)
        bottom = max(old.bottom, self._last_row)
        new = f"{column_letters(left)}{top}:{column_letters(right)}{bottom}"
        tag = with_attribute(found[0], b"ref", new.encode())
        return head[: found.start()] + tag + head[found.end() :]

    def rows(self, rows: Iterable[Answers]) -> Iterator[bytes]:
        """The XML of each row of the sheet, with these values; new rows where they belong.

        rows: a row's number and one value for each column, in ascending order. Raises ValueError
        for others, and CannotWrite as `SheetXml` and `cells_of` do.
        """
        answers = self._checked(rows)
        number, values = next(answers, _NO_MORE)
        for row in self._sheet.rows():
            while number < row.number:
                yield self._new_row(number, values)
                number, values = next(answers, _NO_MORE)
            if number == row.number:
                yield self._with_cells(row, values)
                number, values = next(answers, _NO_MORE)
            else:
                yield row.raw
        while number <= LAST_ROW:
            yield self._new_row(number, values)
            number, values = next(answers, _NO_MORE)

    def _checked(self, rows: Iterable[Answers]) -> Iterator[Answers]:
        before, count = 0, self._last - self._first + 1
        for number, values in rows:
            if not before < number <= self._last_row or len(values) != count:
                raise ValueError(f"row {number} with {len(values)} values, after row {before}")
            yield number, values
            before = number

    def _new_row(self, number: int, values: Sequence[Value]) -> bytes:
        cells = self._plain_cells(number, values)
        name = self._tags.prefix + b"row"
        return b'<%b r="%d">%b</%b>' % (name, number, cells, name) if cells else b""

    def _with_cells(self, row: Row, values: Sequence[Value]) -> bytes:
        old = row.raw[row.tag : row.body]
        if self._is_clear and row.number != self._header_row and b"extLst" not in old:
            cells = self._plain_cells(row.number, values)
            new = old + cells if cells else old
        else:
            new = self._among_cells(row, values)
        if new == old:
            return row.raw
        return self._tag(row) + new + (row.raw[row.body :] if row.body else self._tags.new_row_end)

    def _tag(self, row: Row) -> bytes:
        """A row's start tag and what stands before it. `spans` no longer holds, and may go."""
        tag = row.raw[: row.tag]
        if not row.body:
            tag = tag[: -len("/>")] + b">"
        if b"spans" in tag:
            start = tag.rindex(b"<")
            tag = tag[:start] + with_attribute(tag[start:], b"spans", None)
        return tag

    def _plain_cells(self, number: int, values: Sequence[Value]) -> bytes:
        write = self._writer.cell
        return "".join([write(at, number, value) for at, value in enumerate(values)]).encode()

    def _among_cells(self, row: Row, values: Sequence[Value]) -> bytes:
        """The cells of a row with the new ones, which replace those that are empty.

        An empty cell leaves its style. Behind the cells a row may have extensions.
        """
        old = row.raw[row.tag : row.body]
        is_header = row.number == self._header_row
        column, behind = (not is_header and last_filled(row, self._tags)) or (0, 0)
        self._refuse_filled(column)
        cells = cells_of(row, self._tags, start=behind, last=self._last)
        left = [cell for cell in cells if cell.column < self._first]
        header_style = style_of(left[-1].tag) if is_header and left else None
        empty = {cell.column: cell for cell in cells[len(left) :]}
        pieces = []
        at, end = 0, left[-1].end if left else behind
        for index, value in enumerate(values):
            start, style = end, header_style
            if cell := empty.get(self._first + index):
                self._refuse_filled(cell.column if cell.filled else 0)
                start, end, style = cell.start, cell.end, style_of(cell.tag) or style
            if new := self._writer.cell(index, row.number, value, style):
                pieces += [old[at:start], new.encode()]
                at = end
        return b"".join([*pieces, old[at:]])

    def _refuse_filled(self, column: int) -> None:
        if column >= self._first:
            raise CannotWrite(f"Column {column_letters(column)} of the sheet is not free.")


def _area_or_first_cell(reference: bytes) -> Area:
    try:
        return area(reference.decode(errors="replace"))
    except CannotWrite:
        return Area(1, 1, 1, 1)
