"""Prompts as people read them: of a draft's first rows, and beside each answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from batchui.batches.models import Batch
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts.problems import BadInput
from batchui.prompts.rows import cell_text, encode_row
from batchui.prompts.template import Template

# How many of the first rows a draft's page shows: their prompts, and their cells.
ROWS_SHOWN = 3


@dataclass(frozen=True)
class PromptPreview:
    """The first rows' prompts for what is typed, or why they cannot be made."""

    prompts: list[tuple[int, str]]
    problem: str
    warnings: list[str]
    model: Model | None

    @classmethod
    def of(cls, batch: Batch, typed: Mapping[str, Any]) -> "PromptPreview":
        """For a draft and the fields typed so far."""
        model = catalogue.find(typed["model"]) if typed.get("model") else None
        try:
            fill = prompt_filler(batch, str(typed["template"]), as_items=bool(typed["as_items"]))
        except BadInput as problem:
            sentence = str(problem) if typed["template"].strip() else ""
            return cls([], sentence, [], model)
        first_rows = batch.first_rows[:ROWS_SHOWN]
        prompts = [(number, fill(cells)) for number, cells in enumerate(first_rows, 1)]
        return cls(prompts, "", _warnings(batch, typed), model)


def prompt_filler(batch: Batch, template: str, *, as_items: bool) -> Callable[[Any], str]:
    """What turns a row's cells into the prompt it is asked, as text for the page.

    Raises BadInput for a template that names no column, or one that the file does not have.
    """
    if as_items:
        return _item_text
    return Template(template).bind(batch.columns).fill


def _item_text(cells: Any) -> str:
    """A ready-made item as people read it: its last message, its prompt, or its whole."""
    if isinstance(cells, Mapping):
        messages = cells.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
            return cell_text(messages[-1].get("content"))
        for key in ("prompt", "input", "text"):
            if key in cells:
                return cell_text(cells[key])
    return msgspec.json.format(encode_row(cells), indent=2).decode()


def _warnings(batch: Batch, typed: Mapping[str, Any]) -> list[str]:
    """What is known of blank cells in the columns that the prompt names."""
    if typed["as_items"]:
        return []
    found = []
    for column in Template(typed["template"]).names:
        blank = batch.blanks.get(column) or batch.blanks.get(column.strip())
        if blank and blank["count"]:
            count = blank["count"]
            first = f"row {blank['first_row']:,}"
            if count == 1:
                found.append(f"1 row is blank in “{column}”: {first}.")
            else:
                found.append(f"{count:,} rows are blank in “{column}”; the first is {first}.")
    return found
