"""The grid of a sheet: the rows of one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.core.paginator import Page, Paginator
from django.utils.safestring import SafeString

from batchui.batches.models import Batch, Part
from batchui.batches.results import Result
from batchui.batches.sheet.pages import neighbours, place
from batchui.batches.sheet.pages import page as rows_of_page
from batchui.batches.sheet.selection import Selection
from batchui.batches.sheet.sizes import sizes
from batchui.batches.states import PartStatus
from batchui.web.sheet import row_html, waiting
from batchui.web.sheet.cells import AnswerCell, answer_cells, cut, said_once
from batchui.web.sheet.columns import SheetColumn, SheetColumns, cells_of, columns_of
from batchui.web.sheet.edited import marks_of
from batchui.web.sheet.gaps import Gap, gap, is_in, shown_first
from batchui.web.sheet.view import SheetView
from batchui.web.sheet.waiting import Waiting

ROWS_PAGE = 100
# Of the box with which a row is ticked, in CSS pixels.
TICK_WIDTH = 16
LOST = "This row cannot be read any more."


@dataclass(frozen=True)
class SheetRow:
    """A row of the grid. texts: its cells of the file, cut where they are long."""

    number: int
    status: str
    columns: Sequence[SheetColumn]
    texts: Sequence[str]
    answers: Sequence[AnswerCell]

    @property
    def signs(self) -> list[int]:
        """How many characters each of its cells has."""
        answers = (
            len(cell.text) + len(cell.note) + sum(map(len, cell.tags)) for cell in self.answers
        )
        return [*map(len, self.texts), *answers]

    @property
    def cells(self) -> SafeString:
        """The cells of the file, as HTML."""
        return row_html.file_cells(self.columns, self.texts, self.number)

    @property
    def answer_cells(self) -> SafeString:
        """The cells of the answers, as HTML."""
        return row_html.answer_cells(self.answers)


@dataclass(frozen=True)
class Grid:
    """A page of rows.

    at: the number of the row to go to, if somebody asked for one. waiting: its rows that will get
    answers, as its polls name them. asked_for: the row that somebody asked for and that is not
    there; `at` is the nearest then. sent: the first and the last of the rows that the page has at
    first, as for a slice (see `gaps.py`).
    """

    columns: SheetColumns
    rows: list[SheetRow]
    page: Page[int]
    at: int | None
    waiting: list[Waiting]
    asked_for: int | None = None
    sent: tuple[int, int | None] = (0, None)

    @property
    def rows_sent(self) -> list[SheetRow]:
        """The rows that the page has at first."""
        return self.rows[slice(*self.sent)]

    @property
    def above(self) -> Gap | None:
        """What stands in place of the rows above them."""
        return gap("above", self.rows[: self.sent[0]])

    @property
    def below(self) -> Gap | None:
        """What stands in place of the rows below them."""
        end = self.sent[1]
        return None if end is None else gap("below", self.rows[end:])

    def at_first(self, *, share: float = 1) -> "Grid":
        """The same, of which a first load has only the rows around `at`: a `share` of a window."""
        return replace(self, sent=shown_first(self.rows, self.at, share=share))

    def between(self, spans: Sequence[range]) -> "Grid":
        """Only those of its rows whose numbers are in one of these spans."""
        return replace(self, rows=[row for row in self.rows if is_in(row.number, spans)])

    @property
    def count(self) -> int:
        """How many rows there are on all pages."""
        return self.page.paginator.count

    @property
    def last_number(self) -> int:
        """The number of the last row of this page."""
        return self.rows[-1].number

    @property
    def width(self) -> int:
        """The least width of all columns together, in CSS pixels."""
        return self.number_width + self.columns.width

    @property
    def number_width(self) -> int:
        """The width of the column with the row numbers, in CSS pixels."""
        longest = max((len(f"{row.number:,}") for row in self.rows), default=1)
        return TICK_WIDTH + 40 + 9 * max(2, longest)


def grid_of(batch: Batch, view: SheetView) -> Grid:
    """The rows that a view shows."""
    known = sizes(batch, view.selection)
    at = None if view.row is None else _nearest(batch, view.selection, view.row)
    before = None if at is None else place(batch, view.selection, at)
    number = view.page if before is None else before // ROWS_PAGE + 1
    page = Paginator(range(known.rows), ROWS_PAGE).get_page(number)
    offset = (page.number - 1) * ROWS_PAGE
    found = rows_of_page(batch, view.selection, offset=offset, limit=ROWS_PAGE, known=known)
    columns = columns_of(batch, view)
    parts = waiting.parts_of(batch, found)
    return Grid(
        columns=columns,
        rows=_rows(batch, found, columns, parts),
        page=page,
        at=at,
        waiting=waiting.of_page(parts),
        asked_for=view.row if at not in (None, view.row) else None,
    )


def _nearest(batch: Batch, selection: Selection, number: int) -> int | None:
    """The chosen row with this number, or the next one; None: no row is chosen."""
    first = batch.first_row
    number = min(max(number, first), first + batch.rows - 1)
    if place(batch, selection, number) is not None:
        return number
    beside = neighbours(batch, selection, number)
    return beside.before if beside.after is None else beside.after


def _rows(
    batch: Batch, found: list[Result], columns: SheetColumns, parts: Mapping[int, Part]
) -> list[SheetRow]:
    wanted, marks = batch.ask.answer_columns, marks_of(found)
    answers = said_once(
        answer_cells(
            result,
            columns.answers,
            wanted,
            _waits_in(parts.get(result.row)),
            marks.get(result.row),
        )
        for result in found
    )
    return [
        SheetRow(
            number=result.row,
            status=result.status,
            columns=columns.hers,
            texts=_texts(result, columns.hers),
            answers=cells,
        )
        for result, cells in zip(found, answers, strict=True)
    ]


def _waits_in(part: Part | None) -> PartStatus | None:
    return None if part is None else waiting.waits_in(part)


def _texts(result: Result, columns: Sequence[SheetColumn]) -> list[str]:
    if result.cells is None:
        return [LOST if column.is_main else "" for column in columns]
    return [cut(text) for text in cells_of(result.cells, columns)]
