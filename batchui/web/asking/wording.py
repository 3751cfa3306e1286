"""What the field of the question is called, and what stands in it as long as it is empty."""

from dataclasses import dataclass

from batchui.batches.models import Batch
from batchui.prompts.jobs import BY_SLUG, Job
from batchui.web.asking.guessing import text_column
from batchui.web.asking.starting_points import DESCRIBE
from batchui.web.forms.ask import column_mark


@dataclass(frozen=True)
class Wording:
    """The label of the field of the question, and its placeholder, for a job."""

    label: str
    placeholder: str

    @classmethod
    def of(cls, batch: Batch, job: Job) -> "Wording":
        """The words for a job with the file of a draft."""
        mark = column_mark(text_column(batch) or "column")
        if job.slug in ("translate", "embed", "rank"):
            return cls(job.text_label, f"For example: {mark}")
        if batch.ask.shows_pictures:
            return cls(job.text_label or BY_SLUG["ask"].text_label, f"For example:\n{DESCRIBE}")
        example = f"Say in one sentence what this text is about:\n\n{mark}"
        return cls(job.text_label or BY_SLUG["ask"].text_label, f"For example:\n{example}")
