"""The rows of a page that come once somebody scrolls to them.

A window shows a dozen or two of a page's hundred rows. A first load has those around the row that
it goes to, and a line in place of the others above and below; htmx asks for them where that line
comes into view. Another page of rows, which htmx asks for, has all its rows at once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpRequest

# Rows of a first load: about so many CSS pixels, about so many characters, and always one row. What
# stands around the text of a cell weighs as much as so many.
HEIGHT, MOST_SIGNS, SIGNS_OF_A_CELL = 900, 5_000, 20
# Of a row of one line, and of each further line: a cell shows three of about so many characters.
ROW_HEIGHT, LINE_HEIGHT, MOST_LINES, SIGNS_A_LINE = 36, 20, 3, 50
# So few more are sent at once, too.
FEW = 5
_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)


class Numbered(Protocol):
    """A row: its number, and how many characters each of its cells has."""

    @property
    def number(self) -> int:
        """As a spreadsheet shows it."""

    @property
    def signs(self) -> Sequence[int]:
        """The characters of each cell."""


@dataclass(frozen=True)
class Gap:
    """Rows that are not there yet. side: “above” or “below” those that are.

    height: about that of its rows, in CSS pixels, so that the scroll bar says how many there are.
    """

    side: str
    first: int
    last: int
    height: int

    @property
    def nearest(self) -> int:
        """The number of its row beside those that are there."""
        return self.last if self.side == "above" else self.first


def shown_first(rows: Sequence[Numbered], at: int | None, *, share: float = 1) -> tuple[int, int]:
    """Which rows of a page a first load has, as for a slice.

    Those around number `at`, or the first ones. share: of a window that the rows have.
    """
    start = next((place for place, row in enumerate(rows) if row.number == at), 0)
    end, first, height, signs = start, start, 0, 0
    while end - start < len(rows) and height < share * HEIGHT and signs < MOST_SIGNS:
        goes_up = start > 0 and (end == len(rows) or first - start < end - first)
        start, end = (start - 1, end) if goes_up else (start, end + 1)
        added = rows[start if goes_up else end - 1]
        height, signs = height + _height(added), signs + _signs(added)
    return (0, len(rows)) if len(rows) - (end - start) <= FEW else (start, end)


def _signs(row: Numbered) -> int:
    """How much a row adds to a page: its texts, and what stands around each cell."""
    return sum(row.signs) + SIGNS_OF_A_CELL * len(row.signs)


def _height(row: Numbered) -> int:
    lines = min(MOST_LINES, 1 + max(row.signs, default=0) // SIGNS_A_LINE)
    return ROW_HEIGHT + LINE_HEIGHT * (lines - 1)


def gap(side: str, rows: Sequence[Numbered]) -> Gap | None:
    """The gap in place of these rows; None if there are none."""
    if not rows:
        return None
    return Gap(side, rows[0].number, rows[-1].number, sum(map(_height, rows)))


def gaps_of(request: HttpRequest) -> list[range]:
    """The numbers of the rows that a page has not got, as it asks for them: “?gap=126-200”.

    Its polls say so, too.
    """
    found = filter(None, map(_SPAN.fullmatch, request.GET.getlist("gap")))
    return [range(int(span[1]), int(span[2]) + 1) for span in found]


def is_in(number: int, spans: Iterable[range]) -> bool:
    """Whether a number is in one of these spans."""
    return any(number in span for span in spans)
