"""Labels and sentences for batches and models."""

import json
from typing import Any, NamedTuple

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import QuerySet

from batchui.batches.exporting import Kind
from batchui.batches.models import Batch
from batchui.batches.phrases import counted, invalid_rows_sentence, status_word
from batchui.batches.whole_files import kinds_for
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts import ask
from batchui.prompts.reading.dialects import DELIMITERS
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.mendings import mendings, remarks
from batchui.web.damaged_files import without_path

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


@register.filter
def price_text(model: Model) -> str:
    """The price of a model, as sentences."""
    price = f"${model.usd_per_m_input:g} for a million tokens read"
    if model.usd_per_m_output:
        price += f", ${model.usd_per_m_output:g} for a million written"
    return f"{price}. A million tokens are about 750,000 English words."


@register.filter
def read_as(form: Format) -> str:
    """How a file was read: “, read as UTF-8, semicolons, 5 columns”; “recognised” if guessed."""
    if not form.columns:
        return ""
    found = []
    if form.kind != "table":
        verb = "recognised" if form.encoding_guessed else "read"
        found.append(f"{verb} as {form.encoding_name}")
    if form.kind == "csv" and form.delimiter:
        found.append(f"{DELIMITERS[form.delimiter]}s")
    if form.kind != "txt":
        found.append(counted(len(form.columns), "column"))
    return "".join(f", {one}" for one in found)


@register.filter
def mended(batch: Batch) -> list[str]:
    """What was done to the columns of a file, and what else is to be known, as sentences."""
    return [*mendings(batch.format), *(remarks(batch.sheet) if batch.sheet else ())]


class AskedLine(NamedTuple):
    """A field of what was asked, as the page shows it. is_long: with its line breaks."""

    label: str
    text: str
    is_long: bool


@register.filter
def asked_lines(batch: Batch) -> list[AskedLine]:
    """What was asked beside the model: every field that has a value and was used."""
    asked = batch.ask
    unused = {"model"}
    if asked.as_items:
        unused |= {"template", "instruction"}
    if not asked.target_lang:
        unused.add("source_lang")
    values = ((field, getattr(asked, field.name)) for field in ask.fields())
    return [
        AskedLine(field.about.label, _value_text(field, value), field.is_long_text)
        for field, value in values
        if field.name not in unused and value is not False and value not in (None, "", {})
    ]


def _value_text(field: ask.Field, value: Any) -> str:
    if field.kind is bool:
        return "Yes"
    if field.name == "max_tokens":
        return f"{value:,} tokens"
    if isinstance(value, int | float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def download_kinds(batch: Batch) -> list[tuple[str, Kind]]:
    """The kinds of download of a batch, each with its word in addresses."""
    return list(kinds_for(batch).items())


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
def page_title(batch: Batch) -> str:
    """The title of a batch's page: its progress or its final status, and its name."""
    standing = f"{percent_text(batch)} ·" if batch.is_active else f"{status_word(batch.status)}:"
    return f"{standing} {batch.name} · batchui"


@register.filter
def progress_text(batch: Batch) -> str:
    """“97 of 100 answered”."""
    return f"{intcomma(batch.answered)} of {intcomma(batch.rows)} answered"


def percent_text(batch: Batch) -> str:
    """“97%”: the share of rows with a status of their own."""
    return f"{100 * batch.settled // max(batch.rows, 1)}%"


@register.filter
def invalid_rows_text(batch: Batch) -> str:
    """Why a draft cannot start: its problem, else the sentence about its invalid rows."""
    return batch.problem or invalid_rows_sentence(batch.bad_rows)
