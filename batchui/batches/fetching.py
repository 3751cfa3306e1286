"""Makes one poll: asks Cloudflare for the answers, reads and stores them, and says what came of it.

A reply that cannot be used is kept raw when a person is about to be asked about it.
"""

import logging
import tempfile
from contextlib import suppress
from datetime import timedelta
from typing import BinaryIO, cast

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from batchui.batches import patience
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import (
    OF_ONE_MODEL,
    GoneNow,
    Later,
    PollOutcome,
    Quarantined,
    RefusedForGood,
    StillUnderWay,
    TooLong,
    Unusable,
)
from batchui.batches.replies import MismatchError, absorb, keep_raw
from batchui.batches.steps import REPLY_IN_MEMORY
from batchui.cloudflare import errors
from batchui.cloudflare.protocol import BatchClient

logger = logging.getLogger(__name__)

# A reply is kept if a person is asked about it within so long: longer than a poll takes.
SOON = timedelta(minutes=5)


def fetch(part: Part, attempt: Attempt, *, client: BatchClient) -> PollOutcome:
    """Ask Cloudflare once how far a request is.

    A finished reply is read to a spool, decoded as a whole, and stored before this returns. This
    does not change the part.
    """
    with tempfile.SpooledTemporaryFile(REPLY_IN_MEMORY) as spool:
        reply = cast(BinaryIO, spool)
        try:
            return _fetch(part, attempt, client, reply)
        except errors.CloudflareError as exc:
            return _of_error(part, attempt, exc, reply)
        except DamagedFile as problem:
            return Unusable(str(problem), _last_odd_reply(part, attempt, reply, "damaged"))
        except OSError as exc:
            why = exc.strerror or exc
            return Later(
                f"The answers are there, but this server could not store them: {why}.", None
            )
        except (InterfaceError, OperationalError):
            raise  # the database: the lease runs out, and it is polled again
        except Exception:
            logger.exception("Part %s of batch %s: its reply", part.number, part.batch_id)
            return Later(
                "The answers are there, but batchui cannot read them, because of a mistake in "
                "batchui. Tell the person who runs batchui: the log says more.",
                None,
                reply_file=_last_reply(part, attempt, reply),
            )


def _of_error(
    part: Part, attempt: Attempt, error: errors.CloudflareError, reply: BinaryIO
) -> PollOutcome:
    message = error.user_message
    match error:
        case errors.Gone():
            return GoneNow(message)
        case errors.Refused():
            return RefusedForGood(message, error.code, error.raw)
        case errors.Oversized():
            return TooLong(message, _last_odd_reply(part, attempt, reply, "oversized"))
        case errors.NotSent():
            return Later(message, None, patient=True)
        case errors.Busy(needs_person=True):
            everywhere = error.code not in OF_ONE_MODEL
            return Later(
                message, error.wait, needs_person=True, everywhere=everywhere, raw=error.raw
            )
        case _:
            waits = isinstance(error, errors.Busy)
            kept = _last_reply(part, attempt, reply)
            return Later(message, error.wait, patient=waits, reply_file=kept, raw=error.raw)


def _fetch(part: Part, attempt: Attempt, client: BatchClient, spool: BinaryIO) -> PollOutcome:
    status = client.poll(part.batch.ask.model, attempt.request_id, spool)
    if status is not None:
        return StillUnderWay(status)
    is_last = patience.is_enough(part, "incomplete")
    try:
        return absorb(part, attempt, spool, is_last=is_last)
    except MismatchError as exc:
        return Quarantined(str(exc), _last_odd_reply(part, attempt, spool, "mismatch"))


def _last_reply(part: Part, attempt: Attempt, spool: BinaryIO) -> str:
    """Keep a reply that cannot be read, if a person is asked about it soon. "" if not."""
    soon = timezone.now() + SOON
    asks = patience.has_failed_for_hours(part, soon, patient=False)
    return _kept(part, attempt, spool) if asks else ""


def _last_odd_reply(part: Part, attempt: Attempt, spool: BinaryIO, kind: str) -> str:
    """Keep a reply that cannot be used, if it may be the last one. "" if not."""
    return _kept(part, attempt, spool) if patience.may_be_last(part, kind) else ""


def _kept(part: Part, attempt: Attempt, spool: BinaryIO) -> str:
    with suppress(OSError):  # what is wrong may be the storage
        if spool.seek(0, 2):
            return keep_raw(part, attempt, spool)
    return ""
