"""Parses CSV: the rows of a chunk of text, with the place of every fault.

Most chunks have no quotation mark. In them, a row is a line split at the delimiter; this takes a
third of the csv module's time. The csv module parses all other chunks.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from batchui.prompts.problems import (
    LIMITS,
    OR_SKIP,
    VALUE_LIMIT,
    BadInput,
    Problem,
    cell_too_long,
    empty_line,
)
from batchui.prompts.reading.blocks import Block, Cells, Parsed, Sentence, empty_lines, split_lines
from batchui.prompts.reading.decoding import line_breaks
from batchui.prompts.reading.dialects import DELIMITERS, SEPARATOR_LINE, split_sign
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.quotes import LINE, QuoteFault, Walk, bare_line, find_fault


@dataclass
class _Table:
    """Rows as parsed, with empty lines as `[]`.

    faults: position of a row -> number of the cell in which a quotation mark is wrong.
    """

    rows: list[Cells]
    lines: Sequence[int]
    used: int
    next_line: int
    faults: dict[int, int] = field(default_factory=dict)


class CsvParser:
    """The parser for CSV. Cells stay exactly as they are in the file.

    A row with a wrong quotation mark that ends on its own line is a row with a problem: its cells
    are the text between its delimiters, quotation marks and all. Parsing goes on after it.
    """

    def __init__(self, fmt: Format) -> None:
        self._columns = fmt.columns
        self._delimiter = split_sign(fmt.delimiter)
        self._header_row = fmt.header_row
        self._started = False
        self._has_long_rows = False
        csv.field_size_limit(LIMITS.cell)  # of the whole process; only this package sets it

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text` (see `blocks.Parser`), with those above the first row.

        Raises BadInput if a wrong quotation mark or a very long cell makes the rest unreadable.
        """
        skipped = 0
        if not self._started and text:
            self._started = True
            if named := SEPARATOR_LINE.match(text):
                skipped = named.end()
                text, line = text[skipped:], line + 1
        if empty := empty_lines(text, number=number, line=line):
            return empty._replace(used=skipped + empty.used)
        if '"' not in text:
            table = self._split(text, line=line)
        else:
            table = self._parse(text, number=number, line=line, final=final)
        rows = table.rows
        empty_after = 0
        while rows and not rows[-1]:
            rows.pop()
            empty_after += 1
        block = Block(number, table.lines, rows, {})
        if table.faults or list(map(len, rows)).count(len(self._columns)) < len(rows):
            self._judge(block, rows, table.faults)
        if len(text) > LIMITS.cell:
            self._refuse_long_cells(block)
        return Parsed(block, empty_after, skipped + table.used, table.next_line)

    def empty(self) -> tuple[Cells, Sentence | None]:
        """The row for an empty line: an empty cell if there is one column, else a problem."""
        if len(self._columns) == 1:
            return [""], None
        return [], empty_line

    def _split(self, text: str, *, line: int) -> _Table:
        delimiter = self._delimiter
        rows: list[Cells] = [
            text_line.split(delimiter, VALUE_LIMIT) if text_line else []
            for text_line in split_lines(text)
        ]
        end = line + len(rows)
        return _Table(rows, range(line, end), len(text), end)

    def _parse(self, text: str, *, number: int, line: int, final: bool) -> _Table:
        """Parse with the csv module, strictly; go on after a row with a fault on one line."""
        if not self._has_long_rows and (parsed := self._parse_whole(text, line=line)):
            return parsed
        table = _Table([], (), len(text), line)
        rows, ends, walk = table.rows, [0], Walk(text)  # ends: lines up to the end of each row
        reader = csv.reader(_lines(text), delimiter=self._delimiter, strict=True)
        while True:
            try:
                for row in reader:
                    rows.append(row)
                    ends.append(reader.line_num)
                break
            except csv.Error:
                start = walk.offset(ends[-1])
                fault = find_fault(text, start=start, delimiter=self._delimiter)
                fault = fault or QuoteFault("stray", 0, start, start)
                if (
                    fault.kind == "unclosed"
                    and not final
                    and fault.end - fault.start <= LIMITS.cell
                ):
                    table.used = start  # the row goes on in the next chunk
                    break
                if fault.kind != "stray" or reader.line_num > ends[-1] + 1:
                    opened = line + line_breaks(text[: fault.start])
                    closed = line + line_breaks(text[: fault.end])
                    at = number + len(rows)
                    raise self._unreadable(fault, row=at, opened=opened, closed=closed) from None
                table.faults[len(rows)] = fault.cell
                rows.append(bare_line(text, start).split(self._delimiter))
                ends.append(reader.line_num)
        table.next_line = line + ends.pop()
        table.lines = [line + end for end in ends]
        return table

    def _parse_whole(self, text: str, *, line: int) -> _Table | None:
        """The rows, if nothing is wrong and each is one line; in a third of the time."""
        reader = csv.reader(_lines(text), delimiter=self._delimiter, strict=True)
        try:
            rows: list[Cells] = list(reader)
        except csv.Error:
            return None
        if reader.line_num != len(rows):
            # Where one row has several lines, others will.
            self._has_long_rows = True
            return None
        end = line + len(rows)
        return _Table(rows, range(line, end), len(text), end)

    def _refuse_long_cells(self, block: Block) -> None:
        for at, cells in enumerate(block.cells):
            for cell, text in enumerate(cells):
                if len(text) > LIMITS.cell:
                    number, line = block.number + at, block.lines[at]
                    column = self._name(number, cell)
                    raise cell_too_long(row=number, line=line, column=column, in_quotes=True)

    def _judge(self, block: Block, rows: list[Cells], faults: dict[int, int]) -> None:
        """Add the problem of each row that does not fit the header or has a fault."""
        width = len(self._columns)
        for at, cells in enumerate(rows):
            if len(cells) == width and at not in faults:
                continue
            problem: Sentence | None
            # All text is kept, the rest of a line of a million commas as one cell.
            if isinstance(cells, list) and len(cells) > VALUE_LIMIT:
                cells[VALUE_LIMIT:] = [self._delimiter.join(cells[VALUE_LIMIT:])]
            if not cells:
                rows[at], problem = self.empty()
            elif at in faults:
                problem = partial(self._stray, faults[at])
            else:
                problem = self._uneven
            if problem:
                block.problems[at] = problem

    def _uneven(self, row_cells: Cells, row: int, line: int) -> Problem:
        width, cells = len(self._columns), len(row_cells)
        counted = f"{cells:,} cell{'' if cells == 1 else 's'}"
        if cells > VALUE_LIMIT:
            counted = f"more than {VALUE_LIMIT:,} cells"
        header = f"{width:,} column{'' if width == 1 else 's'}"
        others = "the header has" if self._header_row else "other rows have"
        uneven = f"{counted} where {others} {header}."
        if cells < width:
            what = f"the cell is missing. The row has {uneven} Add what is missing{OR_SKIP}"
            return Problem(what, row=row, line=line, column=self._columns[cells])
        what = (
            f"{uneven} If the text of a cell contains a {DELIMITERS[self._delimiter]}, put the "
            f"cell in quotation marks{OR_SKIP}"
        )
        return Problem(what, row=row, line=line)

    def _stray(self, cell: int, _cells: Cells, row: int, line: int) -> Problem:
        return Problem(
            "text follows the quotation mark that closes the cell. Double the quotation marks "
            f'inside the text (""){OR_SKIP}',
            row=row,
            line=line,
            column=self._name(row, cell),
        )

    def _unreadable(self, fault: QuoteFault, *, row: int, opened: int, closed: int) -> BadInput:
        column = self._name(row, fault.cell)
        if fault.kind == "long":
            return cell_too_long(row=row, line=opened, column=column, in_quotes=True)
        if fault.kind == "unclosed":
            what = "a quotation mark opens the cell here and nothing closes it"
        else:
            what = (
                f"a quotation mark opens the cell here, and the one that closes it, in line "
                f"{closed:,}, has text after it"
            )
        return BadInput.at(
            f"{what}. Close the cell where it ends, and write a quotation mark that "
            'belongs to the text as two ("").',
            row=row,
            line=opened,
            column=column,
        )

    def _name(self, row: int, cell: int) -> str | None:
        """The column of a cell, unless it is above the rows."""
        named = row > self._header_row and cell < len(self._columns)
        return self._columns[cell] if named else None


def _lines(text: str) -> Iterable[str]:
    """The lines of a text, with their ends. StringIO is quick, and takes four bytes a character."""
    if len(text) <= LIMITS.cell:
        return io.StringIO(text, newline="")
    return (line[0] for line in LINE.finditer(text))
