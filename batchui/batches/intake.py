"""From an upload to parts that are ready to send: receive, check, prepare."""

import itertools
import re
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import PurePath
from typing import Any, BinaryIO, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.core.files.base import File
from django.db import models, transaction
from django.utils import timezone

from batchui.batches import files, lifecycle, results
from batchui.batches.files import AnyFile
from batchui.batches.heartbeat import beat
from batchui.batches.models import Batch, Part
from batchui.batches.results import Answer
from batchui.batches.states import AnswerStatus, BatchStatus
from batchui.cloudflare.catalogue import Model, find
from batchui.prompts.checking import Report, check
from batchui.prompts.cutting import Cut, Limits, cut
from batchui.prompts.problems import BadInput
from batchui.prompts.readers import read
from batchui.prompts.rows import encode_row
from batchui.prompts.sniffing import Format, sniff
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team, User

HEAD_BYTES = 256 * 1024
LEASE = timedelta(minutes=2)
PROGRESS_SECONDS = 0.7
SHOWN_PROBLEMS = 20
EMBEDDING_ROWS = 500
# A reply is decoded whole: what a part may come back as, at four bytes a token.
REPLY_BYTES = 64_000_000


# What a batch that is run again takes over.
KEPT = (
    *("source_name", "source_format", "sample", "model", "template", "instruction"),
    *("max_tokens", "temperature", "source_lang", "target_lang", "reference_column", "as_items"),
    *("options", "leave_out_invalid", "resend_once"),
)


class LostItError(Exception):
    """Another worker has the batch now, or it was deleted."""


# -- receive ------------------------------------------------------------------------------------


def receive(
    upload: AnyFile, *, team: Team, by: User | None, name: str = "", source_name: str = ""
) -> Batch:
    """Take in a file: look at its beginning, store it untouched, and make a batch of it that is
    `checking`. Nothing is left behind when it raises.

    Raises BadInput with a sentence for a file that cannot be read or is too large.
    """
    source_name = PurePath((source_name or upload.name or "file").replace("\\", "/")).name[-200:]
    size = upload.size
    if size > settings.MAX_UPLOAD_BYTES:
        raise too_large(size)
    upload.seek(0)
    head = upload.read(HEAD_BYTES)
    form = sniff(head, name=source_name, whole=size <= len(head))
    upload.seek(0)
    sample = _first_rows(cast(BinaryIO, upload), form)
    upload.seek(0)
    return _store(
        upload,
        team=team,
        by=by,
        source_name=source_name,
        name=name or _free_name(team, PurePath(source_name).stem),
        source_format=form.to_dict(),
        sample=sample,
    )


def too_large(size: int) -> BadInput:
    """What is said of an upload of so many bytes, where they are over the limit."""
    limit = settings.MAX_UPLOAD_BYTES
    return BadInput(
        f"The file has {_size(size)}, and the limit is {_size(limit)}. Cut it into smaller files, "
        "and upload them one by one."
    )


def run_again(batch: Batch, *, by: User | None) -> Batch:
    """A new draft with the same file and settings, to be edited before its start."""
    with files.open_file(batch.source_file) as source:
        return _store(
            File(source, batch.source_name),
            team=batch.team,
            by=by,
            name=_free_name(batch.team, batch.name),
            **{field: getattr(batch, field) for field in KEPT},
        )


def _store(upload: AnyFile, *, team: Team, by: User | None, **fields: Any) -> Batch:
    # 1. The file, under the id the batch will have.
    batch_id = uuid4()
    stored_as = f"batches/{batch_id}/source/{PurePath(fields['source_name']).suffix or '.txt'}"
    stored_as = stored_as.replace("/.", "/upload.")
    try:
        size, sha256 = files.save_source(stored_as, upload)
        # 2. The batch that points to it.
        with transaction.atomic():
            batch = Batch.objects.create(
                id=batch_id,
                team=team,
                connection=ensure_connection(team),
                created_by=by,
                source_file=stored_as,
                source_size=size,
                source_sha256=sha256,
                **fields,
            )
            lifecycle.record(batch, "uploaded", f"“{batch.source_name}” was uploaded.", by=by)
    except BaseException:
        files.remove_batch_files(batch_id)
        raise
    return batch


def _first_rows(stream: BinaryIO, form: Format, count: int = 20) -> list[str]:
    """The first rows as JSON texts, as far as they can be read; the check reports what cannot."""
    rows: list[str] = []
    try:
        for row in read(stream, form):
            rows.append(encode_row(row.cells).decode())
            if len(rows) == count:
                break
    except BadInput:
        if not rows:
            raise
    return rows


def discard(batch: Batch) -> None:
    """Remove a batch that was never started, as if it had not been received."""
    if Batch.objects.filter(pk=batch.pk, part_count=0).delete()[0]:
        files.remove_batch_files(batch.pk)


# -- check --------------------------------------------------------------------------------------


def check_file(batch_id: UUID) -> None:
    """Read the whole upload: count its rows, find what is wrong with any, and make it a draft."""
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.CHECKING).first()
    if batch is None or not lifecycle.claim_batch(batch, LEASE):
        return
    try:
        report = check(
            lambda: files.open_file(batch.source_file),
            batch.format,
            progress=_progress(batch),
            max_rows=settings.MAX_ROWS,
        )
    except BadInput as problem:
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"The file cannot be used: {problem}",
            problem=str(problem),
            problem_rows=[],
        )
    except LostItError:
        return
    else:
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"The file was checked: {report.rows:,} rows.",
            **_facts(report),
        )


def _facts(report: Report) -> dict[str, Any]:
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
        "sample": [encode_row(cells).decode() for cells in report.sample],
    }


# -- prepare ------------------------------------------------------------------------------------


