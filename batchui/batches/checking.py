"""Reads a whole upload: how many rows it has, and which of them are bad."""

from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from batchui.batches import lifecycle, sources
from batchui.batches.changes import BatchChanges
from batchui.batches.long_tasks import (
    READING_LEASE,
    SHOWN_PROBLEMS,
    LeaseLostError,
    StoppedError,
    give_back,
    progress_of,
    refuse_endless,
    sentence_for,
)
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import BatchStatus
from batchui.prompts.checking import Report, check


def check_file(batch_id: UUID, *, beat: Callable[[], None] | None = None) -> None:
    """Read the whole upload, count its rows, find the bad ones, and make the batch a draft.

    Does nothing if another worker has the batch.
    """
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.CHECKING).first()
    if batch is None or not lifecycle.claim_batch(batch, READING_LEASE):
        return
    try:
        refuse_endless(batch)
        report = check(
            lambda: sources.open_rows(batch),
            batch.format,
            progress=progress_of(batch, beat=beat),
            max_rows=settings.MAX_ROWS,
        )
        sources.refuse_nul(report.format)
    except LeaseLostError:
        return
    except StoppedError:
        give_back(batch)
    except Exception as problem:  # every failure needs a sentence on the page
        sentence = sentence_for(problem)
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"The file cannot be used: {sentence}",
            problem=sentence,
            problem_rows=[],
        )
    else:
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"The file was read: {rows_phrase(report.rows)}.",
            **_facts(report),
        )


def _facts(report: Report) -> BatchChanges:
    """The result of a check, as fields of the batch."""
    return {
        "source_format": report.format.to_dict(),
        "rows": report.rows,
        "bad_rows": report.bad_rows,
        "problem": "",
        "problem_rows": [
            {"row": found.row, "sentence": found.sentence}
            for found in report.problems[:SHOWN_PROBLEMS]
        ],
        "blanks": {
            column: {"count": blank.count, "first_row": blank.first_row}
            for column, blank in report.blanks.items()
        },
        "sample": report.sample,
        "above": report.above,
    }
