"""The filters above the grid: one for each kind of rows that there are, with how many.

What else is chosen (a reason, a value, words) stands beside them, and can be taken away.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from batchui.batches.models import Batch
from batchui.batches.sheet import selection
from batchui.batches.sheet.glance import reason_with
from batchui.batches.sheet.reasons import in_words
from batchui.batches.states import AnswerStatus
from batchui.web import status_words
from batchui.web.sheet.view import SheetView


@dataclass(frozen=True)
class Chip:
    """A filter: the text of `?show=`, its word, and how many rows it shows."""

    show: str
    word: str
    count: int
    tone: str = ""

    @property
    def id(self) -> str:
        """Of the element with its count."""
        return {"": "rows", "attention": "problems"}.get(self.show, self.show)


@dataclass(frozen=True)
class Chosen:
    """Something else that is chosen: its words, and what of the view goes with it."""

    words: str
    without: dict[str, str]

    @property
    def name(self) -> str:
        """Which field of the view it is."""
        return next(iter(self.without))


def chips_of(batch: Batch) -> list[Chip]:
    """The filters by status. All and Answered are always there, the others if they show rows."""
    return list(_chips(batch))


def _chips(batch: Batch) -> Iterator[Chip]:
    yield Chip("", "All", batch.rows)
    yield Chip("answered", status_words.of_state("answered").word, batch.answered, "good")
    waiting = batch.waiting
    if waiting:
        yield Chip(selection.WAITING, "Waiting", waiting, "working")
    kinds = [one for one in _kinds(batch) if one.count]
    problems = [one for one in kinds if one.show in selection.ATTENTION]
    if len(problems) == 1:  # it is all that needs attention
        kinds.remove(problems[0])
        yield replace(problems[0], show="attention")
    elif problems:
        yield Chip("attention", "Problems", problem_count(batch), "caution")
    yield from kinds
    if batch.cut:
        yield Chip(selection.CUT, "Cut off", batch.cut, "caution")
    if batch.edited:
        yield Chip(selection.EDITED, "Edited", batch.edited)


def _kinds(batch: Batch) -> Iterator[Chip]:
    for status in AnswerStatus:
        if status != AnswerStatus.ANSWERED:
            shown = status_words.of_state(status)
            yield Chip(status.value, shown.word, getattr(batch, status.value), shown.tone)


def problem_count(batch: Batch) -> int:
    """How many rows have no answer that can be used."""
    return sum(getattr(batch, status) for status in selection.ATTENTION)


def attention_count(batch: Batch) -> int:
    """How many rows need attention: those, and rows whose answers were cut off."""
    return problem_count(batch) + batch.cut


def chips_context(batch: Batch, view: SheetView) -> dict[str, Any]:
    """What the filters above the grid need."""
    chips = chips_of(batch)
    chosen = list(_chosen(batch, view))
    return {"chips": chips, "chosen": chosen, "searched_in": _searched_in(view, chips, chosen)}


def _searched_in(view: SheetView, chips: list[Chip], chosen: list[Chosen]) -> str:
    """The filter that leaves rows out of a search; "" if all are searched."""
    if not view.q or not view.show:
        return ""
    words = [one.words for one in chosen if one.name == "show"]
    words += [chip.word for chip in chips if chip.show == view.show]
    words += [status_words.of_state(one).word for one in AnswerStatus if one == view.show]
    return words[0] if words else view.show


def _chosen(batch: Batch, view: SheetView) -> Iterator[Chosen]:
    chosen = view.selection
    if chosen.reason:
        yield Chosen(_reason_words(batch, chosen.reason), {"show": ""})
    elif chosen.value is not None:
        yield Chosen(f"{chosen.column}: {chosen.value or 'nothing'}", {"show": ""})
    if chosen.words:
        yield Chosen(f"“{chosen.words}”", {"q": ""})


def _reason_words(batch: Batch, key: str) -> str:
    reason = reason_with(batch, key)
    return in_words(reason) if reason else "one reason"
