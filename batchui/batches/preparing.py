"""Makes parts that are ready to send from a started draft."""

from uuid import UUID

from django.db import transaction

from batchui.batches import copying, files, lifecycle, references, results, sources
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import Compressed
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
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import invalid_rows_sentence, parts_phrase
from batchui.batches.progress import Progress, telling
from batchui.batches.results import Answer
from batchui.batches.row_problems import NO_PROBLEMS, RowProblems
from batchui.batches.signals import work_waits
from batchui.batches.states import AnswerStatus, BatchStatus
from batchui.cloudflare.catalogue import Model, find
from batchui.prompts.cutting import Cut, Limits, cut
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.readers import read
from batchui.prompts.repeats import Repeats

EMBEDDING_ROWS = 500
# Largest reply to one part, in bytes, at 4 bytes a token. A reply is decoded in one piece.
REPLY_BYTES = 64_000_000
# Of a batch, and the most that one decision names. For 5 million rows, embeddings and the longest
# answers take 10,000; SQLite takes 32,766 values in one query.
MOST_PARTS = 20_000
TOO_MANY_PARTS = (
    f"The questions of this file together are too large: they would take more than {MOST_PARTS:,} "
    "requests. Shorten the text that is sent with every row, or cut the file into smaller files."
)


def prepare(batch_id: UUID, *, beat: Beat | None = None) -> None:
    """Cut a started batch into parts and queue it.

    If rows are invalid and the batch is not to skip them, it becomes a draft again that names
    them. Nothing is sent then.
    """
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.PREPARING).first()
    if batch is None or not lifecycle.claim_batch(batch, READING_LEASE):
        return
    try:
        refuse_endless(batch)
        parts, skipped = _cut_into_parts(batch, beat)
    except LeaseLostError:
        return
    except StoppedError:
        give_back(batch)
    except Exception as problem:  # every failure needs a sentence on the page
        _back_to_draft(batch, sentence_for(problem), NO_PROBLEMS)
    else:
        _queue_or_refuse(batch, parts, skipped)


def limits_for(model: Model, *, max_tokens: int) -> Limits:
    """How large a part may be for a model, so that its reply is not too large to decode.

    And how large a question: of embeddings and translations the model cuts off the rest itself.
    """
    if model.task == "embedding":
        return Limits(rows=EMBEDDING_ROWS)
    if model.task == "translation":
        return Limits()
    rows = max(1, min(Limits().rows, REPLY_BYTES // (4 * max(max_tokens, 1))))
    return Limits(rows=rows, context_window=model.context_window)


def _cut_into_parts(batch: Batch, beat: Beat | None) -> tuple[list[Part], RowProblems]:
    """Store the rows of every part, with one part in memory at a time.

    Returns the parts, which are not in the database yet, and what is to be skipped. No more parts
    are made after a row that may not be skipped.
    """
    limits = limits_for(find(batch.ask.model), max_tokens=batch.ask.max_tokens)
    writer = references.item_writer(batch)
    if batch.rows * writer.least_bytes > MOST_PARTS * limits.item_bytes:
        raise BadInput(TOO_MANY_PARTS)
    progress = progress_of(batch, beat=beat)
    parts, row, skipped = [], 0, RowProblems()
    repeats = _repeats(batch, writer, progress) if batch.ask.ask_once else None
    with sources.open_rows(batch) as source:
        cuts = cut(
            read(source, batch.format),
            writer,
            total=batch.rows,
            limits=limits,
            repeats=repeats,
        )
        for piece in cuts:
            row += len(piece.lines)
            for problem in piece.invalid.values():
                skipped.add(problem)
            if piece.number > MOST_PARTS:
                raise BadInput(TOO_MANY_PARTS)
            if not skipped.count or batch.ask.skip_invalid:
                parts.append(_write_part(batch, piece))
            progress(row)
    return parts, skipped


def _repeats(batch: Batch, writer: ItemWriter, progress: Progress) -> Repeats:
    with sources.open_rows(batch) as source:
        return Repeats(telling(read(source, batch.format), progress), writer)


def _write_part(batch: Batch, piece: Cut) -> Part:
    part = Part(
        batch=batch,
        number=piece.number,
        first_row=piece.first_row,
        rows=len(piece.lines),
        epoch=batch.epoch,  # for the names of its files: another worker may be cutting, too
    )
    part.rows_file = Compressed.of_lines(piece.lines).store(files.rows_path(part))
    if piece.copies:
        part.copies_file = copying.store(part, piece.copies)
    if piece.invalid:
        skipped = {
            position: Answer(AnswerStatus.INVALID.value, error=problem.once_skipped)
            for position, problem in piece.invalid.items()
        }
        for field, value in results.merge(part, skipped, missing=lambda _: None).store().items():
            setattr(part, field, value)
    return part


def _queue_or_refuse(batch: Batch, parts: list[Part], skipped: RowProblems) -> None:
    if skipped.count and not batch.ask.skip_invalid:
        _back_to_draft(batch, invalid_rows_sentence(skipped.count), skipped.store(batch))
    elif skipped.count == batch.rows:
        _back_to_draft(batch, "No row of the file can be asked.", skipped.store(batch))
    else:
        _queue(batch, parts)


def _queue(batch: Batch, parts: list[Part]) -> None:
    with transaction.atomic():
        moved = lifecycle.move_batch(
            batch,
            BatchStatus.QUEUED,
            event=f"Cut into {parts_phrase(len(parts))}.",
            part_count=len(parts),
            invalid=sum(part.invalid for part in parts),
        )
        if moved:
            Part.objects.bulk_create(parts)
    if moved:
        work_waits.send(Batch, batch=batch)


def _back_to_draft(batch: Batch, problem: str, rows: BatchChanges) -> None:
    changes: BatchChanges = {"problem": problem, "started_at": None, "started_by": None, **rows}
    lifecycle.move_batch(batch, BatchStatus.DRAFT, event=f"Not started: {problem}", **changes)
