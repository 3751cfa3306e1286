"""One row of a batch: found by its number, with the requests it was in, and its raw reply."""

from collections.abc import Sequence
from typing import NamedTuple

import zstandard

from batchui.batches import references
from batchui.batches.compressed import DamagedFile, read_compressed
from batchui.batches.copying import copies_of
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.part_answers import read_answers
from batchui.batches.phrases import REPLY_IS_GONE
from batchui.batches.results import Result, readable_results, results_at
from batchui.batches.states import AttemptStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.cloudflare.raw_item import raw_item
from batchui.prompts.problems import BadInput

# In bytes: of a longer reply no single item is looked for.
LONGEST_REPLY = 8 * 1024 * 1024
# Requests of one part that are looked through, the latest ones.
MOST_TRIES = 50
# Requests that never reached a model.
_NEVER_SENT = (AttemptStatus.WRITTEN, AttemptStatus.NOT_SENT, AttemptStatus.BUSY)


class OneRow(NamedTuple):
    """A row with its part. position: in the part, from 0."""

    part: Part
    position: int
    result: Result


class ReplyUnread(Exception):
    """The reply to one row cannot be shown. str() is a sentence for the page."""


def find(batch: Batch, number: int) -> OneRow | None:
    """The row with this number, as her spreadsheet shows it; None: the batch has none."""
    part = batch.parts.filter(first_row__lte=number).order_by("-first_row").first()
    if part is None or number > part.last_row:
        return None
    position = number - part.first_row
    [result] = some_rows(part, [position])
    return OneRow(part, position, result)


def some_rows(part: Part, positions: Sequence[int]) -> list[Result]:
    """The rows of a part at these positions, which are in order, as far as they can be read.

    The others are passed over without being decoded.
    """
    wanted = frozenset(positions)
    answers = (answer for at, answer in enumerate(read_answers(part)) if at in wanted)
    try:
        return results_at(part, positions, answers)
    except DamagedFile:
        return [result for at, result in enumerate(readable_results(part)) if at in wanted]


def tries(row: OneRow) -> list[Attempt]:
    """The requests that the row was in, the first one first."""
    latest = row.part.attempts.exclude(status__in=_NEVER_SENT).order_by("-number")[:MOST_TRIES]
    return [attempt for attempt in reversed(latest) if _position_in(attempt, row) is not None]


def answered_by(sent: Sequence[Attempt]) -> Attempt | None:
    """Of the requests that a row was in, the one whose reply it has; None: none has one."""
    return next((one for one in reversed(sent) if one.status == AttemptStatus.ANSWERED), None)


def asked_with(row: OneRow) -> int | None:
    """The number of the row whose answer this one gets, where the same is asked once."""
    try:
        return copies_of(row.part).get(row.position)
    except DamagedFile:
        return None


def reply_item(attempt: Attempt, row: OneRow) -> str:
    """What Cloudflare's reply to a request says of a row, as JSON. Raises ReplyUnread."""
    index = _position_in(attempt, row)
    if index is not None and attempt.reply_is_gone:
        raise ReplyUnread(REPLY_IS_GONE)
    if index is None or not attempt.reply_file:
        raise ReplyUnread("There is no reply to this row.")
    body = bytearray()
    try:
        for chunk in read_compressed(attempt.reply_file):
            body += chunk
            if len(body) > LONGEST_REPLY:
                raise ReplyUnread("The reply of this part is too long to find one row in it here.")
    except FileNotFoundError:
        raise ReplyUnread("The stored reply of this part is not there any more.") from None
    except zstandard.ZstdError:
        raise ReplyUnread("The stored reply of this part is damaged.") from None
    found = raw_item(bytes(body), index, reference=_reference(row))
    if found is None:
        raise ReplyUnread("The reply of this part has nothing of its own about this row.")
    return found


def _reference(row: OneRow) -> str | None:
    """The reference that was sent with a row; None if that cannot be told."""
    if row.result.cells is None:
        return None
    try:
        return references.reference_of(row.part.batch)(row.result.row, row.result.cells)
    except (BadInput, UnknownModel):  # of a batch of an older version
        return None


def _position_in(attempt: Attempt, row: OneRow) -> int | None:
    """The position of a row in a request; None: it was not in it."""
    if attempt.positions is None:
        return row.position
    positions: list[int] = attempt.positions
    return positions.index(row.position) if row.position in positions else None
