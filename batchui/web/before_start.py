"""What the page says of a draft's rows right before Start: which cannot be asked, how many can."""

from dataclasses import dataclass, replace

from batchui.batches.models import Batch
from batchui.batches.phrases import rows_are, rows_phrase
from batchui.batches.surveys import Survey
from batchui.prompts.problems import BadInput, joined, listed, quoted
from batchui.prompts.template import Template

# Rows with nothing to ask that the page names.
ROWS_NAMED = 10


@dataclass(frozen=True)
class BeforeStart:
    """What is said of the rows.

    found: sentences about rows that the question cannot be asked of. rows: for the button. blank:
    the sentence about rows with nothing to ask about, and whether they are skipped; "" if there are
    none. in_the_way: how many rows keep the batch from starting. skipped: how many are skipped.
    """

    found: list[str]
    rows: str
    blank: str = ""
    in_the_way: int = 0
    skipped: int = 0

    @classmethod
    def of(cls, batch: Batch, survey: Survey | None) -> "BeforeStart":
        """What is known of a draft whose file was read; None: the question was not looked at."""
        if survey is None:
            return cls([], rows_phrase(batch.askable_rows))._counted(batch, batch.bad_rows, 0)
        askable = batch.askable_rows - survey.blank - survey.too_long - survey.unusable
        rows = rows_phrase(askable)
        # Rows that are too long may be among those that ask the same.
        if batch.ask.ask_once and survey.same and not survey.too_long:
            rows += f", {askable - survey.same:,} asked"
        found = cls(unaskable_rows(survey), rows, _blank(batch, survey))
        unaskable = batch.bad_rows + survey.too_long + survey.unusable
        return found._counted(batch, unaskable, survey.blank)

    def _counted(self, batch: Batch, unaskable: int, blank: int) -> "BeforeStart":
        asked = batch.ask
        skipped = unaskable * asked.skip_invalid + blank * (not asked.stop_at_blank)
        return replace(self, in_the_way=unaskable + blank - skipped, skipped=skipped)

    @property
    def in_short(self) -> str:
        """“3 rows cannot be asked, 2 skipped”, “2 rows are skipped”; "" if there is nothing."""
        if not self.in_the_way:
            return f"{rows_are(self.skipped)} skipped" if self.skipped else ""
        said = f"{rows_phrase(self.in_the_way)} cannot be asked"
        return f"{said}, {self.skipped:,} skipped" if self.skipped else said


def _blank(batch: Batch, survey: Survey) -> str:
    """The sentence about rows with nothing to ask about; "" if there are none."""
    if not survey.blank:
        return ""
    numbers = [f"{number:,}" for number in survey.blank_rows[:ROWS_NAMED]]
    if survey.blank > len(numbers):
        numbers.append(f"{survey.blank - len(numbers):,} more")
    have, rows = ("has", "row") if survey.blank == 1 else ("have", "rows")
    where = _where(batch)
    if batch.ask.stop_at_blank:
        then = "Start waits until that is filled in."
    else:
        then = "It is skipped." if survey.blank == 1 else "They are skipped."
    return (
        f"{rows_phrase(survey.blank)} {have} nothing in {where}: {rows} {joined(numbers)}. {then}"
    )


def _where(batch: Batch) -> str:
    """The columns of the question, for the sentence."""
    if batch.ask.as_items:
        return "them that this model takes"
    if batch.ask.shows_pictures:
        return quoted(batch.ask.picture_column)
    try:
        return listed(Template(batch.ask.template).names)
    except BadInput:
        return "them"


def unaskable_rows(survey: Survey) -> list[str]:
    """Sentences about rows that this question cannot be asked of; none if there are none."""
    return [*_too_long(survey), *_unusable(survey)]


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


def _unusable(survey: Survey) -> list[str]:
    """The sentence about ready-made requests that the model does not take."""
    if not survey.unusable:
        return []
    are, first = ("is", "") if survey.unusable == 1 else ("are", "the first is ")
    return [
        f"{rows_phrase(survey.unusable)} {are} no request that this model takes: {first}row "
        f"{survey.first_unusable:,}."
    ]
