"""Icons, and how a status of a batch, a part or a row looks: a word and an icon.

The colour follows from `data-status` in the style sheet.
"""

from functools import lru_cache

from django import template
from lucide.templatetags.lucide import lucide

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
def icon(name: str, size: int = 16) -> str:
    """A lucide icon, hidden from screen readers: it always stands beside its word."""
    return lucide(name, size=size, aria_hidden="true")


@register.filter
def kind_icon(kind: str) -> str:
    """The icon for a kind of download."""
    return {"csv": "file-spreadsheet", "csv-plain": "file-text"}.get(kind, "braces")


register.filter("status_word", status_word)


@register.filter
def status_icon(status: str | None) -> str:
    return _ICONS.get(str(status or ""), "circle")
