"""What is known about the columns of an export before it is written."""

from collections.abc import Sequence

from batchui.exports.column_kinds import Column, Kind
from batchui.exports.rows import Cell, column_texts
from batchui.exports.table import Layout, Table

_numbers = (Kind.INTEGER, Kind.NUMBER)


class Shape:
    """The columns of the file, answer, status and error, as far as rows were shown (`note`).

    layout: the columns of the file and their names. names, header, columns: the unique name of each
    column, those of answer, status and error too, its cell in the header, and what is known about
    it. rows: how many. extras: the most cells that a row has beyond the columns.
    """

    def __init__(self, table: Table, layout: Layout) -> None:
        self.layout = layout
        self.names = [*layout.columns, *layout.added]
        self.header = [*layout.header, *layout.added]
        untyped = table.of_texts or not table.typed
        self.columns = [Column(untyped=untyped) for _ in layout.columns]
        self.columns += [Column(untyped=False) for _ in layout.fields]
        if layout.has_whole:
            self.columns.append(Column(untyped=True, lists=True))
        self.columns += [Column(untyped=False) for _ in ("status", "error")]
        self.rows = 0
        self.extras = 0

    @property
    def number_columns(self) -> set[int]:
        """The positions of the columns that are numbers, where their cells may be texts."""
        return {at for at, column in enumerate(self.columns) if column.kind in _numbers}

    def note(
        self, columns: Sequence[Sequence[Cell]], extras: Sequence[Sequence[Cell]]
    ) -> list[Sequence[str]]:
        """Take rows into account. Returns the texts of the columns.

        columns: their cells. extras: of each row, those beyond them.
        """
        self.rows += len(extras)
        self.extras = max(self.extras, *map(len, extras))
        texts = list(map(column_texts, columns))
        for column, cells, shown in zip(self.columns, columns, texts, strict=True):
            column.note(cells, shown)
        return texts
