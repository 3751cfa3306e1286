"""Keeps cells from running as formulas, whether a file is read with commas, semicolons or tabs.

An Excel whose list separator is a semicolon (German, French, Portuguese …) also splits a file with
commas at semicolons, and at line breaks: to it, a quotation mark counts only where a cell begins.
So a formula may begin at the start of a cell, and within one after a separator or a line break.
No country's settings have another separator, and holding formulas off after `|`, `:` or a blank
would change ordinary text (`a = b`, `:-)`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# What begins a formula: the ASCII characters, and their full-width forms (East Asian input).
SIGNS = "=+-@＝＋－＠"
# Spreadsheets skip these where a cell begins.
BLANKS = "\t\r\n"
SEPARATORS = "\n\r;\t,"
FORMULA_STARTS = (*SIGNS, *BLANKS)
_number = r"[+-][0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?%?"
NUMBER = re.compile(_number)
# A sign after a separator, also with quotation marks between; but not a number that ends at the
# same separator, with the line, or with the list of JSON that it is in.
_inner = re.compile(
    rf'([{SEPARATORS}])("*)(?=[{re.escape(SIGNS)}])(?!{_number}(?:\1|[\n\r\]}}]))',
)
# What makes a formula of `-5` and the cell after it: `-5,5+cmd|…` or `-5<tab>*cmd|…`.
_goes_on = re.compile(r"\s*(?:[*/^&<>%:!(]|[0-9.,][^(|!\[]*[(|!\[])")
_marks = tuple('"' + SEPARATORS)
# Put between the cells of a column for the search. If a cell has one too, only time is lost.
_BETWEEN = "\0"
_formula_behind = re.compile(f"{_BETWEEN}[{re.escape(''.join(FORMULA_STARTS))}]").search


@dataclass
class Changed:
    """How many cells of a file were changed so that they do not run as formulas."""

    cells: int = 0


def inert(texts: Sequence[str]) -> Sequence[str]:
    """The cells of a column, none of which runs as a formula; the same object if none would.

    A cell that begins like a formula gets an apostrophe before it, unless it is a number. Within a
    cell, so does each place where another separator would begin one; before a minus a blank does,
    because lists have it (`- item`).
    """
    joined = _BETWEEN.join(texts)
    if joined.startswith(FORMULA_STARTS) or _formula_behind(joined):
        texts = [_without_start(text) for text in texts]
    if _may_have_inner(joined):
        texts = [_inner.sub(_hold_off, text) for text in texts]
    return texts


def numbers_that_go_on(columns: Sequence[Sequence[str]]) -> list[int]:
    """The rows whose first cell is a number with a sign that the next cell makes a formula.

    Read with another separator, both are one cell. columns: the texts of each column, at least one.
    """
    return [
        at
        for at, text in enumerate(columns[0])
        if text.startswith(("+", "-")) and NUMBER.fullmatch(text) and _is_continued(columns, at)
    ]


def _is_continued(columns: Sequence[Sequence[str]], row: int) -> bool:
    """Whether the next cell of a row that is not empty makes a formula of a number in its first."""
    for column in columns[1:]:
        if cell := column[row]:
            return _goes_on.match(cell) is not None
    return False


def _without_start(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text) else text


def _hold_off(found: re.Match[str]) -> str:
    is_minus = found.string.startswith("-", found.end())
    return f"{found[0]} " if is_minus else f"{found[0]}'"


def _may_have_inner(joined: str) -> bool:
    """Whether a sign stands behind a separator somewhere. Three times as fast as a pattern."""
    return any(
        mark + sign in joined
        for sign in SIGNS
        if sign in joined
        for mark in _marks
        if mark in joined
    )
