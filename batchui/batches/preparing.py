"""Makes parts that are ready to send from a started draft."""

from collections.abc import Iterable, Iterator
from functools import partial
from uuid import UUID

from django.db import transaction

from batchui.batches import copying, draft_rows, files, lifecycle, part_answers, references, sources
from batchui.batches.behind import one_behind
from batchui.batches.catalogues import of_batch
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import Compressed, DamagedFile
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
from batchui.batches.part_answers import Answer
from batchui.batches.phrases import blank_rows_sentence, invalid_rows_sentence, parts_phrase
from batchui.batches.progress import Progress, telling
from batchui.batches.row_problems import NO_PROBLEMS, RowProblems
from batchui.batches.signals import work_waits
from batchui.batches.states import AnswerStatus, BatchStatus
from batchui.cloudflare.catalogue import Model
from batchui.prompts.ask import Ask
from batchui.prompts.cutting import Cut, Limits, cut
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import longest_written
from batchui.prompts.problems import BadInput
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

    Rows with nothing to ask about are skipped. If others are invalid and the batch is not to skip
    them, or not to start with blank ones, it becomes a draft again that names them. Nothing is sent
    then.
    """
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.PREPARING).first()
    if batch is None or not lifecycle.claim_batch(batch, READING_LEASE):
        return
    try:
        refuse_endless(batch)
        cut = _cut_into_parts(batch, beat)
    except LeaseLostError:
        return
    except StoppedError:
        give_back(batch)
    except Exception as problem:  # every failure needs a sentence on the page
        _back_to_draft(batch, sentence_for(problem), NO_PROBLEMS)
    else:
        _queue_or_refuse(batch, cut)


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


class _CutParts:
    """What was cut. rows: how many. parts: they are not in the database yet.

    not_asked: the problems of all rows that are not asked. in_the_way: of those that keep the batch
    from starting; how many of them are blank.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.parts: list[Part] = []
        self.not_asked, self.in_the_way = RowProblems(), RowProblems()
        self.blank_in_the_way = 0

    def taken(self, pieces: Iterable[Cut], ask: Ask, progress: Progress) -> Iterator[Cut]:
        """The pieces, as long as no row is in the way. Raises BadInput for too many."""
        for piece in pieces:
            self._take(piece, ask)
            if piece.number > MOST_PARTS:
                raise BadInput(TOO_MANY_PARTS)
            progress(self.rows)
            if not self.in_the_way.count:
                yield piece

    def _take(self, piece: Cut, ask: Ask) -> None:
        """Take the problems of the next part, in the order of its rows."""
        self.rows += len(piece.lines)
        found = piece.invalid | piece.blank
        for position in sorted(found):
            problem = found[position]
            self.not_asked.add(problem)
            if ask.stop_at_blank if problem.blank else not ask.skip_invalid:
                self.in_the_way.add(problem)
                self.blank_in_the_way += problem.blank


def _cut_into_parts(batch: Batch, beat: Beat | None) -> _CutParts:
    """Store the rows of every part, with two parts in memory at a time.

    No more parts are made after a row that may not be skipped. Raises DamagedFile where rows are
    missing.
    """
    model = of_batch(batch).find(batch.ask.model)
    limits = limits_for(model, max_tokens=longest_written(model, batch.ask))
    writer = references.checked_writer(batch)
    if batch.rows * writer.least_bytes > MOST_PARTS * limits.item_bytes:
        raise BadInput(TOO_MANY_PARTS)
    progress = progress_of(batch, beat=beat)
    found = _CutParts()
    sources.refuse_changed(batch)
    repeats = _repeats(batch, writer, progress) if batch.ask.ask_once else None
    pieces = cut(
        draft_rows.read_many(batch), writer, total=batch.rows, limits=limits, repeats=repeats
    )
    to_be_written = found.taken(pieces, batch.ask, progress)
    found.parts += one_behind(partial(_write_part, batch), to_be_written)
    if found.rows != batch.rows:  # one that was cut short reads to its end without an error
        name = batch.converted_file or batch.source_file
        raise DamagedFile(
            f"The stored file {name} is damaged: it has {found.rows:,} rows in place of "
            f"{batch.rows:,}."
        )
    return found


def _repeats(batch: Batch, writer: ItemWriter, progress: Progress) -> Repeats:
    return Repeats(telling(draft_rows.read_rows(batch), progress), writer)


def _write_part(batch: Batch, piece: Cut) -> Part:
    part = Part(
        batch=batch,
        number=piece.number,
        first_row=piece.first_row,
        rows=len(piece.lines),
        request_bytes=piece.item_bytes,
        epoch=batch.epoch,  # for the names of its files: another worker may be cutting, too
    )
    part.rows_file = Compressed.of_lines(piece.lines).store(files.rows_path(part))
    if piece.copies:
        part.copies_file = copying.store(part, piece.copies)
    not_asked = {
        position: Answer(status.value, error=problem.once_skipped)
        for status, problems in (
            (AnswerStatus.INVALID, piece.invalid),
            (AnswerStatus.SKIPPED, piece.blank),
        )
        for position, problem in problems.items()
    }
    if not_asked:
        for field, value in (
            part_answers.merge(part, not_asked, missing=lambda _: None).store().items()
        ):
            setattr(part, field, value)
    return part


def _queue_or_refuse(batch: Batch, cut: _CutParts) -> None:
    if cut.in_the_way.count:
        are_blank = cut.blank_in_the_way == cut.in_the_way.count
        sentence = blank_rows_sentence if are_blank else invalid_rows_sentence
        _back_to_draft(batch, sentence(cut.in_the_way.count), cut.in_the_way.store(batch))
    elif cut.not_asked.count == batch.rows:
        _back_to_draft(batch, "No row of the file can be asked.", cut.not_asked.store(batch))
    else:
        _queue(batch, cut.parts)


def _queue(batch: Batch, parts: list[Part]) -> None:
    with transaction.atomic():
        moved = lifecycle.move_batch(
            batch,
            BatchStatus.QUEUED,
            event=f"Cut into {parts_phrase(len(parts))}.",
            part_count=len(parts),
            invalid=sum(part.invalid for part in parts),
            skipped=sum(part.skipped for part in parts),
        )
        if moved:
            Part.objects.bulk_create(parts)
    if moved:
        work_waits.send(Batch, batch=batch)


def _back_to_draft(batch: Batch, problem: str, rows: BatchChanges) -> None:
    changes: BatchChanges = {"problem": problem, "started_at": None, "started_by": None, **rows}
    lifecycle.move_batch(batch, BatchStatus.DRAFT, event=f"Not started: {problem}", **changes)
