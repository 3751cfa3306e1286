"""Invariant 2: an answer belongs to its row, and a good one stays."""

from collections.abc import Iterator, Sequence

import msgspec

from batchui.batches import part_answers
from batchui.batches.answer_reading import answer_of
from batchui.batches.compressed import DamagedFile, read_compressed
from batchui.batches.models import Attempt, Part
from batchui.batches.part_answers import Answer
from batchui.batches.states import CAME_BACK, AnswerStatus, AttemptStatus
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import decode
from batchui.doctor.findings import FROM_BACKUP, LOOK_AT_LOG, Finding
from batchui.doctor.ledger import sha256_of
from batchui.doctor.records import Record
from batchui.prompts.answer_columns import AnswerColumn

ANSWERED = AnswerStatus.ANSWERED.value


def each_answer_belongs_to_its_row(record: Record) -> Iterator[Finding]:
    """Invariant 2: an answer belongs to its row.

    The answer of a row is one that a stored reply gives at the place at which its request had the
    row; and the request that the API has on record had these rows. A good answer stays until
    another one has come, whatever else is asked again or corrected. Of a reply that is not whole
    yet the answers are kept, and the reply itself is not; and a clean reply is removed after some
    days. Of those rows nothing can be said.
    """
    for part in record.parts:
        for attempt in record.attempts(part):
            yield from _sent_these_rows(record, part, attempt)
        if part.answers_file and any(getattr(part, status.value) for status in CAME_BACK):
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
    may_be_of_another: set[int] = set()  # rows to which a reply came that is not kept any more
    columns = record.batch.ask.answer_columns
    try:
        for attempt in record.attempts(part):
            if attempt.reply_is_gone:
                sent = attempt.positions
                may_be_of_another.update(range(part.rows) if sent is None else sent)
            elif attempt.status == AttemptStatus.ANSWERED:
                for position, answer in _in_reply(attempt, columns):
                    given.setdefault(position, []).append(answer)
        for position, line in enumerate(part_answers.read_answers(part)):
            stored = line and line.own  # the model's, whatever a person made of it
            if (stored is None or stored.status != ANSWERED) and any(
                one.status == ANSWERED for one in given.get(position, ())
            ):
                yield _good_answer_lost(record, part, position)
                return
            if stored is None or stored.status not in CAME_BACK:
                continue
            # What has another fate in them came in a reply that was not whole, which is not stored.
            comparable = [one for one in given.get(position, ()) if one.status == stored.status]
            if position in may_be_of_another or not comparable:
                continue
            if not any(_same(stored, one) for one in comparable):
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


def _good_answer_lost(record: Record, part: Part, position: int) -> Finding:
    return record.finding(
        2,
        "good answer lost",
        "A stored reply answers this row, and the row does not have that answer, nor another one.",
        part=part,
        row=part.first_row + position,
        do=LOOK_AT_LOG,
    )


def _in_reply(attempt: Attempt, columns: Sequence[AnswerColumn]) -> Iterator[tuple[int, Answer]]:
    """The answers in the stored reply to an attempt, by position in the part."""
    body = b"".join(read_compressed(attempt.reply_file))
    positions = attempt.positions
    for item in decode(body, request_id=attempt.request_id).items:
        if item.index is None or not 0 <= item.index < attempt.items:
            continue
        yield positions[item.index] if positions else item.index, answer_of(item, columns)


def _same(one: Answer, other: Answer) -> bool:
    return bytes(one.answer) == bytes(other.answer)
