"""Labels and sentences for batches and models."""

import json
from typing import Any, NamedTuple

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import QuerySet
from django.utils import timezone

from batchui.batches.empty_answers import can_count_as_empty
from batchui.batches.exporting import Kind
from batchui.batches.models import Batch, Part
from batchui.batches.money import amount
from batchui.batches.owners import is_author
from batchui.batches.phrases import invalid_rows_sentence
from batchui.batches.spending import prices_of, spent
from batchui.batches.whole_files import file_name, kinds_for
from batchui.cloudflare import catalogue
from batchui.prompts import ask
from batchui.prompts.answer_schema import in_words
from batchui.prompts.jobs import BY_SLUG
from batchui.web import status_words
from batchui.web.damaged_files import without_path
from batchui.web.members import MemberRequest

FURTHER_SHOWN = 10

register = template.Library()
register.filter(without_path)


@register.filter
def model_label(name: str) -> str:
    """The short name of a model; its whole name if it is not in the catalogue."""
    try:
        return catalogue.find(name).label if name else ""
    except catalogue.UnknownModel:
        return name


@register.filter
def further_batches(batch: Batch) -> QuerySet[Batch]:
    """The latest batches that ask further about the answers of this one."""
    asking = batch.asked_further.filter(deleted_at=None).order_by("-created_at")
    return asking.only("name")[:FURTHER_SHOWN]


class AskedLine(NamedTuple):
    """A field of what was asked, as the page shows it. is_long: with its line breaks."""

    label: str
    text: str
    is_long: bool


@register.filter
def asked_lines(batch: Batch) -> list[AskedLine]:
    """What was asked beside the model: every field that has a value and was used."""
    asked = batch.ask
    unused = {"model"} if asked.job in BY_SLUG else {"model", "job"}
    if asked.as_items:
        unused |= {"template", "instruction"}
    if not asked.target_lang:
        unused.add("source_lang")
    values = ((field, getattr(asked, field.name)) for field in ask.fields())
    return [
        AskedLine(field.about.label, _value_text(field, value), field.is_long)
        for field, value in values
        if field.name not in unused and value is not False and value not in (None, "", {}, ())
    ]


def _value_text(field: ask.Field, value: Any) -> str:
    if field.kind is bool:
        return "Yes"
    if field.name == "answer_columns":
        return "\n".join(in_words(value).splitlines()[1:])
    if field.name == "job":
        return BY_SLUG[value].label
    if field.name == "max_tokens":
        return f"{value:,} tokens"
    if isinstance(value, int | float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def download_kinds(batch: Batch) -> list[tuple[str, Kind]]:
    """The kinds of download of a batch, each with its word in addresses."""
    return list(kinds_for(batch).items())


register.filter("can_count_as_empty", can_count_as_empty)


@register.filter
def may_be_deleted_by(batch: Batch, request: MemberRequest) -> bool:
    """Whether who asks for a page may delete a batch."""
    return request.membership.is_admin or is_author(batch, request.user)


@register.filter
def saved_as(batch: Batch, kind: str) -> str:
    """The name of the file that a download brings."""
    return file_name(batch, kind, timezone.localdate())


@register.filter
def inert_sentence(batch: Batch) -> str:
    """What becomes of formulas in the CSV for spreadsheets, with the number of the last one."""
    changed = batch.cells_made_inert
    if changed is None:
        return (
            "In the CSV for Excel, a cell that would run as a formula gets an apostrophe before it."
        )
    if not changed:
        return "In the CSV for Excel, every cell is as it was: none would run as a formula."
    cells = (
        "1 cell would run as a formula and has"
        if changed == 1
        else (f"{intcomma(changed)} cells would run as formulas and have")
    )
    return f"In the CSV for Excel, {cells} an apostrophe before it."


@register.filter
def cost_in_history(batch: Batch) -> str:
    """What a batch has cost so far; "" before its first answer, or if the price is not known."""
    read, written = batch.prompt_tokens, batch.completion_tokens
    if not (read or written):
        return ""
    if batch.connection.is_free:
        return "free"
    model = batch.serializable_value("model")  # the whole question would be read for `ask`
    prices = prices_of(batch)
    usd = spent(model, batch.connection.kind, read=read, written=written, prices=prices)
    return "" if usd is None else amount(usd)


@register.filter
def page_title(batch: Batch) -> str:
    """The title of a batch's page: its progress or its final status, and its name."""
    word = status_words.of_batch(batch).word
    standing = f"{percent_text(batch)} ·" if batch.is_active else f"{word}:"
    return f"{standing} {batch.name} · batchui"


@register.filter
def progress_text(batch: Batch) -> str:
    """“97 of 100 answered”; with rows that are skipped “60 of 63 answered, 2 skipped”.

    Where these are the only ones without an answer: “63 answered, 2 skipped”.
    """
    answered, asked = intcomma(batch.answered), intcomma(rows_to_answer(batch))
    if not batch.never_asked:
        return f"{answered} of {asked} answered"
    of_asked = "" if batch.answered == rows_to_answer(batch) else f" of {asked}"
    return f"{answered}{of_asked} answered, {intcomma(batch.never_asked)} skipped"


@register.filter
def rows_to_answer(batch: Batch | Part) -> int:
    """The number of rows without those that are skipped: a bar of a finished batch is full."""
    return batch.rows - batch.never_asked


def percent_text(batch: Batch) -> str:
    """“97%”: the share of the rows to answer that have come to an end."""
    return f"{100 * (batch.settled - batch.never_asked) // max(rows_to_answer(batch), 1)}%"


@register.filter
def invalid_rows_text(batch: Batch) -> str:
    """Why a draft cannot start: its problem, else the sentence about its invalid rows."""
    return batch.problem or invalid_rows_sentence(batch.bad_rows)
