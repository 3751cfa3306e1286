"""The parts of a batch: a table of them, and what happened to each."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest

from batchui.batches.costs import charged_twice
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import REPLY_IS_GONE, part_numbers
from batchui.batches.states import PartStatus
from batchui.web.damaged_files import without_path
from batchui.web.holds import what_holds
from batchui.web.sheet.strip import parts_in_state, states_of
from batchui.web.status_words import SEGMENTS

PARTS_PAGE = 24
# Lines about one part, the latest.
EVENTS_SHOWN = 40


def parts_context(request: HttpRequest, batch: Batch) -> dict[str, Any]:
    """One page of the table. `?parts=`: its number. `?part=`: the part that it must have.

    `?state=`: only parts in this state, as the strip shows it.
    """
    states = states_of(batch)
    state = request.GET.get("state", "")
    state = state if state in states else ""
    parts = (parts_in_state(batch, state) if state else batch.parts.all()).order_by("number")
    wanted = request.GET.get("part", "")
    at = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 10 else 0
    is_here = 0 < at <= batch.part_count and not state
    page = (at - 1) // PARTS_PAGE + 1 if is_here else request.GET.get("parts")
    shown = Paginator(parts, PARTS_PAGE).get_page(page)
    twice = charged_twice(parts.filter(pk__in=[part.pk for part in shown]))
    return {
        "batch": batch,
        "parts": shown,
        "at_part": at,
        "state": state,
        "states": [(one, SEGMENTS[one], count) for one, count in states.items()],
        "notes": _notes(batch, shown),
        "twice": set(twice.values_list("number", flat=True)),
    }


def _notes(batch: Batch, parts: Iterable[Part]) -> list[tuple[str, str]]:
    """What is said of these parts beside their status: “Parts 1 to 7 and 9”, and the sentence.

    A question says more than this of a part that it asks about, and the page says above why the
    batch is on hold.
    """
    hold = what_holds(batch) if batch.is_active else None
    numbers: dict[str, list[int]] = {}
    for part in parts:
        said = part.message and part.status != PartStatus.UNSURE
        if said and not (hold and part.message == hold.message):
            numbers.setdefault(without_path(part.message), []).append(part.number)
    return [(part_numbers(of_these), sentence) for sentence, of_these in numbers.items()]


def part_context(batch: Batch, number: int) -> dict[str, Any]:
    """The technical details of a part. Raises Http404 if there is none with this number."""
    part = batch.parts.filter(number=number).first()
    if part is None:
        raise Http404(f"This batch has no part {number:,}.")
    events = batch.events.filter(part_number=number).select_related("actor")[:EVENTS_SHOWN]
    return {
        "batch": batch,
        "part": part,
        "attempts": part.attempts.all(),
        "reply_is_gone": REPLY_IS_GONE,
        "events": list(reversed(events)),
    }