def prepare(batch_id: UUID) -> None:
    """Cut a started batch into parts and queue it. Where rows cannot be asked and the person has
    not said to leave them out, it becomes a draft again that names them; nothing is sent."""
    batch = Batch.objects.filter(pk=batch_id, status=BatchStatus.PREPARING).first()
    if batch is None or not lifecycle.claim_batch(batch, LEASE):
        return
    invalid: dict[int, str] = {}
    try:
        parts, left_out = _cut_into_parts(batch, invalid)
    except BadInput as problem:
        _back_to_draft(batch, str(problem), [])
        return
    except LostItError:
        return
    if left_out and not batch.leave_out_invalid:
        rows = [{"row": row, "sentence": sentence} for row, sentence in invalid.items()]
        _back_to_draft(batch, rows_left_out(left_out), rows)
    elif left_out == batch.rows:
        _back_to_draft(batch, "No row of the file can be asked: every prompt comes out blank.", [])
    else:
        _queue(batch, parts)


def rows_left_out(count: int) -> str:
    """The sentence about rows that cannot be asked."""
    if count == 1:
        return "1 row cannot be asked. Correct it in the file, or leave it out."
    return f"{count:,} rows cannot be asked. Correct them in the file, or leave them out."


def limits_for(model: Model, *, max_tokens: int) -> Limits:
    """How large a part may be for a model, so that its reply can be taken in whole."""
    if model.task == "embedding":
        return Limits(rows=EMBEDDING_ROWS)
    if model.task == "translation":
        return Limits()
    return Limits(rows=max(1, min(Limits().rows, REPLY_BYTES // (4 * max(max_tokens, 1)))))


def _cut_into_parts(batch: Batch, invalid: dict[int, str]) -> tuple[list[Part], int]:
    """Write the rows of every part, one part in memory at a time. Returns the parts, not yet in
    the database, and how many rows are invalid; the first of those go into `invalid`."""
    model = find(batch.model)
    progress = _progress(batch)
    parts, left_out, row = [], 0, 0
    with files.open_file(batch.source_file) as source:
        cuts = cut(
            read(source, batch.format),
            results.item_writer(batch, model.takes),
            total=batch.rows,
            limits=limits_for(model, max_tokens=batch.max_tokens),
        )
        for piece in cuts:
            row += len(piece.lines)
            left_out += len(piece.invalid)
            for position, sentence in piece.invalid.items():
                if len(invalid) < SHOWN_PROBLEMS:
                    invalid[piece.first_row + position] = sentence
            if not left_out or batch.leave_out_invalid:
                parts.append(_write_part(batch, piece))
            progress(row, 0)
    return parts, left_out


def _write_part(batch: Batch, piece: Cut) -> Part:
    rows_file = f"batches/{batch.pk}/parts/{piece.number}/rows.jsonl.zst"
    files.write_lines(rows_file, piece.lines)
    part = Part(
        batch=batch,
        number=piece.number,
        first_row=piece.first_row,
        rows=len(piece.lines),
        rows_file=rows_file,
    )
    if piece.invalid:
        left_out = {
            position: Answer(AnswerStatus.INVALID.value, error=sentence)
            for position, sentence in piece.invalid.items()
        }
        for field, value in results.merge(part, left_out, missing=lambda _: None).items():
            setattr(part, field, value)
    return part


def _queue(batch: Batch, parts: list[Part]) -> None:
    with transaction.atomic():
        moved = lifecycle.move_batch(
            batch,
            BatchStatus.QUEUED,
            event=f"Cut into {len(parts):,} {'part' if len(parts) == 1 else 'parts'}.",
            part_count=len(parts),
            invalid=sum(part.invalid for part in parts),
        )
        if moved:
            Part.objects.bulk_create(parts)


def _back_to_draft(batch: Batch, problem: str, rows: list[dict[str, Any]]) -> None:
    lifecycle.move_batch(
        batch,
        BatchStatus.DRAFT,
        event=f"Not started: {problem}",
        problem=problem,
        problem_rows=rows,
        started_at=None,
    )


# -- shared -------------------------------------------------------------------------------------


def left_lying() -> list[Batch]:
    """Batches to check or prepare that no worker has: their task was lost, or their worker died."""
    now = timezone.now()
    nobodys = models.Q(lease_until__lt=now) | models.Q(
        lease_until=None, created_at__lt=now - timedelta(seconds=15)
    )
    return list(
        Batch.objects.filter(
            nobodys, status__in=(BatchStatus.CHECKING, BatchStatus.PREPARING), deleted_at=None
        )[:20]
    )


def _progress(batch: Batch) -> Callable[[int, int], None]:
    """What a long reading calls as it goes: shows how far it is, keeps the lease, and beats, so
    that nobody takes a long file for a worker that hangs.

    It raises LostItError when the batch was deleted or another worker took it over.
    """
    last = time.monotonic()

    def report(rows: int, _bytes: int) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_SECONDS:
            return
        last = time.monotonic()
        if not lifecycle.touch_batch(batch, progress_rows=rows, lease_until=timezone.now() + LEASE):
            raise LostItError
        beat()

    return report


def _size(size: int) -> str:
    if size < 10 * 1024 * 1024:
        return f"{-(-size // 1024):,} KB"
    return f"{size / 1024 / 1024:,.1f} MB"


def _free_name(team: Team, name: str) -> str:
    """The name, with a number behind it where a batch of the team has it already."""
    stem = re.sub(r" \(\d{1,3}\)$", "", name)[:180]
    taken = set(
        Batch.objects.of_team(team).filter(name__startswith=stem).values_list("name", flat=True)
    )
    numbered = (f"{stem} ({number})" for number in itertools.count(2))
    return next(free for free in itertools.chain([name[:200]], numbered) if free not in taken)
