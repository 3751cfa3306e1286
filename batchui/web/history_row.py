"""The HTML of a line of the history.

A page has up to 75 of them. Made by templates, they took half of its time.
"""

from collections.abc import Callable, Iterable
from html import escape
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from batchui.batches.models import Batch
from batchui.batches.states import BEING_READ
from batchui.web import status_words
from batchui.web.history_lines import Line
from batchui.web.holds import Holds
from batchui.web.marks import bar, closed_labels, status_mark, took
from batchui.web.templatetags.batches import (
    cost_in_history,
    model_label,
    progress_text,
    rows_to_answer,
)
from batchui.web.templatetags.times import time

NOBODY = "From the terminal"
_ANY = UUID(int=0)


def rows_of(lines: Iterable[Line], holds: Holds, *, oob: bool = False) -> SafeString:
    """The rows of these lines. oob: each takes the place of the one on a page."""
    to_batch, to_labels = _addresses("batch"), _addresses("batch_labels")
    swap = ' hx-swap-oob="true"' if oob else ""
    made = []
    for line in lines:
        pk = line.batch.pk
        shown = status_words.of_batch(line.batch, holds.get(pk))
        made.append(_row(line, shown, swap, to_batch(pk), to_labels(pk)))
    return mark_safe("".join(made))  # noqa: S308


def _addresses(name: str) -> Callable[[UUID], str]:
    """The address of a page of any batch. To look each one up takes Django as long as the row."""
    before, after = reverse(name, args=[_ANY]).split(str(_ANY))
    return lambda pk: f"{before}{pk}{after}"


def _row(line: Line, shown: status_words.Shown, swap: str, address: str, labels: str) -> str:
    batch, pk = line.batch, line.batch.pk
    active = f' data-active="{pk}"' if batch.is_active else ""
    name, person, when = escape(batch.name), escape(line.person or NOBODY), time(batch.when)
    return (
        f'<tr id="batch-{pk}"{active}{swap}>'
        f'<th scope="row" class="line"><div class="line-name">{_tick(batch, name)}'
        f'<a class="stretched" id="batch-{pk}-link" href="{address}" title="{name}">{name}</a>'
        f'</div><div class="line-under">{_question(line)}'
        f"{closed_labels(pk, batch.name, line.labels, labels)}</div>"
        f'<p class="under until-m">{person}, {when}</p></th>'
        f'<td class="state">{status_mark(shown, batch.status)}{_state(batch, shown)}</td>'
        f'<td class="from-s slim">{_progress(batch, shown)}</td>'
        f'<td class="figures from-m slim">{cost_in_history(batch)}</td>'
        f'<td class="from-l slim">{escape(model_label(batch.serializable_value("model")))}</td>'
        f'<td class="from-m who">{person}</td>'
        f'<td class="from-m slim">{when}{_duration(batch)}</td></tr>\n'
    )


def _tick(batch: Batch, name: str) -> str:
    """The box that chooses a run to be compared. name: escaped."""
    if not batch.is_started:
        return ""
    return (
        f'<input class="compare-tick" id="tick-{batch.pk}" hx-preserve type="checkbox" '
        f'name="batch" value="{batch.pk}" form="compare" aria-label="Compare “{name}”">\n'
    )


def _question(line: Line) -> str:
    source = escape(line.batch.source_name)
    asked = escape(line.question) or source
    if line.asked_after:
        further = f"Asks further about “{escape(line.asked_after)}”"
        asked = f"{further}{': ' if line.question else ''} {asked}"
    return f'<p class="under cut" title="{source}">{asked}</p>'


def _state(batch: Batch, shown: status_words.Shown) -> str:
    """Below the mark: why it is paused; and, where there is no room for a bar, how far it is."""
    why = far = ""
    if shown.word == status_words.PAUSED:
        sentence = escape(shown.sentence)
        why = f'<p class="under why cut" title="{sentence}">{sentence}</p>'
    if batch.is_started:
        far = f'<p class="under until-s">{progress_text(batch)}</p>'
    return why + far


def _progress(batch: Batch, shown: status_words.Shown) -> str:
    if batch.status in BEING_READ:
        return f"{_rows(batch.progress_rows)} read"
    if not batch.is_started:
        return _rows(batch.rows)
    text, most = progress_text(batch), rows_to_answer(batch)
    return bar(batch.answered, most, text, label="Progress", tone=shown.tone)


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"


def _duration(batch: Batch) -> str:
    if not (batch.started_at and batch.is_started):
        return ""
    return f'<p class="under">{"for" if batch.is_active else "took"} {took(batch)}</p>'
