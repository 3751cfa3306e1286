"""Makes a batch of the answers to a request that somebody else has sent.

Its file is made of what the reply says of each item: its number, and its reference. What was asked
is not known, so nothing of it can be sent again (`Batch.is_looked_up`).
"""

import csv
import io
from collections.abc import Sequence
from typing import IO, NamedTuple

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from batchui.batches import draft_rows, files, intake, lifecycle, replies
from batchui.batches.catalogues import catalogue_of
from batchui.batches.compressed import Compressed
from batchui.batches.lifecycle import Closing
from batchui.batches.look_up_models import LookUp, LookUpStatus
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Answered
from batchui.batches.phrases import counted
from batchui.batches.replies import MOST_TIMES, MismatchError
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import ONE_IN_MEMORY
from batchui.cloudflare.replies import ItemReply, decode
from batchui.prompts.ask import Ask
from batchui.prompts.reading.rows import encode_row

# The columns of its file. Cloudflare counts items from 0.
NUMBER, REFERENCE = "item", "external_reference"
# Of a request id: so many characters tell it from others.
SHORT = 8
NO_ANSWERS = "The request has ended, and its reply has no answer in it."
ODD_NUMBERS = "The numbers in the reply do not count its answers, so they cannot be put into rows."


class TakenOver(Exception):
    """Somebody has forgotten the look-up meanwhile, or another worker was faster."""


class Numbering(NamedTuple):
    """What a reply says of the items that were sent: how many, and the references by number."""

    rows: int
    references: dict[int, str]


def keep(look_up: LookUp, spool: IO[bytes]) -> Batch:
    """Make the batch of a finished reply, which is in `spool`.

    All of it, or nothing. Raises BadReply for no finished reply, MismatchError for one whose items
    contradict one another, BadInput, TakenOver, and the OSError of a storage.
    """
    with ONE_IN_MEMORY:
        spool.seek(0)
        sent = numbering_of(decode(spool.read(), request_id=look_up.request_id).items)
    stored: list[Batch] = []
    try:
        with transaction.atomic():
            batch = _draft(look_up, sent)
            stored.append(batch)
            _answer(look_up, batch, spool)
            return batch
    except BaseException:
        for batch in stored:
            files.remove_batch_files(batch.pk)
        raise


def numbering_of(items: Sequence[ItemReply]) -> Numbering:
    """The numbers of items; their places in the reply, where any has none. Raises MismatchError."""
    if not items:
        raise MismatchError(NO_ANSWERS)
    by_place = any(item.index is None for item in items)
    numbers = [at if by_place else item.index or 0 for at, item in enumerate(items)]
    rows = 1 + max(numbers)
    if rows > MOST_TIMES * len(items) or min(numbers) < 0:
        raise MismatchError(ODD_NUMBERS)
    named = zip(numbers, items, strict=True)
    return Numbering(rows, {at: item.reference for at, item in named if item.reference})


def _draft(look_up: LookUp, sent: Numbering) -> Batch:
    short = look_up.request_id[:SHORT]
    batch = intake.receive(
        ContentFile(_file_of(sent), f"request-{short}.csv"),
        team=look_up.team,
        by=look_up.created_by,
        name=f"Request {short}",
        ask=Ask(model=look_up.model),
        check_now=True,
    )
    Batch.objects.filter(pk=batch.pk).update(is_looked_up=True, connection=look_up.connection)
    told = f"The request {look_up.request_id} was looked up."
    batch.events.update(text=told)  # nobody has uploaded it
    batch.refresh_from_db()
    return batch


def _file_of(sent: Numbering) -> bytes:
    """A line for each item, with its number and, where any has one, its reference."""
    references = sent.references
    written = io.StringIO(newline="")
    out = csv.writer(written)
    out.writerow([NUMBER, REFERENCE] if references else [NUMBER])
    for at in range(sent.rows):
        out.writerow([at, references.get(at, "")] if references else [at])
    return written.getvalue().encode("utf-8", "replace")


def _answer(look_up: LookUp, batch: Batch, spool: IO[bytes]) -> None:
    """Take a draft to its end: one part, one request, and the answers of its reply."""
    now = timezone.now()
    prices = catalogue_of(look_up.connection).prices_of(look_up.model)
    lifecycle.move_batch(
        batch,
        BatchStatus.PREPARING,
        event="Started elsewhere.",
        by=look_up.created_by,
        started_at=look_up.created_at,
        started_by=look_up.created_by,
        usd_read=prices.read,
        usd_written=prices.written,
    )
    lifecycle.move_batch(batch, BatchStatus.QUEUED, event="It has one part.", part_count=1)
    part = Part(batch=batch, number=1, first_row=batch.first_row, rows=batch.rows)
    part.epoch, part.status, part.polls = batch.epoch, PartStatus.QUEUED, look_up.looks
    lines = (encode_row(row.cells) for row in draft_rows.read_rows(batch))
    part.rows_file = Compressed.of_lines(lines).store(files.rows_path(part))
    part.save()
    attempt = Attempt.objects.create(
        part=part,
        number=1,
        items=part.rows,
        payload_size=0,
        status=AttemptStatus.ACCEPTED,
        request_id=look_up.request_id,
        accepted_at=look_up.created_at,
    )
    came = replies.absorb(part, attempt, spool, is_last=True)
    if not isinstance(came, Answered):  # the last look takes whatever there is
        raise MismatchError(NO_ANSWERS)
    closing = Closing(
        attempt, AttemptStatus.ANSWERED, reply_file=came.reply_file, in_vain=came.in_vain
    )
    text = f"{counted(came.changes['answered'], 'answer')} came with it."
    lifecycle.settle_answers(part, came.changes, closing=closing, event=text)
    mine = LookUp.objects.filter(pk=look_up.pk, epoch=look_up.epoch)
    if not mine.update(
        status=LookUpStatus.KEPT,
        message="",
        looks=look_up.looks + 1,
        looked_at=now,
        lease_until=None,
        batch=batch,
    ):
        raise TakenOver
