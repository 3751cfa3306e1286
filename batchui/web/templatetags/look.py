"""Icons, and how a status of a batch, a part or a row looks: a word and an icon.

The colour follows from `data-status` in the style sheet.
"""

from functools import lru_cache

import lucide
from django import template
from django.utils.safestring import SafeString, mark_safe

from batchui.batches.phrases import status_word

register = template.Library()


# The icons of the statuses; names in the lucide set.
_ICONS = {
    # Batches
    "checking": "file-search",
    "draft": "pencil-line",
    "preparing": "scissors",
    "queued": "clock",
    "running": "play",
    "attention": "triangle-alert",
    "finished": "circle-check",
    "finished with problems": "circle-alert",
    "failed": "circle-x",
    "stopping": "hand",
    "stopped": "square",
    # Parts
    "ready": "circle-dashed",
    "sending": "send",
    "held": "circle-pause",
    "unsure": "circle-question-mark",
    "done": "check",
    # Rows
    "answered": "check",
    "empty": "circle-dashed",
    "missing": "circle-question-mark",
    "unsent": "circle-minus",
    "invalid": "ban",
    # A row that is still on its way
    "": "clock",
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


register.filter("status_word", status_word)


@register.filter
def status_icon(status: str | None) -> str:
    return _ICONS.get(str(status or ""), "circle")
