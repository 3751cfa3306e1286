"""The HTML of small things that stand on many pages, and many times on some of them."""

from collections.abc import Iterable
from html import escape
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from batchui.batches.models import Batch, Label
from batchui.web.icons import icon
from batchui.web.status_words import Shown
from batchui.web.templatetags.times import lasted, time


def status_mark(shown: Shown, state: str, word: str = "") -> SafeString:
    """A state: its icon and word. state: as scripts and tests know it. word: instead of the usual
    one.
    """
    return mark_safe(  # noqa: S308
        f'<span class="status" data-status="{escape(state)}" data-tone="{shown.tone}">'
        f"{icon(shown.icon)}\n<span>{escape(word or shown.word)}</span></span>"
    )


def bar(value: int | None, most: int, text: str, *, label: str = "", tone: str = "") -> SafeString:
    """A bar with its figure. value: None where it is not known. label: what it shows."""
    at = "" if value is None else f' value="{value}"'
    return mark_safe(  # noqa: S308
        f'<div class="progress" data-tone="{tone}"><progress max="{most or 1}"{at} '
        f'aria-label="{escape(label or text)}"></progress>\n'
        f'<span class="progress-text">{escape(text)}</span></div>'
    )


def took(batch: Batch) -> str:
    """How long a batch took, or has taken so far; "" before Start."""
    if batch.started_at is None:
        return ""
    if batch.finished_at is not None:
        return lasted(batch.duration)
    since = batch.working_since
    return time(since, "elapsed") if since and batch.is_active else ""


def closed_labels(
    pk: UUID, name: str, labels: Iterable[Label], address: str, *, focus: bool = False
) -> SafeString:
    """The labels of a batch, and the button to change them. address: of its labels."""
    here = reverse("batches") if labels else ""
    shown = "".join(
        f'<span class="label"><a href="{here}?label={label.pk}" '
        f'title="All batches with “{escape(label.name)}”">{escape(label.name)}</a></span>\n'
        for label in labels
    )
    return mark_safe(  # noqa: S308
        f'<div class="labels" id="labels-{pk}">{shown}'
        f'<button type="button" class="button quiet small label-edit" id="labels-edit-{pk}" '
        f'title="Labels" aria-label="Labels of “{escape(name)}”" hx-get="{address}?edit" '
        f'hx-target="#labels-{pk}" hx-swap="outerHTML"{" autofocus" if focus else ""}>'
        f"{icon('tag', 14)}</button></div>"
    )
