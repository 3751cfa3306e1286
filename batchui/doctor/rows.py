"""Invariant 1: each row of a file has one fate, and all that is kept of it agrees."""

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import msgspec

from batchui.batches import exporting, part_answers, results, sources
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import rows_phrase
from batchui.batches.settling import ANSWER_FIELDS, SUMMED
from batchui.batches.sheet import digesting
from batchui.batches.sheet_models import HAS_DIGEST
from batchui.batches.states import OPEN_PARTS
from batchui.doctor.findings import FROM_BACKUP, LOOK_AT_LOG, Finding
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


def digests_fit(record: Record) -> Iterator[Finding]:
    """Invariant 1, of the sheet: a digest says what those answers say of which it is one."""
    digested = Part.objects.filter(HAS_DIGEST, batch=record.batch).select_related("digest")
    for part in digested.order_by("number"):
        halves = {"reasons": part.digest.reasons, "fields": part.digest.fields}
        kept = msgspec.convert(halves, digesting.Summary)
        if kept != digesting.summary_of(record.batch, part):
            yield record.finding(
                1,
                "digest",
                "Its digest says something else than its answers, so filters and bars are wrong.",
                part=part,
                do=LOOK_AT_LOG,
            )


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
    read = wrong_row = 0
    try:
        for result in results.part_results(part):
            read += 1
            counted[result.status] += 1
            counted[part_answers.EDITED] += result.edit is not None
            counted[part_answers.CUT] += part_answers.is_cut(result.status, result.error)
            row = next(upload, None)
            if not wrong_row and not _has_cells(row, result.cells):
                wrong_row = result.row
    except (DamagedFile, OSError, msgspec.MsgspecError, ValueError) as problem:
        yield record.finding(1, "stored file", f"{problem}", part=part, do=FROM_BACKUP)
        for _ in range(part.rows - read):  # the rows of the next part follow
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
    for name in (*ANSWER_FIELDS, part_answers.EDITED, part_answers.CUT):
        if counted[name] != getattr(part, name):
            yield record.finding(
                1,
                f"count of {name}",
                f"{rows_phrase(getattr(part, name))} count as “{name}”, and the stored files have "
                f"{counted[name]:,}.",
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
    waiting = counted.pop(results.WAITING, 0)
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
