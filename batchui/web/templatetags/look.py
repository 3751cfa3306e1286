"""Icons; and the word and icon of each status of a batch, a part or a row.

The style sheet gives it a colour, by `data-status`.
"""

from functools import lru_cache
from typing import NamedTuple

import lucide
from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


class Look(NamedTuple):
    """The word and the icon of a status."""

    word: str
    icon: str  # a name in the lucide set


_LOOKS = {
    # Batches
    "checking": Look("Reading", "file-search"),
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
    "held": Look("On hold", "circle-pause"),
    "unsure": Look("Unsure", "circle-question-mark"),
    "done": Look("Done", "check"),
    # Rows
    "answered": Look("Answered", "check"),
    "empty": Look("Empty", "circle-dashed"),
    "missing": Look("Missing", "circle-question-mark"),
    "unsent": Look("Unsent", "circle-minus"),
    "invalid": Look("Invalid", "ban"),
    # A row without an end yet
    "": Look("Waiting", "clock"),
}


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """A lucide icon. It is hidden from screen readers, because its word is always beside it."""
    svg = lucide._render_icon(name + "", size, aria_hidden="true")
    return mark_safe(svg)  # noqa: S308 (from the package, not from a person)


@register.filter
def status_word(status: str | None) -> str:
    """The word for a status; the status itself if it has none here."""
    look = _LOOKS.get(str(status or ""))
    return look.word if look else str(status).capitalize()


@register.filter
def status_icon(status: str | None) -> str:
    """The name of the icon for a status."""
    look = _LOOKS.get(str(status or ""))
    return look.icon if look else "circle"
