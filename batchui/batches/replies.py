"""Takes in a reply: checks it as a whole, matches its items to rows, and stores it.

An item belongs to the row that its `id` or `index` names (the position in the request), whatever
its position in the reply: Cloudflare does not keep the order. One that names no position belongs to
the row whose reference it has, if no other row of the request was sent with that reference.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import IO, NamedTuple

import msgspec
from django.utils import timezone
from msgspec import structs

from batchui.batches import files, part_answers, references
from batchui.batches.answer_reading import answer_of
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import Compressed, read_lines
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import Answered, Incomplete
from batchui.batches.part_answers import Answer, NewAnswers
from batchui.batches.patience import NOTHING_WRONG
from batchui.batches.states import AnswerStatus
from batchui.batches.steps import ONE_IN_MEMORY
from batchui.cloudflare.catalogue import UnknownModel
from batchui.cloudflare.local_errors import row_in_words
from batchui.cloudflare.plain_replies import NotPlain, PlainReply
from batchui.cloudflare.replies import ItemReply, Reply, Usage, decode
from batchui.cloudflare.reply_body import TooManyItems
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import decode_row

NO_ANSWER = "Cloudflare's reply has no answer for this row."
# An answer may come twice. A reply with more answers than so many times the rows is not read on.
MOST_TIMES = 4
# Of answers that are charged like all others.
OF_NO_USE = (AnswerStatus.EMPTY, AnswerStatus.UNFIT)
# As they are in a file of answers; looking up the value of a status takes as long as a row.
ANSWERED = AnswerStatus.ANSWERED.value
_NOT_YET = Answer(ANSWERED)


class MismatchError(Exception):
    """A reply that does not fit what was sent. str() is a sentence for the page."""


def absorb(
    part: Part, attempt: Attempt, spool: IO[bytes], *, is_last: bool
) -> Answered | Incomplete:
    """Decode and store a finished reply.

    is_last: rows without an answer are missing for good. If this is not the last look at an
    incomplete reply, they go on waiting, as do rows whose answer is broken. The others have their
    answers from now on, whatever the next polls bring.

    Raises BadReply if it is not a finished reply, MismatchError if it does not fit what was sent;
    nothing is stored then.
    """
    arrived_at = timezone.now()
    with ONE_IN_MEMORY:
        spool.seek(0)
        body = spool.read()
        taken = _all_answered(part, attempt, body) or _taken(part, attempt, body, is_last=is_last)
        if isinstance(taken, Incomplete):
            return taken
        raw = Compressed.of_bytes(body)
        del body
    reply_file = raw.store(files.reply_path(part, attempt=attempt.number))
    changes = taken.answers.store()
    changes.update(NOTHING_WRONG)
    changes["last_polled_at"] = arrived_at
    if taken.usage is not None:
        changes["prompt_tokens"] = part.prompt_tokens + taken.usage.prompt_tokens
        changes["completion_tokens"] = part.completion_tokens + taken.usage.completion_tokens
    return Answered(changes, reply_file, taken.in_vain)


class _Taken(NamedTuple):
    """What came of a reply: answers that are not stored yet, tokens, and `Answered.in_vain`."""

    answers: NewAnswers
    usage: Usage | None
    in_vain: int = 0


def _all_answered(part: Part, attempt: Attempt, body: bytes) -> _Taken | None:
    """A plain reply to all rows of a part that has no answers yet; None if it is any other.

    Then `_taken` reads it anew, and says what is wrong if anything is. What both make of a plain
    reply is the same to the byte.
    """
    batch = part.batch
    is_usual = attempt.positions is None and not (part.answers_file or part.asked_again)
    if not is_usual or batch.is_looked_up or batch.ask.answer_columns:
        return None
    if references.has_own_references(batch):
        return None
    answers: list[Answer] = [_NOT_YET] * part.rows
    try:
        reply = PlainReply(body, request_id=attempt.request_id, items=part.rows)
        longest = cache(lambda: _longest(part, attempt))
        for index, answer, usage, reference in reply.items(longest=longest):
            if index < 0 or answers[index] is not _NOT_YET:
                return None
            if reference is not None and reference != str(part.first_row + index):
                return None
            answers[index] = Answer(ANSWERED, answer, None, usage)
    except (NotPlain, IndexError):
        return None
    return _Taken(part_answers.all_answered(part, answers), reply.usage)


def _taken(part: Part, attempt: Attempt, body: bytes, *, is_last: bool) -> _Taken | Incomplete:
    """The answers in any reply. Raises BadReply and MismatchError."""
    reply = _decoded(body, attempt)
    items = [item for item in reply.items if is_last or not item.broken]
    arrived = match(part, attempt, items)
    missing = attempt.items - len(arrived)
    if missing and not is_last:
        return Incomplete(_of_those_that_came(part, arrived), missing)
    sent = set(attempt.positions) if attempt.positions is not None else None
    answers = part_answers.merge(part, arrived, missing=lambda position: _missing(position, sent))
    broken = {item.index for item in items if item.broken}
    of_no_use = sum(answer.status in OF_NO_USE for answer in arrived.values())
    return _Taken(answers, reply.usage, missing + len(broken) + of_no_use)


def _decoded(body: bytes, attempt: Attempt) -> Reply:
    most = MOST_TIMES * attempt.items
    try:
        return decode(body, request_id=attempt.request_id, most=most)
    except TooManyItems:
        raise MismatchError(
            f"Cloudflare's reply has more than {most:,} answers to {attempt.items:,} rows."
        ) from None


def _of_those_that_came(part: Part, arrived: dict[int, Answer]) -> PartChanges:
    if not arrived:
        return {}
    return part_answers.merge(part, arrived, missing=lambda _: None).store()


def _missing(position: int, sent: set[int] | None) -> Answer | None:
    if sent is None or position in sent:
        return Answer(AnswerStatus.MISSING.value, error=NO_ANSWER)
    return None


def keep_raw(part: Part, attempt: Attempt, spool: IO[bytes]) -> str:
    """Store the raw reply. Returns its file name."""
    return Compressed.of_file(spool).store(files.reply_path(part, attempt=attempt.number))


def match(part: Part, attempt: Attempt, items: Sequence[ItemReply]) -> dict[int, Answer]:
    """The answers among the items of a reply, by position in the part.

    Raises MismatchError for an item that was not sent, for an item with another row's reference,
    and for two different answers to one row. Two equal answers count once.
    """
    positions = attempt.positions
    columns = part.batch.ask.answer_columns
    reference_at = _references(part)
    longest_at = _longest_answers(part, attempt)
    index_by = _indexes_of_references(attempt, reference_at)
    is_local = part.batch.connection.is_local
    arrived: dict[int, Answer] = {}
    # Of what others have sent only the reply is known, and its rows were made of it.
    looked_up = part.batch.is_looked_up
    by_place = looked_up and any(item.index is None for item in items)
    for place, item in enumerate(items):
        index = place if by_place else item.index
        if index is None:
            is_alone = len(items) == attempt.items == 1
            index = 0 if is_alone else index_by(item.reference)
        if index is None or not 0 <= index < attempt.items:
            raise _never_sent(index)
        position = positions[index] if positions is not None else index
        if item.reference not in (None, reference_at(position)) and not looked_up:
            raise _another_reference(part.first_row + position, str(item.reference))
        is_unsaid = item.usage is not None and item.cut is None
        answer = answer_of(item, columns, longest_at(position) if is_unsaid else None)
        if is_local and answer.error:
            answer = structs.replace(answer, error=row_in_words(answer.error))
        known = arrived.setdefault(position, answer)
        if known is not answer and not _same(known, answer):
            raise _contradiction(part.first_row + position)
    return arrived


def _never_sent(index: int | None) -> MismatchError:
    number = "without a number" if index is None else f"with the number {index}"
    return MismatchError(
        f"Cloudflare's reply has an answer {number}, which belongs to no row of this request."
    )


def _another_reference(row: int, reference: str) -> MismatchError:
    return MismatchError(
        f"Cloudflare's reply gives row {row:,} the reference “{reference[:80]}”, which is not the "
        "one sent with it."
    )


def _contradiction(row: int) -> MismatchError:
    return MismatchError(f"Cloudflare's reply has two different answers for row {row:,}.")


def _same(one: Answer, other: Answer) -> bool:
    return msgspec.json.encode(one) == msgspec.json.encode(other)


def _indexes_of_references(
    attempt: Attempt, reference_at: Callable[[int], str]
) -> Callable[[str | None], int | None]:
    """A function from a reference to the position in the request of the only row that has it."""

    @cache
    def indexes() -> dict[str | None, int]:
        sent = [reference_at(position) for position in attempt.positions or range(attempt.items)]
        times = Counter(sent)
        return {reference: at for at, reference in enumerate(sent) if times[reference] == 1}

    return lambda reference: indexes().get(reference)


def _longest_answers(part: Part, attempt: Attempt) -> Callable[[int], int | None]:
    """A function from a row's position in the part to the longest answer asked of it, in tokens.

    None: its item names none. It is found out when the first one is wanted.
    """

    @cache
    def of_all() -> int | None:
        return _longest(part, attempt)

    @cache
    def of_each() -> list[int | None]:
        known, lines = _writer(part, attempt), read_lines(part.rows_file, lines=part.rows)
        return [known.longest(decode_row(line)) if known else None for line in lines]

    if part.batch.ask.as_items:
        return lambda position: of_each()[position]
    return lambda _: of_all()


def _longest(part: Part, attempt: Attempt) -> int | None:
    """The longest answer that was asked for, in tokens, where it is the same for all rows."""
    known = _writer(part, attempt)
    return known.longest([]) if known else None


def _writer(part: Part, attempt: Attempt) -> ItemWriter | None:
    try:
        return references.item_writer(part.batch, longest=attempt.longest)
    except (BadInput, UnknownModel):  # of a batch of an older version
        return None


def _references(part: Part) -> Callable[[int], str]:
    """A function from a row's position in the part to the reference sent with it."""
    batch = part.batch
    first_row = part.first_row
    if not references.has_own_references(batch):
        return lambda position: str(first_row + position)
    reference = references.reference_of(batch)
    sent = [
        reference(first_row + position, decode_row(line))
        for position, line in enumerate(read_lines(part.rows_file, lines=part.rows))
    ]
    return sent.__getitem__
