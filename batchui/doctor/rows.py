"""Invariants 1 and 2: each row has one fate, and an answer belongs to its row."""

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import msgspec

from batchui.batches import exporting, results, sources
from batchui.batches.compressed import DamagedFile, read_compressed
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.phrases import rows_phrase
from batchui.batches.results import NOTHING, Answer
from batchui.batches.settling import SUMMED
from batchui.batches.states import OPEN_PARTS, AnswerStatus, AttemptStatus
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import decode
from batchui.doctor.findings import FROM_BACKUP, LOOK_AT_LOG, Finding
from batchui.doctor.ledger import sha256_of
from batchui.doctor.records import Record
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.readers import Row, read
from batchui.prompts.reading.rows import encode_row

# In a `Result`: the status of a row that has none of its own yet.
NO_STATUS = ""


class _UploadUnreadableError(Exception):
    """The upload cannot be read. str() says why."""


class _Line(msgspec.Struct):
    """A row of a download in JSONL, as far as it is looked at."""

    row: int
    status: str


_downloaded_lines = msgspec.json.Decoder(_Line).decode_lines


def each_row_has_one_fate(record: Record) -> Iterator[Finding]:
    """Invariant 1: each row of an accepted file has one fate, and the fates agree.

    The parts hold every row of the file once. Their files say of each row what their counts say,
    the batch has the sums, and a download has the same rows with the same fates.
    """
    if not record.is_started:
        return
    yield from _rows_are_in_parts(record)
    yield from _sums_agree(record)
    yield from _files_agree(record)
    yield from _download_agrees(record)


def _rows_are_in_parts(record: Record) -> Iterator[Finding]:
    batch = record.batch
    first_row = _first_row(record)
    next_row = first_row
    for number, part in enumerate(record.parts, 1):
        if part.number != number or part.first_row != next_row or part.rows < 1:
            yield record.finding(
                1,
                "rows and parts",
                f"Part {part.number} begins with row {part.first_row:,} and has "
                f"{rows_phrase(part.rows)}; the parts before it end with row {next_row - 1:,}.",
                part=part,
                row=next_row,
                do=LOOK_AT_LOG,
            )
            return
        next_row += part.rows
    rows = next_row - first_row
    if rows != batch.rows or len(record.parts) != batch.part_count:
        yield record.finding(
            1,
            "rows and parts",
            f"The file has {rows_phrase(batch.rows)} in {batch.part_count:,} parts, and on record "
            f"are {len(record.parts):,} parts with {rows_phrase(rows)}.",
            row=next_row,
            do=LOOK_AT_LOG,
        )


def _first_row(record: Record) -> int:
    """The number of the first row. Batches of older versions, which keep none, count from 1."""
    batch = record.batch
    if "first_row" not in batch.source_format and record.parts and record.parts[0].first_row == 1:
        return 1
    return batch.format.first_row


def _sums_agree(record: Record) -> Iterator[Finding]:
    for name in SUMMED:
        total = sum(getattr(part, name) for part in record.parts)
        if getattr(record.batch, name) != total:
            yield record.finding(
                1,
                f"sum of {name}",
                f"The batch counts {getattr(record.batch, name):,} as “{name}”, and its parts "
                f"count {total:,}.",
                do=f"{LOOK_AT_LOG} The next move of any of its parts counts again.",
            )


def _files_agree(record: Record) -> Iterator[Finding]:
    """The rows of the parts are those of the upload, and their fates those that are counted."""
    batch = record.batch
    try:
        with closing(_rows_of_upload(batch)) as upload:
            for part in record.parts:
                yield from _part_agrees(record, part, upload)
    except _UploadUnreadableError as problem:
        yield record.finding(
            1,
            "upload",
            f"The upload {batch.converted_file or batch.source_file} cannot be read: {problem}",
            do=FROM_BACKUP,
        )


def _rows_of_upload(batch: Batch) -> Generator[Row, None, None]:
    """The rows of the upload, as they are read now."""
    try:
        with sources.open_rows(batch) as source:
            yield from read(source, batch.format)
    except (OSError, BadInput, DamagedFile) as problem:
        raise _UploadUnreadableError(str(problem)) from problem


def _part_agrees(record: Record, part: Part, upload: Iterator[Row]) -> Iterator[Finding]:
    counted: Counter[str] = Counter()
    wrong_row = 0
    try:
        for result in results.part_results(part):
            counted[result.status] += 1
            row = next(upload, None)
            if not wrong_row and not _has_cells(row, result.cells):
                wrong_row = result.row
    except (DamagedFile, OSError, msgspec.MsgspecError, ValueError) as problem:
        yield record.finding(1, "stored file", f"{problem}", part=part, do=FROM_BACKUP)
        for _ in range(part.rows - counted.total()):  # the rows of the next part follow
            next(upload, None)
        return
    if wrong_row:
        yield record.finding(
            1,
            "cells",
            f"Row {wrong_row:,} of the stored part is not row {wrong_row:,} of the upload.",
            part=part,
            row=wrong_row,
            do=LOOK_AT_LOG,
        )
    for status in AnswerStatus:
        if counted[status.value] != getattr(part, status.value):
            yield record.finding(
                1,
                f"count of {status.value}",
                f"{rows_phrase(getattr(part, status.value))} count as “{status.value}”, and the "
                f"stored files have {counted[status.value]:,}.",
                part=part,
                do=LOOK_AT_LOG,
            )
    if counted[NO_STATUS] and part.status not in OPEN_PARTS:
        yield record.finding(
            1,
            "rows without a fate",
            f"The part is {part.status}, and {rows_phrase(counted[NO_STATUS])} of it still wait.",
            part=part,
            do=LOOK_AT_LOG,
        )


