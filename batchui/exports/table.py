"""What goes out: the table that the rows are from, and what of it a person chose.

Every writer takes a `Table` and a `Selection`; `Layout` is what comes of both.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from msgspec.structs import replace

from batchui.exports.names import ANSWER, added_columns
from batchui.exports.rows import Cell, ExportRow


@dataclass(frozen=True)
class Table:
    """What a file says about its rows.

    columns: the unique name of each column, for JSON and Parquet. header: the same cells as they
    stand in the file, for CSV and XLSX, where one may be blank and another there twice; None: as
    `columns`. above: the rows above the header (a title), which CSV, XLSX and ODS get again. typed:
    whether cells have types (see `rows.py`); if not, all are texts, which is faster. of_texts: the
    typed cells come from a text file, so that its texts may be numbers, as in one without types.
    fields: the names of the columns in which the answers go out (`ExportRow.fields`); (): they are
    one column. whole: whether the answers go out as they came, too, or alone.
    """

    columns: Sequence[str]
    header: Sequence[str] | None = None
    above: Sequence[Sequence[Cell]] = ()
    typed: bool = False
    of_texts: bool = False
    fields: Sequence[str] = ()
    whole: bool = True


@dataclass(frozen=True)
class Selection:
    """What of a batch goes out. Nothing chosen: all of it.

    columns: the names of the columns of the file that go out, in any order; None: all of them,
    and the cells beyond them. answer: the name of the column of answers; it gets a number if the
    file has that column. statuses: those of the rows that go out; None: all rows.
    """

    columns: AbstractSet[str] | None = None
    answer: str = ANSWER
    statuses: AbstractSet[str] | None = None


EVERYTHING = Selection()


class Layout:
    """The columns of an export, and the rows as they fit them.

    columns: the unique names of those of the file that go out. header: the same as the file has
    them. above: the rows above it; of each, the cells over these columns (see `_titles`). added:
    the names of the columns behind them: the first `answers` are of the answer (its fields, and the
    whole of it if `has_whole`), the last two of status and error.
    """

    def __init__(self, table: Table, selection: Selection) -> None:
        header = table.columns if table.header is None else table.header
        if len(header) != len(table.columns):
            raise ValueError(f"{len(header)} cells in the header of {len(table.columns)} columns")
        chosen = selection.columns
        self._width = len(table.columns)
        self._statuses = selection.statuses
        self._positions = None if chosen is None else _positions(table.columns, chosen)
        self.columns = self._of(table.columns)
        self.header = self._of(header)
        self.above = list(map(self._titles, table.above))
        self.fields, self.has_whole = table.fields, table.whole
        self.answers = len(self.fields) + self.has_whole
        self.added = added_columns(
            [*self.columns, *self.header],
            fields=self.fields,
            whole=self.has_whole,
            answer=selection.answer,
        )

    @property
    def answer(self) -> str:
        """The name of the column of whole answers; "" if there is none."""
        return self.added[self.answers - 1] if self.has_whole else ""

    def rows(self, rows: Iterable[ExportRow]) -> Iterable[ExportRow]:
        """Those of the rows that go out, with the cells that go out."""
        if self._statuses is not None:
            statuses = self._statuses
            rows = (row for row in rows if row.status in statuses)
        return rows if self._positions is None else map(self._narrowed, rows)

    def _of(self, cells: Sequence[str]) -> list[str]:
        if self._positions is None:
            return list(cells)
        return [cells[at] for at in self._positions]

    def _titles(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """The cells of a row above the header that stand over the chosen columns.

        Where the first of them is blank, the first text over the other columns stands there, since
        a title usually stands over the first column of the file.
        """
        if self._positions is None:
            return cells
        kept = [cells[at] for at in self._positions if at < len(cells)]
        if kept and kept[0] != "":
            return kept
        others = (cell for at, cell in enumerate(cells) if at not in self._positions and cell != "")
        title = next(others, None)
        return kept if title is None else [title, *kept[1:]]

    def _narrowed(self, row: ExportRow) -> ExportRow:
        """The row with the chosen columns alone."""
        if len(row.cells) != self._width:
            raise ValueError(f"{len(row.cells)} cells in a row of {self._width} columns")
        columns = row.columns
        if columns is not None:
            columns = {name: columns[name] for name in self.columns if name in columns}
        cells = [row.cells[at] for at in self._positions or ()]
        return replace(row, cells=cells, extras=[], columns=columns)


def _positions(columns: Sequence[str], chosen: AbstractSet[str]) -> list[int]:
    return [at for at, name in enumerate(columns) if name in chosen]
