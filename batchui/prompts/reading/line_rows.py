"""Parses TXT (one prompt on each line) and JSONL (one object on each line)."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec

from batchui.prompts.problems import (
    LIMITS,
    OR_SKIP,
    VALUE_LIMIT,
    Problem,
    cell_too_long,
    empty_line,
)
from batchui.prompts.reading.blocks import Block, Cells, Parsed, Sentence, empty_lines, split_lines
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.rows import flat

# Numbers with a fraction stay as they are written: 1.10 must not come back as 1.1.
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode
# A JSON string, closed or not. It always matches to an end, so a search takes linear time.
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)')


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
        if len(text) > LIMITS.cell:
            for at, prompt in enumerate(lines):
                if len(prompt) > LIMITS.cell:
                    raise cell_too_long(row=number + at, line=line + at)
        problems: dict[int, Sentence] = {}
        if "" in lines:
            for at, prompt in enumerate(lines):
                if not prompt:
                    problems[at] = empty_line
        cells: list[Cells] = [[prompt] for prompt in lines]
        block = Block(number, range(line, line + len(lines)), cells, problems)
        return Parsed(block, empty_after, len(text), next_line)

    def empty(self) -> tuple[Cells, Sentence | None]:
        """The row for an empty line, with its problem."""
        return [""], empty_line


class JsonlParser:
    """The parser for JSONL: every line is an object, and its keys are columns.

    A line that is not an object is a row with a problem. Its text is a cell beyond the header.
    """

    def __init__(self, fmt: Format) -> None:
        self._blanks = [""] * len(fmt.columns)
        self._flattens = fmt.nested == "columns"

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text` (see `blocks.Parser`). Raises BadInput for a cell that is too long."""
        if empty := empty_lines(text, number=number, line=line):
            return empty
        lines = split_lines(text)
        next_line = line + len(lines)
        empty_after = _pop_empty(lines)
        problems: dict[int, Sentence] = {}
        cells = _decoded(lines)
        if cells is None:
            cells = []
            for at, text_line in enumerate(lines):
                made, problem = self._row(text_line)
                cells.append(made)
                if problem:
                    problems[at] = problem
        if len(text) > LIMITS.cell:
            for at, made in enumerate(cells):
                _refuse_long_values(made, row=number + at, line=line + at)
        if self._flattens:
            cells = [flat(made) if isinstance(made, dict) else made for made in cells]
        block = Block(number, range(line, line + len(lines)), cells, problems)
        return Parsed(block, empty_after, len(text), next_line)

    def empty(self) -> tuple[Cells, Sentence | None]:
        """The row for an empty line, with its problem."""
        return list(self._blanks), empty_line

    def _row(self, text: str) -> tuple[Cells, Sentence | None]:
        if not text.strip():
            return [*self._blanks, text] if text else list(self._blanks), empty_line
        if _has_many_values(text):
            return [*self._blanks, text], _too_many
        try:
            return _decode(text), None
        except (ValueError, ArithmeticError, RecursionError):
            return [*self._blanks, text], _no_object


def _no_object(cells: Sequence[str], row: int, line: int) -> Problem:
    """The sentence about a line, in the last of the cells, that is not a JSON object."""
    reason = "its lists and objects are nested too deeply"
    try:
        _decode(cells[-1])
    except RecursionError:
        pass
    except ArithmeticError:
        reason = "it contains a number that is too large"
    except ValueError as exc:
        reason = str(exc)
    what = f"this line is not a JSON object ({reason}). Correct it{OR_SKIP}"
    return Problem(what, row=row, line=line)


def _too_many(_cells: object, row: int, line: int) -> Problem:
    what = (
        f"this object has more than {VALUE_LIMIT:,} values, too many for one row. Shorten its "
        f"lists{OR_SKIP}"
    )
    return Problem(what, row=row, line=line)


def _decoded(lines: Sequence[str]) -> list[Cells] | None:
    """The objects of these lines; None if there is a line without one, or with a very large one."""
    if max(map(len, lines)) > VALUE_LIMIT and any(map(_has_many_values, lines)):
        return None
    try:
        return list(map(_decode, lines))
    except (ValueError, ArithmeticError, RecursionError):
        return None


def _has_many_values(text: str) -> bool:
    """Whether a line of JSON has more than VALUE_LIMIT values. They are not made to find out."""
    if len(text) <= VALUE_LIMIT:  # each takes a character at least
        return False
    return _values(text) > VALUE_LIMIT and _values(STRING.sub("", text)) > VALUE_LIMIT


def _values(text: str) -> int:
    """How many values a line of JSON has, with lists and objects; with strings in it, at most."""
    filled = sum(map(text.count, "[{")) - sum(map(text.count, ("[]", "{}")))
    return 1 + filled + text.count(",")


def _refuse_long_values(cells: Cells, *, row: int, line: int) -> None:
    named = cells.items() if isinstance(cells, dict) else ((None, text) for text in cells)
    for column, value in named:
        if isinstance(value, str) and len(value) > LIMITS.cell:
            raise cell_too_long(row=row, line=line, column=column)


def _pop_empty(lines: list[str]) -> int:
    """Remove the empty lines at the end. Returns how many there were."""
    before = len(lines)
    while lines and not lines[-1]:
        lines.pop()
    return before - len(lines)