def _has_cells(row: Row | None, cells: Cells | None) -> bool:
    """Whether a row of the upload has these cells, in which an object's values stay JSON."""
    return row is not None and cells is not None and encode_row(row.cells) == encode_row(cells)


def _download_agrees(record: Record) -> Iterator[Finding]:
    """A download has every row once, in order; and the fates that the batch counts.

    Work may go on while it is read. The fates are compared if nothing moved meanwhile.
    """
    counted: Counter[str] = Counter()
    number = first_row = _first_row(record)
    try:
        for chunk in exporting.jsonl(record.batch):
            for line in _downloaded_lines(chunk):
                counted[line.status] += 1
                if line.row != number:
                    yield record.finding(
                        1,
                        "download",
                        f"A download has row {line.row:,} in the place of row {number:,}.",
                        row=number,
                        do=LOOK_AT_LOG,
                    )
                    return
                number += 1
    except (DamagedFile, OSError, msgspec.MsgspecError, ValueError) as problem:
        yield record.finding(
            1, "download", f"It cannot be downloaded: {problem}", row=number, do=FROM_BACKUP
        )
        return
    version = Batch.objects.values_list("version", flat=True).filter(pk=record.batch.pk).first()
    if version != record.batch.version:
        return
    wanted = {status: n for status, n in record.batch.answer_counts().items() if n}
    waiting = counted.pop(exporting.WAITING, 0)
    rows = number - first_row
    if rows != record.batch.rows or waiting != record.batch.waiting or counted != wanted:
        yield record.finding(
            1,
            "fates in a download",
            f"A download has {rows_phrase(rows)}: {_listed(counted, waiting)}. The batch has "
            f"{rows_phrase(record.batch.rows)}: {_listed(wanted, record.batch.waiting)}.",
            do=LOOK_AT_LOG,
        )


def _listed(counts: Any, waiting: int) -> str:
    listed = [f"{n:,} {status}" for status, n in sorted({**counts, "waiting": waiting}.items())]
    return ", ".join(listed)


def each_answer_belongs_to_its_row(record: Record) -> Iterator[Finding]:
    """Invariant 2: an answer belongs to its row.

    The answer of a row is one that a stored reply gives at the place at which its request had the
    row; and the request that the API has on record had these rows. Of a reply that is not whole yet
    the answers are kept, and the reply itself is not: of those rows nothing can be said.
    """
    for part in record.parts:
        for attempt in record.attempts(part):
            yield from _sent_these_rows(record, part, attempt)
        if part.answers_file and (part.answered or part.empty):
            yield from _answers_stand_in_replies(record, part)


def _sent_these_rows(record: Record, part: Part, attempt: Attempt) -> Iterator[Finding]:
    known = record.scope.ledger.accepted.get(attempt.request_id)
    if known is None:
        return
    differs = known.size != attempt.payload_size or known.items not in (None, attempt.items)
    if not differs and known.sha256:
        made_again = sha256_of(attempt)
        differs = bool(made_again) and made_again != known.sha256
    if differs:
        yield record.finding(
            2,
            f"request {attempt.number}",
            f"What the API has under the receipt of attempt {attempt.number} is not what the rows "
            "of this part make.",
            part=part,
            since=attempt.created_at,
            do=LOOK_AT_LOG,
        )


def _answers_stand_in_replies(record: Record, part: Part) -> Iterator[Finding]:
    given: dict[int, list[Answer]] = {}
    try:
        for attempt in record.attempts(part):
            if attempt.status == AttemptStatus.ANSWERED and attempt.reply_file:
                for position, answer in _in_reply(attempt):
                    given.setdefault(position, []).append(answer)
        for position, stored in enumerate(results.read_answers(part)):
            if stored is None or stored.status not in ("answered", "empty"):
                continue
            # What has another fate in them came in a reply that was not whole, which is not stored.
            comparable = [one for one in given.get(position, ()) if one.status == stored.status]
            if comparable and not any(_same(stored, one) for one in comparable):
                yield record.finding(
                    2,
                    "answer",
                    "The stored replies have another answer at the place of this row.",
                    part=part,
                    row=part.first_row + position,
                    do=LOOK_AT_LOG,
                )
                return
    except (DamagedFile, OSError, BadReply, msgspec.MsgspecError, ValueError) as problem:
        yield record.finding(2, "stored reply", f"{problem}", part=part, do=FROM_BACKUP)


def _in_reply(attempt: Attempt) -> Iterator[tuple[int, Answer]]:
    """The answers in the stored reply to an attempt, by position in the part."""
    body = b"".join(read_compressed(attempt.reply_file))
    positions = attempt.positions
    for item in decode(body, request_id=attempt.request_id).items:
        if item.index is None or not 0 <= item.index < attempt.items:
            continue
        answer = NOTHING if item.answer is None else msgspec.Raw(item.answer)
        yield positions[item.index] if positions else item.index, Answer(item.status, answer)


def _same(one: Answer, other: Answer) -> bool:
    return bytes(one.answer) == bytes(other.answer)
