"""Receipts: stored whatever else happened, because without its receipt a result is lost.

One that the database does not take is kept in a file until then: the worker may be ended while it
waits, and the next one finds it there. The file is removed with those that nothing points to.
"""

import logging
import time
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.utils import timezone

from batchui.batches import call_limit, files, lifecycle, pauses
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import Compressed, DamagedFile, read_lines
from batchui.batches.due import release_like
from batchui.batches.models import Attempt, Part
from batchui.batches.patience import NOTHING_WRONG
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import TAKEN, AttemptStatus, PartStatus

logger = logging.getLogger(__name__)

RECEIPT_TRIES = 6


def accepted(part: Part, attempt: Attempt, request_id: str) -> None:
    """Store the receipt of a request, and let its part go on."""
    # 1. The receipt is stored whatever else has happened: without it the result is lost.
    keep_receipt(attempt, request_id)
    # 2. The part is queued, even if it became unsure meanwhile.
    event = f"Part {part.number} was accepted ({_rows_sent(attempt)})."
    if not queue(part, event):
        part.refresh_from_db()
        if part.status != PartStatus.UNSURE:
            lifecycle.note(part, _late(part, attempt))
        else:
            queue(part, f"Part {part.number}: the receipt came late. Nothing is sent twice.")
    # 3. What waited for this goes on.
    call_limit.recover(part.batch.connection)
    release_like(part)


def _late(part: Part, attempt: Attempt) -> str:
    """What a receipt means for the bill that came after its part had gone on."""
    late = f"Part {part.number}: Cloudflare had accepted a request that was in doubt."
    again = part.attempts.filter(number__gt=attempt.number)
    if again.filter(status__in=TAKEN).exists():
        return (
            f"{late} Its rows were sent again: {rows_phrase(attempt.items)} may be charged twice."
        )
    if again.filter(status__in=(AttemptStatus.WRITTEN, AttemptStatus.UNSURE)).exists():
        return f"{late} Its rows may have been sent again, and are charged twice then."
    return f"{late} Its answers are fetched before any of its rows is sent again."


def _rows_sent(attempt: Attempt) -> str:
    part, sent = attempt.part, attempt.positions
    if sent is None:
        return f"rows {part.first_row:,} to {part.last_row:,}"
    if len(sent) == part.rows - part.never_asked:  # all that can be asked
        return f"{len(sent):,} of rows {part.first_row:,} to {part.last_row:,}"
    first, last = part.first_row + sent[0], part.first_row + sent[-1]
    if len(sent) == 1:
        return f"row {first:,}"
    among = "" if len(sent) == last - first + 1 else f"{len(sent):,} of "
    return f"{among}rows {first:,} to {last:,}"


def keep_receipt(
    attempt: Attempt, request_id: str, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Store a receipt. If the database fails, keep it in a file and try again for half a minute.

    sleep: waits so many seconds. Raises the DatabaseError of the last try. Within a transaction
    there is only one try, because the transaction is broken then.
    """
    for tries in range(RECEIPT_TRIES):
        try:
            return lifecycle.store_receipt(attempt, request_id)
        except DatabaseError:
            logger.exception(
                "The receipt of attempt %s (part %s) is not stored yet: request_id %s",
                attempt.pk,
                attempt.part_id,
                request_id,
            )
            if tries == 0:
                _keep_in_file(attempt, request_id)
            if tries == RECEIPT_TRIES - 1 or connection.in_atomic_block:
                raise
            connection.close()
            sleep(2**tries)
    return None


def _keep_in_file(attempt: Attempt, request_id: str) -> None:
    try:
        Compressed.of_lines([request_id.encode()]).store(files.receipt_path(attempt))
    except Exception:  # whatever kind of storage it is, the database is tried again
        logger.exception("The receipt of attempt %s cannot be kept in a file either", attempt.pk)


def kept_in_file(attempt: Attempt) -> str:
    """The request id of an attempt whose receipt the database did not take; "" if none is kept."""
    try:
        [line] = read_lines(files.receipt_path(attempt), lines=1)
    except DamagedFile:
        return ""
    return line.decode().strip()


def queue(part: Part, event: str) -> bool:
    """Move a part that Cloudflare has accepted to `queued`, and plan the first poll."""
    queued: PartChanges = {
        **NOTHING_WRONG,
        "next_poll_at": timezone.now() + pauses.first_poll(part),
        "polls": 0,
    }
    return lifecycle.move_part(part, PartStatus.QUEUED, event=event, **queued)
