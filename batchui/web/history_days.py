"""The rows and the spending of a team in the last days: two small pictures above the history."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.dateformat import format as format_date
from django_htmx.http import reswap

from batchui.batches.money import amount
from batchui.batches.phrases import counted
from batchui.batches.spending import DAYS, Day, last_days
from batchui.web.members import MemberRequest, member_required

# In units of the SVG.
BAR, GAP, HEIGHT = 6, 2, 32
# The lowest bar of a day on which there was something.
LOWEST = 2
NOT_KNOWN = "not known"


class Bar(NamedTuple):
    """A day in a picture; label: for whoever points at it."""

    x: float
    y: float
    height: float
    label: str


class Picture(NamedTuple):
    """One figure of each day. total: of all days, in words."""

    name: str
    total: str
    bars: list[Bar]


@member_required
def days(request: MemberRequest) -> HttpResponse:
    """The last days of the team; nothing to see if it had nothing answered."""
    found = last_days(request.team)
    rows = [day.rows for day in found]
    spent = [day.usd for day in found]
    known = [usd or 0.0 for usd in spent]
    is_known = None not in spent
    total = amount(sum(known)) if is_known else f"{amount(sum(known))}, and more {NOT_KNOWN}"
    context = {
        "pictures": [
            _picture("Rows answered", intcomma(sum(rows)), found, rows, map(_rows, found)),
            _picture("Spent", total, found, known, map(_usd, found)),
        ],
        "table": [(_date(day), _rows(day), _usd(day)) for day in found if day.batches],
        "days": DAYS,
        "width": DAYS * (BAR + GAP) - GAP,
        "bar": BAR,
        "height": HEIGHT,
    }
    response = render(request, "batches/_days.html", context)
    # With nothing yet it stays away until the page is loaded: what is below must not jump.
    return response if context["table"] else reswap(response, "outerHTML")


def _picture(
    name: str, total: str, days: Sequence[Day], figures: Sequence[float], words: "map[str]"
) -> Picture:
    most = max(figures) or 1
    bars = []
    for number, (day, figure, said) in enumerate(zip(days, figures, words, strict=True)):
        height = max(LOWEST, round(HEIGHT * figure / most, 2)) if figure else 0
        label = f"{_date(day)}: {said}"
        bars.append(Bar(number * (BAR + GAP), HEIGHT - height, height, label))
    return Picture(name, total, bars)


def _rows(day: Day) -> str:
    return counted(day.rows, "row")


def _usd(day: Day) -> str:
    return NOT_KNOWN if day.usd is None else amount(day.usd)


def _date(day: Day) -> str:
    return format_date(day.day, "j M")
