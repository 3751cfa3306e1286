"""What the page says of a draft's rows right before Start: which cannot be asked, how many can."""

from dataclasses import dataclass

from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.batches.surveys import Survey
from batchui.prompts.problems import BadInput, joined, listed
from batchui.prompts.template import Template

# Rows with nothing to ask that the page names.
ROWS_NAMED = 10


@dataclass(frozen=True)
class BeforeStart:
    """found: sentences about rows that the question cannot be asked of. rows: for the button."""

    found: list[str]
    rows: str

    @classmethod
    def of(cls, batch: Batch, survey: Survey | None) -> "BeforeStart":
        """What is known of a draft whose file was read; None: the question was not looked at."""
        if survey is None:
            return cls([], rows_phrase(batch.askable_rows))
        askable = batch.askable_rows - survey.blank - survey.too_long
        rows = rows_phrase(askable)
        # Rows that are too long may be among those that ask the same.
        if batch.ask.ask_once and survey.same and not survey.too_long:
            rows += f", {askable - survey.same:,} asked"
        return cls([*_blank(batch, survey), *_too_long(survey)], rows)


def _blank(batch: Batch, survey: Survey) -> list[str]:
    """The sentence about rows with nothing to ask."""
    if not survey.blank:
        return []
    numbers = [f"{number:,}" for number in survey.blank_rows[:ROWS_NAMED]]
    if survey.blank > len(numbers):
        numbers.append(f"{survey.blank - len(numbers):,} more")
    have, rows = ("has", "row") if survey.blank == 1 else ("have", "rows")
    return [
        f"{rows_phrase(survey.blank)} {have} nothing in {_where(batch)}: {rows} {joined(numbers)}."
    ]


def _where(batch: Batch) -> str:
    """The columns of the question, for the sentence."""
    if batch.ask.as_items:
        return "them that this model takes"
    try:
        return listed(Template(batch.ask.template).names)
    except BadInput:
        return "them"


def _too_long(survey: Survey) -> list[str]:
    """The sentence about rows that are too long for the model."""
    if not survey.too_long:
        return []
    first = f"row {survey.first_too_long:,}"
    if survey.too_long == 1:
        return [f"1 row is too long for this model: {first}. Shorten it, or skip it."]
    return [
        f"{survey.too_long:,} rows are too long for this model; the first is {first}. Shorten "
        "them, or skip them."
    ]
