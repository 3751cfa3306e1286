"""Parses a table: a line of JSON for each row of a sheet, with typed cells (see `rows.shown_text`).

Such a file is made of a workbook or of Parquet (see `conversion`), never uploaded.
"""

from decimal import Decimal

import msgspec

from batchui.prompts.problems import LIMITS, cell_too_long, empty_row
from batchui.prompts.reading.blocks import Block, Cells, Parsed, Sentence
from batchui.prompts.reading.format import Format

# Numbers with a fraction stay as they are written: 1.10 must not come back as 1.1.
_decode_lines = msgspec.json.Decoder(list, float_hook=Decimal).decode_lines


class TableParser:
    """The parser for a table. A row gets the blank cells at its end that the file leaves out."""

    def __init__(self, fmt: Format) -> None:
        self._columns, self._header_row = fmt.columns, fmt.header_row
        self._blanks = [""] * len(fmt.columns)

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text` (see `blocks.Parser`). Raises BadInput for a cell that is too long."""
        cells: list[Cells] = list(_decode_lines(text))
        next_line = line + len(cells)
        empty_after = 0
        while cells and not cells[-1]:
            cells.pop()
            empty_after += 1
        blanks, width = self._blanks, len(self._blanks)
        problems: dict[int, Sentence] = {}
        if min(map(len, cells), default=width) < width:
            for at, row in enumerate(cells):
                if len(row) < width:
                    if not row:
                        problems[at] = empty_row
                    cells[at] = [*row, *blanks[len(row) :]]
        block = Block(number, range(line, line + len(cells)), cells, problems)
        if len(text) > LIMITS.cell:
            self._refuse_long_cells(block)
        return Parsed(block, empty_after, len(text), next_line)

    def empty(self) -> tuple[Cells, Sentence | None]:
        """The cells of a blank row, with its problem."""
        return list(self._blanks), empty_row

    def _refuse_long_cells(self, block: Block) -> None:
        for number, cells in enumerate(block.cells, block.number):
            for at, cell in enumerate(cells):
                if type(cell) is str and len(cell) > LIMITS.cell:
                    is_named = number > self._header_row and at < len(self._columns)
                    column = self._columns[at] if is_named else None
                    raise cell_too_long(row=number, line=number, column=column)
