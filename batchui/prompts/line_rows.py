"""Parses TXT (one prompt on each line) and JSONL (one object on each line)."""

from decimal import Decimal
from typing import Any

import msgspec

from batchui.prompts.blocks import Block, Cells, Parsed, empty_lines, split_lines
from batchui.prompts.problems import CELL_LIMIT, cell_too_long, empty_line, place
from batchui.prompts.sniffing import Format

# Numbers with a fraction stay as they are written: 1.10 must not come back as 1.1.
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


class TxtParser:
    """The parser for TXT: every line is a prompt, exactly as it is."""

    def __init__(self, fmt: Format) -> None:
        pass

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text` (see `blocks.Parser`). Raises BadInput for a cell that is too long."""
        if empty := empty_lines(text, number=number, line=line):
            return empty
        lines = split_lines(text)
        next_line = line + len(lines)
        empty_after = _pop_empty(lines)
        if len(text) > CELL_LIMIT:
            for at, prompt in enumerate(lines):
                if len(prompt) > CELL_LIMIT:
                    raise cell_too_long(row=number + at, line=line + at)
        problems = {}
        if "" in lines:
            for at, prompt in enumerate(lines):
                if not prompt:
                    problems[at] = empty_line(row=number + at, line=line + at)
        cells: list[Cells] = [[prompt] for prompt in lines]
        block = Block(number, range(line, line + len(lines)), cells, problems)
        return Parsed(block, empty_after, len(text), next_line)

    def empty(self, *, number: int, line: int) -> tuple[Cells, str | None]:
        """The row for an empty line, with its problem."""
        return [""], empty_line(row=number, line=line)


class JsonlParser:
    """The parser for JSONL: every line is an object, and its keys are columns.

    A line that is not an object is a row with a problem. Its text is a cell beyond the header.
    """

    def __init__(self, fmt: Format) -> None:
        self._blanks = [""] * len(fmt.columns)

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text` (see `blocks.Parser`). Raises BadInput for a cell that is too long."""
        if empty := empty_lines(text, number=number, line=line):
            return empty
        lines = split_lines(text)
        next_line = line + len(lines)
        empty_after = _pop_empty(lines)
        problems: dict[int, str] = {}
        try:
            cells: list[Cells] = list(map(_decode, lines))
        except (ValueError, ArithmeticError, RecursionError):
            cells = []
            for at, text_line in enumerate(lines):
                made, problem = self._row(text_line, number=number + at, line=line + at)
                cells.append(made)
                if problem:
                    problems[at] = problem
        if len(text) > CELL_LIMIT:
            for at, made in enumerate(cells):
                _refuse_long_values(made, row=number + at, line=line + at)
        block = Block(number, range(line, line + len(lines)), cells, problems)
        return Parsed(block, empty_after, len(text), next_line)

    def empty(self, *, number: int, line: int) -> tuple[Cells, str | None]:
        """The row for an empty line, with its problem."""
        return list(self._blanks), empty_line(row=number, line=line)

    def _row(self, text: str, *, number: int, line: int) -> tuple[Cells, str | None]:
        if not text.strip():
            cells = [*self._blanks, text] if text else self._blanks
            return list(cells), empty_line(row=number, line=line)
        try:
            return _decode(text), None
        except RecursionError:
            reason = "its lists and objects are nested too deeply"
        except ArithmeticError:
            reason = "it contains a number that is too large"
        except ValueError as exc:
            reason = str(exc)
        return [*self._blanks, text], (
            f"{place(row=number, line=line)}: this line is not a JSON object ({reason}). Correct "
            "it, or skip the row."
        )


def _refuse_long_values(cells: Cells, *, row: int, line: int) -> None:
    named = cells.items() if isinstance(cells, dict) else ((None, text) for text in cells)
    for column, value in named:
        if isinstance(value, str) and len(value) > CELL_LIMIT:
            raise cell_too_long(row=row, line=line, column=column)


def _pop_empty(lines: list[str]) -> int:
    """Remove the empty lines at the end. Returns how many there were."""
    before = len(lines)
    while lines and not lines[-1]:
        lines.pop()
    return before - len(lines)
