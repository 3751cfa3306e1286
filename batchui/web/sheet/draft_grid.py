"""The grid of a draft: any page of its rows, with the columns where answers will be."""

from collections.abc import Iterable

from django.core.paginator import Paginator

from batchui.batches import draft_rows
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.results import Result
from batchui.batches.states import AnswerStatus
from batchui.web.damaged_files import without_path
from batchui.web.sheet.cells import AnswerCell, cut
from batchui.web.sheet.columns import SheetColumn, SheetColumns, cells_of, columns_of
from batchui.web.sheet.grid import ROWS_PAGE, Grid, SheetRow
from batchui.web.sheet.view import SheetView


def draft_grid(batch: Batch, view: SheetView) -> Grid:
    """The page of rows that a view asks for."""
    pages = Paginator(range(rows_known(batch)), ROWS_PAGE)
    first = batch.format.first_row
    at = None
    if view.row is not None and pages.count:
        at = min(max(view.row, first), first + pages.count - 1)
    page = pages.get_page(view.page if at is None else (at - first) // ROWS_PAGE + 1)
    found = rows_of_draft(batch, offset=(page.number - 1) * ROWS_PAGE, limit=ROWS_PAGE)
    columns = columns_of(batch, view)
    return Grid(
        columns=columns,
        rows=[_row(result, columns) for result in found],
        page=page,
        at=at,
        waiting=[],
    )


def rows_with(batch: Batch, numbers: Iterable[int], columns: SheetColumns) -> list[SheetRow]:
    """The rows with these numbers, wherever they stand. One that cannot be shown is left out."""
    found = (row_of_draft(batch, number) for number in numbers)
    return [_row(result, columns) for result in found if result is not None]


def rows_known(batch: Batch) -> int:
    """How many rows of a draft can be shown: all of them, once the whole file is read."""
    return batch.rows if _has_all(batch) else len(batch.sample)


def row_of_draft(batch: Batch, number: int) -> Result | None:
    """The row with this number, as a spreadsheet shows it; None if it cannot be shown."""
    offset = number - batch.format.first_row
    if not 0 <= offset < rows_known(batch):
        return None
    return next(iter(rows_of_draft(batch, offset=offset, limit=1)), None)


def rows_of_draft(batch: Batch, *, offset: int, limit: int) -> list[Result]:
    """Rows of a draft. Only its first ones, if the others are not read yet, or are lost."""
    if _has_all(batch):
        try:
            return draft_rows.page(batch, offset=offset, limit=limit)
        except (DamagedFile, OSError):
            pass  # Start will say so
    first = batch.format.first_row
    rows = list(enumerate(batch.first_rows, first))[offset : offset + limit]
    return [Result(number, cells, "", None, None, None) for number, cells in rows]


def _has_all(batch: Batch) -> bool:
    """Whether any page of the rows can be opened at once. Old drafts have no file for that."""
    return batch.rows > 0 and batch.draft_rows_file != ""


def _row(result: Result, columns: SheetColumns) -> SheetRow:
    return SheetRow(
        number=result.row,
        status="",
        columns=columns.hers,
        texts=[cut(text) for text in cells_of(result.cells, columns.hers)],
        answers=[_answer(result, column) for column in columns.answers],
    )


def _answer(result: Result, column: SheetColumn) -> AnswerCell:
    """The empty cell of an answer. The first one says why a row cannot be asked."""
    problem = without_path(result.error or "") if column.at == 0 else ""
    return AnswerCell(
        number=result.row,
        at=column.at,
        classes=column.classes,
        status=AnswerStatus.INVALID.value if problem else "",
        note=cut(problem),
    )
