"""What the field of the question is called, and what stands in it as long as it is empty."""

from dataclasses import dataclass

from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import Model
from batchui.prompts import ask
from batchui.web.asking.guessing import text_column
from batchui.web.forms.ask import column_mark

_ASK = next(field.about.label for field in ask.fields() if field.name == "template")


@dataclass(frozen=True)
class Wording:
    """The label of the field of the question, and its placeholder, for a kind of model."""

    label: str
    placeholder: str

    @classmethod
    def of(cls, batch: Batch, model: Model) -> "Wording":
        """The words for a draft that asks this model."""
        mark = column_mark(text_column(batch) or "column")
        if model.task == "translation":
            return cls("The text to translate", f"For example: {mark}")
        if model.task == "embedding":
            return cls("The text to turn into numbers", f"For example: {mark}")
        example = f"Say in one sentence what this text is about:\n\n{mark}"
        return cls(_ASK, f"For example:\n{example}")
