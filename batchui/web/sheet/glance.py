"""At a glance: a small picture for each answer column, drawn on the server.

A column with few values has a bar for each, which is a filter; numbers have a histogram with the
ends and the middle; texts have their lengths in words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from batchui.batches.models import Batch
from batchui.batches.sheet.glance import FieldGlance, glance_of
from batchui.batches.sheet.selection import show_value
from batchui.batches.sheet.spread import Bin, Together
from batchui.prompts.answer_columns import KIND_WORDS
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.sheet.columns import answers_are_numbers

# Of a histogram, in units of its SVG.
BARS, WIDTH, HEIGHT, GAP = 16, 192, 48, 2
# A page shows so many columns; each takes a part of one row.
MOST_FIELDS = 12
# Lines of a field; where there are more values, the last one opens them.
VALUES_SHOWN = 4
WORDS = "words"


@dataclass(frozen=True)
class ValueBar:
    """A value with its share. width: of its bar, of 100."""

    text: str
    rows: int
    percent: str
    width: float
    show: str


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, in units of its SVG; and its words for those who cannot see it."""

    x: float
    y: float
    width: float
    height: float
    between: str
    rows: int


@dataclass(frozen=True)
class Picture:
    """An answer column at a glance. unit: of the histogram: "words", or "" for plain numbers."""

    name: str
    kind: str
    rows: int
    values: list[ValueBar]
    more_values: list[ValueBar]
    bars: list[Bar]
    least: str = ""
    middle: str = ""
    most: str = ""
    unit: str = ""

    @property
    def is_one_value(self) -> bool:
        """Whether all rows have the same number: a single bar would say nothing."""
        return bool(self.bars) and self.least == self.most

    @property
    def ends(self) -> str:
        """ "4 to 21 words, 9 in the middle"."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.least} to {self.most}{unit}, {self.middle} in the middle"


@with_batch
def glance(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The pictures of a batch; asked for when its page is there already."""
    found = glance_of(batch)
    are_numbers = answers_are_numbers(batch)
    pictures = [] if are_numbers else [_picture(one) for one in found.fields[:MOST_FIELDS]]
    context = {
        "batch": batch,
        "glance_values": values_expected(batch),
        "are_numbers": are_numbers,
        "pictures": pictures,
        "is_worth_room": has_typed_answers(batch) or any(one.unit != WORDS for one in pictures),
        "is_whole": found.is_whole,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return render(request, "sheet/_glance.html", context)


def values_expected(batch: Batch) -> int:
    """The lines of values that the pictures take at most. A histogram takes VALUES_SHOWN.

    They have this room before they come, so that no row moves under a hand, and keep it.
    """
    wanted = batch.ask.answer_columns
    choices = [len(one.choices) or (2 if one.kind == "yes_no" else VALUES_SHOWN) for one in wanted]
    return min(VALUES_SHOWN, max(choices, default=VALUES_SHOWN))


def has_typed_answers(batch: Batch) -> bool:
    """Whether a column has more than texts: their lengths alone are not worth the room."""
    return any(one.kind != "text" for one in batch.ask.answer_columns)


def _picture(field: FieldGlance) -> Picture:
    values = [
        ValueBar(
            text=one.text or "nothing",
            rows=one.rows,
            percent=percent(one.share),
            width=round(100 * one.share, 1),
            show=show_value(field.field.name, one.text),
        )
        for one in field.values
    ]
    shown = len(values) if len(values) <= VALUES_SHOWN else VALUES_SHOWN - 1
    spread = field.numbers or field.words
    return Picture(
        name=field.field.name,
        kind=KIND_WORDS.get(field.field.kind, ""),  # type: ignore[call-overload]
        rows=field.rows,
        values=values[:shown],
        more_values=values[shown:],
        bars=list(_bars(spread, whole=field.numbers is None)) if spread else [],
        **(_ends(spread) if spread else {}),
        unit=WORDS if field.words else "",
    )


def _ends(spread: Together) -> dict[str, Any]:
    return {
        "least": number(spread.least),
        "middle": number(spread.middle),
        "most": number(spread.most),
    }


def _bars(spread: Together, *, whole: bool) -> Iterator[Bar]:
    """The bars of a histogram. whole: of whole numbers."""
    found = spread.whole_histogram(BARS) if whole else spread.histogram(BARS)
    tallest = max((one.rows for one in found), default=0) or 1
    step = WIDTH / len(found)
    for at, one in enumerate(found):
        height = round(HEIGHT * one.rows / tallest, 1)
        if one.rows:
            height = max(height, 1.0)
        yield Bar(
            x=round(at * step, 1),
            y=round(HEIGHT - height, 1),
            width=round(max(1.0, step - GAP), 1),
            height=height,
            between=_between(one),
            rows=one.rows,
        )


def _between(one: Bin) -> str:
    same = one.start == one.end
    return number(one.start) if same else f"{number(one.start)} to {number(one.end)}"


def percent(share: float) -> str:
    """ "62 %", "0.4 %", "< 0.1 %"."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.01 else f"{100 * share:.0f} %"


def number(value: float) -> str:
    """A number with as many digits as a picture needs: "1,204", "4.5", "0.0031"."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.3g}"
