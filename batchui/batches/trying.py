"""Asks the rows of tries, one by one, through the synchronous run.

A row is claimed before it is asked, and no row is asked twice: what was asked without an answer is
`unclear`, and stays so. Whoever wants to know presses Try once more.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import call_limit, claims, pictures, sending
from batchui.batches.answer_reading import answer_of
from batchui.batches.clients import shared_client
from batchui.batches.clock import LONGEST_LEASE, is_over
from batchui.batches.outcomes import OnHold
from batchui.batches.part_answers import NOTHING
from batchui.batches.prepared import prepared
from batchui.batches.steps import PART_LEASE
from batchui.batches.try_models import UNDER_WAY, TriedRow, TriedStatus, Try
from batchui.cloudflare import errors
from batchui.cloudflare.protocol import BatchClient
from batchui.cloudflare.replies import Usage, read_result, usage_of
from batchui.pictures.problems import NoPicture
from batchui.pictures.scaling import media_type
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.items import longest_in
from batchui.prompts.pictures import with_picture
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)

# In bytes of JSON. Of a longer answer the beginning is kept: a try is looked at, not downloaded.
LONGEST_ANSWER = 50_000
# A row that no worker has asked for so long is not asked any more: nobody waits for it.
WAITS = timedelta(minutes=10)

PAUSED = "Nothing is sent at the moment. Try again later."
NO_TOKENS = Usage(0, 0)
MAYBE_CHARGED = "It may have been charged. Try again if you want to ask it once more."
NO_ANSWER = f"No answer came back. {MAYBE_CHARGED}"
CUT_OFF = f"The worker that asked this row stopped half-way. {MAYBE_CHARGED}"
NOBODY_ASKED = (
    "No worker asked this row within ten minutes, so it is not asked any more. Try again when the "
    "background work runs."
)
OUR_MISTAKE = (
    "No answer came back, because of a mistake in batchui. Tell the person who runs batchui: the "
    f"log says more. {MAYBE_CHARGED}"
)


@dataclass(frozen=True)
class Told:
    """What came of asking a row. answer: JSON on one line."""

    status: TriedStatus
    answer: str = ""
    error: str = ""
    code: int | None = None
    usage: Usage = NO_TOKENS


def waiting(limit: int) -> list[TriedRow]:
    """Up to `limit` rows to ask now, those that have waited longest first."""
    if not _some_wait():  # as nearly always; to ask for whole rows costs more
        return []
    rows = _all_waiting().order_by("pk")
    return list(rows.select_related("in_try__connection")[:limit])


@prepared()
def _some_wait() -> QuerySet[Any, Any]:
    return _all_waiting().order_by().values_list("pk")[:1]


def _all_waiting() -> QuerySet[TriedRow]:
    return TriedRow.objects.filter(status=TriedStatus.WAITING, in_try__batch__deleted_at=None)


def ask(row: TriedRow) -> bool:
    """Ask one row that waits: claim it, make the call, keep what came of it.

    Nothing is asked through a connection that is paused: then the rest of its try ends, with the
    reason. Returns whether Cloudflare was called.
    """
    if reason := why_paused(row.connection):
        end_waiting(row.in_try, reason)
        return False
    if not claim(row):
        return False
    try:
        client = shared_client(row.connection)
    except TeamProblem as problem:  # the token cannot be read
        _keep(row, Told(TriedStatus.NOT_ASKED, error=str(problem)))
        end_waiting(row.in_try, str(problem))
        sending.wait_for_person(row.connection, str(problem))
        return False
    asked = row.in_try.ask
    try:
        item = _with_its_picture(row)
    except NoPicture as problem:
        _keep(row, Told(TriedStatus.NOT_ASKED, error=str(problem)))
        return False
    began = time.monotonic()
    outcome = post(client, model=asked.model, item=item, columns=asked.answer_columns)
    apply_outcome(row, outcome, seconds=time.monotonic() - began)
    return True


def _with_its_picture(row: TriedRow) -> bytes:
    """The item of a row as it is sent. Raises NoPicture."""
    item = row.item.encode()
    if not row.picture:
        return item
    picture = pictures.picture(row.in_try.batch, row.picture)
    return with_picture(item, picture, media_type(picture))


def post(
    client: BatchClient, *, model: str, item: bytes, columns: Sequence[AnswerColumn] = ()
) -> Told | OnHold:
    """Make the call and return what came of it. Changes nothing in the database."""
    try:
        result = client.run(model, item)
    except errors.NotSent as exc:
        return Told(TriedStatus.NOT_ASKED, error=exc.user_message)
    except errors.Busy as exc:
        return sending.on_hold(exc)
    except errors.Refused as exc:
        return Told(TriedStatus.FAILED, error=_with_code(exc.user_message, exc), code=exc.code)
    except errors.CloudflareError as exc:
        logger.warning("A row that is tried has no answer: %s", exc)
        return Told(TriedStatus.UNCLEAR, error=_with_code(NO_ANSWER, exc), code=exc.code)
    except Exception:
        logger.exception("A row that is tried may have been asked, and its answer was lost")
        return Told(TriedStatus.UNCLEAR, error=OUR_MISTAKE)
    return read(result, columns, asked=item)


def _with_code(sentence: str, error: errors.CloudflareError) -> str:
    """The sentence, with the code of an error that was not recognised."""
    return f"{sentence} Cloudflare's code: {error.code}." if error.raw and error.code else sentence


def read(result: bytes, columns: Sequence[AnswerColumn] = (), *, asked: bytes = b"") -> Told:
    """What the `result` of a run says, for answers wanted in these columns.

    asked: the item that was sent; b"" if it is not known.
    """
    item = read_result(result)
    needs_limit = asked and item.cut is None and item.usage is not None
    found = answer_of(item, columns, longest=longest_in(asked) if needs_limit else None)
    return Told(
        TriedStatus(found.status),
        answer="" if found.answer == NOTHING else _shortened(bytes(found.answer)),
        error=found.error or "",
        usage=usage_of(item.usage),
    )


def _shortened(answer: bytes) -> str:
    """An answer as it is, or the beginning of a long one as a text."""
    if len(answer) <= LONGEST_ANSWER:
        return answer.decode()
    is_text = answer.startswith(b'"')
    text = msgspec.json.decode(answer, type=str) if is_text else answer.decode()
    return msgspec.json.encode(f"{text[: LONGEST_ANSWER // 4]} …").decode()


def apply_outcome(row: TriedRow, outcome: Told | OnHold, *, seconds: float) -> None:
    """Keep what came of a call; where Cloudflare takes none now, end the try and pause."""
    if isinstance(outcome, Told):
        _keep(row, outcome, seconds=seconds)
        if outcome.status not in (TriedStatus.UNCLEAR, TriedStatus.NOT_ASKED):
            call_limit.recover(row.connection)
        return
    _keep(row, Told(TriedStatus.NOT_ASKED, error=outcome.message, code=outcome.code))
    end_waiting(row.in_try, outcome.message)
    if not outcome.everywhere:
        return
    if outcome.resume_at is None:
        sending.wait_for_person(row.connection, outcome.message)
    else:
        call_limit.pause(row.connection, until=outcome.resume_at, reason=outcome.message)


def why_paused(connection: Connection) -> str:
    """Why nothing may be asked through a connection now; "" if it may."""
    paused = Connection.objects.exclude(call_limit.not_paused()).filter(pk=connection.pk)
    reason = paused.values_list("pause_reason", flat=True).first()
    return "" if reason is None else reason or PAUSED


def claim(row: TriedRow) -> bool:
    """Take a row that waits. False: another worker has it, or it was stopped."""
    now = timezone.now()
    mine = TriedRow.objects.filter(pk=row.pk, status=TriedStatus.WAITING)
    won = mine.update(
        status=TriedStatus.ASKING,
        epoch=row.epoch + 1,
        lease_until=now + PART_LEASE,
        asked_at=now,
    )
    if won:
        claims.remember(row, epoch=row.epoch + 1)
    return bool(won)


def _keep(row: TriedRow, told: Told, *, seconds: float | None = None) -> None:
    """Keep what came of a row. An answer that comes after its lease is over counts, too."""
    still = (TriedStatus.ASKING, TriedStatus.UNCLEAR)
    TriedRow.objects.filter(pk=row.pk, epoch=row.epoch + 1, status__in=still).update(
        status=told.status,
        answer=told.answer,
        error=told.error,
        code=told.code,
        prompt_tokens=told.usage.prompt_tokens,
        completion_tokens=told.usage.completion_tokens,
        seconds=seconds,
        item="",
        lease_until=None,
    )


def end_waiting(one: Try, reason: str) -> int:
    """Let the rows of a try that nobody has asked yet not be asked. Returns how many."""
    return one.rows.filter(status=TriedStatus.WAITING).update(
        status=TriedStatus.NOT_ASKED, error=reason, item=""
    )


def rescue(now: datetime) -> int:
    """End rows whose worker died, and those that nobody has asked for WAITS. Returns how many."""
    cut_off = Q(status=TriedStatus.ASKING) & is_over("lease_until", most=LONGEST_LEASE, now=now)
    late = Q(status=TriedStatus.WAITING, in_try__created_at__lt=now - WAITS)
    # Whether there is one is looked up first: an UPDATE would lock the database at every tick.
    return sum(
        _end(which, status, reason)
        for which, status, reason in (
            (cut_off, TriedStatus.UNCLEAR, CUT_OFF),
            (late, TriedStatus.NOT_ASKED, NOBODY_ASKED),
        )
        if TriedRow.objects.filter(which).exists()
    )


def _end(which: Q, status: TriedStatus, reason: str) -> int:
    return TriedRow.objects.filter(which).update(
        status=status, error=reason, item="", lease_until=None
    )


def ask_nothing_more(reason: str) -> int:
    """End every try under way: this database is a copy, and its rows may have been asked since."""
    return TriedRow.objects.filter(status__in=UNDER_WAY).update(
        status=TriedStatus.UNCLEAR, error=f"{reason} {MAYBE_CHARGED}", item="", lease_until=None
    )
