"""Prompts as text for the page: of one row of a draft, and beside each answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from batchui.batches import surveys
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.batches.surveys import Survey
from batchui.cloudflare.catalogue import Model
from batchui.prompts.model_facts import takes
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import cell_text, encode_row
from batchui.prompts.template import Template
from batchui.web.forms.fitting import items_kind, misfit
from batchui.web.sheet.draft_grid import row_of_draft, rows_known
from batchui.web.sheet.pictures import ShownPicture, picture_of

# Characters of a prompt: one more than the page shows, which says that there are more.
PREVIEWED = 1501


@dataclass(frozen=True)
class ShownPrompt:
    """The prompt of one row. before, after: the numbers of the rows beside it, None at an end.

    picture: what goes along; None for a text alone.
    """

    number: int
    text: str
    before: int | None
    after: int | None
    picture: ShownPicture | None = None


@dataclass(frozen=True)
class PromptPreview:
    """The prompt of a row, with what is typed; or why there is none."""

    prompt: ShownPrompt | None
    problem: str = ""
    warnings: Sequence[str] = ()
    survey: Survey | None = None
    survey_is_due: bool = False

    @classmethod
    def of(cls, batch: Batch, typed: Mapping[str, Any], *, row: str = "") -> "PromptPreview":
        """The preview for a draft and the fields typed so far. row: the number of the row in view;
        the first one if there is no such row."""
        model = of_batch(batch).find(typed["model"]) if typed.get("model") else None
        if model and typed["as_items"] and (unfit := misfit(items_kind(batch), model)):
            return cls(None, unfit)
        try:
            fill = prompt_filler(batch, str(typed["template"]), as_items=bool(typed["as_items"]))
        except BadInput as problem:
            return cls(None, str(problem) if typed["template"].strip() else "")
        survey = surveys.survey_of(batch)
        due = survey is None and batch.survey_wanted != ""
        shown = _shown_prompt(batch, fill, row)
        warnings = [*_warnings(batch, typed, survey), *_not_sent(batch, model)]
        return cls(shown, "", warnings, survey, due)


def _not_sent(batch: Batch, model: Model | None) -> list[str]:
    """A sentence about a setting of the draft that the model has no field for."""
    is_set = batch.ask.temperature is not None
    if model is None or model.task != "chat" or not is_set or takes(model, "temperature"):
        return []
    return [f"{model.label} takes no temperature, so none is sent to it."]


def _shown_prompt(batch: Batch, fill: Callable[[Any, int], str], row: str) -> ShownPrompt | None:
    first = batch.format.first_row
    last = first + rows_known(batch) - 1
    number = int(row) if row.isascii() and row.isdigit() and len(row) < 12 else first
    if not first <= number <= last:
        number = first
    found = row_of_draft(batch, number)
    if found is None:
        return None
    return ShownPrompt(
        number=number,
        text=fill(found.cells, PREVIEWED),
        before=number - 1 if number > first else None,
        after=number + 1 if number < last else None,
        picture=picture_of(batch, found.cells, number),
    )


def prompt_filler(batch: Batch, template: str, *, as_items: bool) -> Callable[[Any, int], str]:
    """A function that makes a row's prompt as text, from its cells and the most characters wanted.

    Raises BadInput for a template without a column, or with one that the file does not have.
    """
    if as_items:
        return _item_text
    return Template(template).bind(batch.columns, needs_name=not batch.ask.shows_pictures).fill


def _item_text(cells: Any, most: int) -> str:
    """The beginning of a ready-made item as text: of its last message, its prompt, or all of it."""
    return _whole_item_text(cells)[:most]


def _whole_item_text(cells: Any) -> str:
    if isinstance(cells, Mapping):
        messages = cells.get("messages")
        if isinstance(messages, msgspec.Raw):
            messages = msgspec.json.decode(messages)
        if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
            return cell_text(messages[-1].get("content"))
        for key in ("prompt", "input", "text"):
            if key in cells:
                return cell_text(cells[key])
    return msgspec.json.format(encode_row(cells), indent=2).decode()


def _warnings(batch: Batch, typed: Mapping[str, Any], survey: Survey | None) -> list[str]:
    """Sentences about blank cells in the columns of the prompt.

    Where a row with such a cell has nothing else to ask, the survey tells of it.
    """
    if typed["as_items"]:
        return []
    found = []
    columns = Template(typed["template"]).names
    for column in () if survey and len(columns) == 1 else columns:
        blank = batch.blanks.get(column) or batch.blanks.get(column.strip())
        if blank and blank["count"]:
            count = blank["count"]
            first = f"row {blank['first_row']:,}"
            if count == 1:
                found.append(f"1 row is blank in “{column}”: {first}.")
            else:
                found.append(f"{count:,} rows are blank in “{column}”; the first is {first}.")
    return found
