"""Icons, and how a status of a batch, a part or a row looks: a word and an icon.

The colour follows from `data-status` in the style sheet.
"""

from functools import lru_cache
from typing import NamedTuple

import lucide
from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


class Look(NamedTuple):
    word: str
    icon: str  # a name in the lucide set


_LOOKS = {
    # Batches
    "checking": Look("Checking", "file-search"),
    "draft": Look("Draft", "pencil-line"),
    "preparing": Look("Preparing", "scissors"),
    "queued": Look("Queued", "clock"),
    "running": Look("Running", "play"),
    "attention": Look("Needs attention", "triangle-alert"),
    "finished": Look("Finished", "circle-check"),
    "finished with problems": Look("Finished with problems", "circle-alert"),
    "failed": Look("Failed", "circle-x"),
    "stopping": Look("Stopping", "hand"),
    "stopped": Look("Stopped", "square"),
    # Parts
    "ready": Look("Ready", "circle-dashed"),
    "sending": Look("Sending", "send"),
    "held": Look("Held", "circle-pause"),
    "unsure": Look("Unsure", "circle-question-mark"),
    "done": Look("Done", "check"),
    # Rows
    "answered": Look("Answered", "check"),
    "empty": Look("Empty", "circle-dashed"),
    "missing": Look("Missing", "circle-question-mark"),
    "unsent": Look("Unsent", "circle-minus"),
    "invalid": Look("Invalid", "ban"),
    # A row that is still on its way
    "": Look("Waiting", "clock"),
}


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """A lucide icon, hidden from screen readers: it always stands beside its word."""
    svg = lucide._render_icon(name + "", size, aria_hidden="true")
    return mark_safe(svg)  # noqa: S308 (from the package, not from a person)


@register.filter
def kind_icon(kind: str) -> str:
    """The icon for a kind of download."""
    return {"csv": "file-spreadsheet", "csv-plain": "file-text"}.get(kind, "braces")


@register.filter
def status_word(status: str | None) -> str:
    """The word for a status; one without a look of its own is shown as it is."""
    look = _LOOKS.get(str(status or ""))
    return look.word if look else str(status).capitalize()


@register.filter
def status_icon(status: str | None) -> str:
    look = _LOOKS.get(str(status or ""))
    return look.icon if look else "circle"
