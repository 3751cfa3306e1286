"""Icons; and the word and icon of each status of a batch, a part or a row.

The style sheet gives it a colour, by `data-status`.
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
    # A row without an end yet
    "": "clock",
}


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> str:
    """A lucide icon. It is hidden from screen readers, because its word is always beside it."""
    return lucide(name, size=size, aria_hidden="true")


KIND_ICONS = {
    "csv-plain": "file-text",
    "json": "braces",
    "jsonl": "braces",
    "parquet": "table-2",
}


@register.filter
def kind_icon(kind: str) -> str:
    """The icon for a kind of download."""
    return KIND_ICONS.get(kind, "file-spreadsheet")


register.filter("status_word", status_word)


@register.filter
def status_icon(status: str | None) -> str:
    """The name of the icon for a status."""
    return _ICONS.get(str(status or ""), "circle")
