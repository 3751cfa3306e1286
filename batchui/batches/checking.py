"""Reads a whole upload: how many rows it has, and which of them are bad."""

from uuid import UUID

from django.conf import settings

from batchui.batches import lifecycle, sources
from batchui.batches.changes import BatchChanges
from batchui.batches.converting import convert
from batchui.batches.draft_rows import NO_ROWS, KeptRows
from batchui.batches.further import make_file
from batchui.batches.long_tasks import (
    READING_LEASE,
    Beat,
    LeaseLostError,
    StoppedError,
    give_back,
    progress_of,
    refuse_endless,
    sentence_for,
)
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.batches.picture_archives import copied
from batchui.batches.progress import Progress
from batchui.batches.row_problems import NO_PROBLEMS, RowProblems
from batchui.batches.states import BatchStatus
from batchui.prompts.conversion.kinds import is_text
from batchui.prompts.reading.checking import Report, check


def check_file(batch_id: UUID, *, beat: Beat | None = None) -> None:
    """Read the whole upload, count its rows, find the bad ones, and make the batch a draft.

    Does nothing if another worker has the batch.
    """
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.CHECKING).first()
    if batch is None or not lifecycle.claim_batch(batch, READING_LEASE):
        return
    try:
        refuse_endless(batch)
        progress = progress_of(batch, beat=beat)
        if batch.source_file:
            sources.refuse_changed(batch)
        if not batch.source_format:
            _look(batch, progress)
        rows = KeptRows()
        report = check(
            lambda: sources.open_rows(batch),
            batch.format,
            problems=RowProblems,
            keep=rows.begin,
            progress=progress,
            max_rows=settings.MAX_ROWS,
        )
        sources.refuse_nul(report.format)
        kept: BatchChanges = {**report.problems.store(batch), **rows.store(batch)}
    except LeaseLostError:
        return
    except StoppedError:
        give_back(batch)
    except Exception as problem:  # every failure needs a sentence on the page
        sentence = sentence_for(problem)
        unusable: BatchChanges = {"problem": sentence, **NO_PROBLEMS, **NO_ROWS}
        event = f"The file cannot be used: {sentence}"
        lifecycle.move_batch(batch, BatchStatus.DRAFT, event=event, **unusable)
    else:
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"The file was read: {rows_phrase(report.rows)}.",
            **_facts(report, kept),
        )


def _look(batch: Batch, progress: Progress) -> None:
    """Find out how the file is read; make or convert it first if that has to be done."""
    if not batch.source_file:
        pictures = copied(batch.asked_after, batch.pk) if batch.asked_after else {}
        _keep(batch, {**pictures, **make_file(batch, progress=progress)})
    elif not batch.converted_file and not _is_plain_text(batch):
        _keep(batch, convert(batch, progress=progress))
    _keep(batch, sources.look(batch, batch.choices).as_fields())


def _is_plain_text(batch: Batch) -> bool:
    return is_text(sources.head(batch), batch.source_name)


def _keep(batch: Batch, found: BatchChanges) -> None:
    if not lifecycle.touch_batch(batch, **found):
        raise LeaseLostError


def _facts(report: Report[RowProblems], kept: BatchChanges) -> BatchChanges:
    """The result of a check, as fields of the batch. kept: the files that it wrote."""
    return {
        "source_format": report.format.to_dict(),
        "rows": report.rows,
        "bad_rows": report.bad_rows,
        "problem": "",
        **kept,
        "blanks": {
            column: {"count": blank.count, "first_row": blank.first_row}
            for column, blank in report.blanks.items()
        },
        "sample": report.sample,
        "above": report.above,
    }
