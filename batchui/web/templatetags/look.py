"""Icons; and how people see the state of a batch, a part or a row."""

from django import template
from django.contrib.messages.storage.base import Message
from django.template import Context
from django.urls import reverse
from django.utils.safestring import SafeString

from batchui.batches.models import Batch, Part
from batchui.batches.phrases import size_phrase
from batchui.web import marks, status_words
from batchui.web.deleted import UNDO
from batchui.web.holds import Holds
from batchui.web.icons import icon
from batchui.web.status_words import Shown

register = template.Library()


register.simple_tag(icon)
register.simple_tag(marks.status_mark)
register.simple_tag(marks.took)

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


@register.simple_tag(takes_context=True)
def shown_as(context: Context, thing: Batch | Part | str | None) -> Shown:
    """How people see a batch, a part, or the state of a row (see `status_words.py`).

    `holds`, where the page has it, says which batches are paused (see `holds.py`).
    """
    holds: Holds = context.get("holds") or {}
    return status_words.of(thing, holds.get(thing.pk) if isinstance(thing, Batch) else None)


@register.simple_tag
def closed_labels(batch: Batch, focus: object = None) -> SafeString:
    """The labels of a batch, and the button to change them. focus: whether it gets the focus."""
    address = reverse("batch_labels", args=[batch.pk])
    labels = list(batch.labels.all())
    return marks.closed_labels(batch.pk, batch.name, labels, address, focus=bool(focus))


@register.filter
def to_undo(message: Message) -> str:
    """The address that undoes what a message says (see `web/deleted.py`); "": there is none."""
    tag = message.extra_tags or ""
    return tag.removeprefix(UNDO) if tag.startswith(UNDO) else ""


register.filter("size_phrase", size_phrase)


@register.filter
def raw_status(thing: Batch | Part | str | None) -> str:
    """The state itself, for scripts and tests."""
    return thing.status if isinstance(thing, Batch | Part) else str(thing or "")
