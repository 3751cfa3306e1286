"""Taking in a reply: checked whole, matched by index, stored.

Rows are matched by the item's `id`/`index` (its place in what was sent), never by its place in
the reply: Cloudflare does not keep the order.
"""

from collections.abc import Callable
from typing import IO

import msgspec
from django.utils import timezone

from batchui.batches import files, results
from batchui.batches.changes import PartChanges
from batchui.batches.due import ONE_IN_MEMORY
from batchui.batches.models import Attempt, Part
from batchui.batches.results import NOTHING, Answer
from batchui.batches.states import AnswerStatus
from batchui.cloudflare.replies import Reply, decode
from batchui.prompts.rows import decode_row

NO_ANSWER = "Cloudflare's reply has no answer for this row."


class MismatchError(Exception):
    """The reply does not fit what was sent. Its text is a sentence for the page."""


def absorb(part: Part, attempt: Attempt, spool: IO[bytes]) -> tuple[PartChanges, str]:
    """Understand and store a finished reply. Returns the part's changes, and where the raw reply
    is kept.

    Raises BadReply when it is not a finished reply, MismatchError when it does not fit what was
    sent; nothing is stored then.
    """
    with ONE_IN_MEMORY:
        spool.seek(0)
        reply = decode(spool.read(), request_id=attempt.request_id)
        arrived = match(part, attempt, reply)
        sent = set(attempt.positions) if attempt.positions is not None else None
        answers = results.merge(part, arrived, missing=lambda position: _missing(position, sent))
        raw = files.Compressed.of_file(spool)
    reply_file = raw.store(files.reply_path(part, attempt=attempt.number))
    changes = answers.store()
    changes["last_polled_at"] = timezone.now()
    changes["message"] = ""
    changes["failures_in_a_row"] = 0
    if reply.usage is not None:
        changes["prompt_tokens"] = part.prompt_tokens + reply.usage.prompt_tokens
        changes["completion_tokens"] = part.completion_tokens + reply.usage.completion_tokens
    return changes, reply_file


def _missing(position: int, sent: set[int] | None) -> Answer | None:
    if sent is None or position in sent:
        return Answer(AnswerStatus.MISSING.value, error=NO_ANSWER)
    return None


def keep_raw(part: Part, attempt: Attempt, spool: IO[bytes]) -> str:
    """Keep a reply as it came. Returns where."""
    return files.Compressed.of_file(spool).store(files.reply_path(part, attempt=attempt.number))


def match(part: Part, attempt: Attempt, reply: Reply) -> dict[int, Answer]:
    """The answers of a reply by position in the part.

    Raises MismatchError for an item that was not sent, one whose reference is another row's, and
    two different answers for one row. Two that agree count once.
    """
    positions = attempt.positions
    reference_at = _references(part)
    arrived: dict[int, Answer] = {}
    for item in reply.items:
        index = item.index
        if index is None or not 0 <= index < attempt.items:
            raise MismatchError(
                f"Cloudflare's reply has an answer numbered {index}, and {attempt.items:,} rows "
                "(numbered from 0) were sent."
            )
        position = positions[index] if positions is not None else index
        if item.reference is not None and item.reference != reference_at(position):
            raise MismatchError(
                f"Cloudflare's reply gives row {part.first_row + position:,} the reference "
                f"“{item.reference[:80]}”, which is not the one sent with it."
            )
        answer = Answer(
            item.status,
            NOTHING if item.answer is None else msgspec.Raw(item.answer),
            item.error,
            NOTHING if item.usage is None else msgspec.Raw(item.usage),
        )
        known = arrived.setdefault(position, answer)
        if known is not answer and not _same(known, answer):
            raise MismatchError(
                "Cloudflare's reply has two different answers for row "
                f"{part.first_row + position:,}."
            )
    return arrived


def _same(one: Answer, other: Answer) -> bool:
    return msgspec.json.encode(one) == msgspec.json.encode(other)


def _references(part: Part) -> Callable[[int], str]:
    """What gives the reference that was sent with the row at a position of the part."""
    batch = part.batch
    first_row = part.first_row
    if not results.has_own_references(batch):
        return lambda position: str(first_row + position)
    reference = results.reference_of(batch)
    sent = [
        reference(first_row + position, decode_row(line))
        for position, line in enumerate(files.read_lines(part.rows_file))
    ]
    return sent.__getitem__
