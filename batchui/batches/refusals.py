"""What is done with a request that Cloudflare refused for good, or found too large.

Nothing of it is charged. One row is enough to have all others refused with it, so the rows are sent
again in halves (`halving.py`), until the row that is refused stands alone. Only that one fails.
"""

from django.db.models import QuerySet

from batchui.batches import copying, halving, lifecycle, part_answers, unprepared
from batchui.batches.changes import counted_rows
from batchui.batches.charged import JUDGED_WHEN_POLLED
from batchui.batches.compressed import DamagedFile
from batchui.batches.halving import Tried
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Attempt, Part
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import TAKEN, AnswerStatus, AttemptStatus, PartStatus
from batchui.cloudflare.errors import ASK_DIFFERENTLY

# Refused, whatever the rows: there is no such model, or no such request.
NOT_FOR_ITS_ROWS = frozenset({3042, 5007, 5504})
# Of a row that is refused alone, while the others get through.
CHANGE_ROW = "Change the text of this row, or what is asked."
# Of a row that fails with others, which speak for it.
NOT_ALONE = "This row was not tried alone, because others were refused in the same way."
# So many rows that were sent alone and refused in the same words tell that of all rows; and so many
# parts tell it of all parts.
ENOUGH_ROWS, ENOUGH_PARTS = 3, 3
# After so many refusals of one part, no more rows are looked for.
MOST_REFUSALS = 100


def rows_to_send(part: Part) -> list[int]:
    """The positions (from 0) of the rows that the next request of a part has; [] if none wait.

    Raises DamagedFile if the answers so far cannot be read.
    """
    copies = copying.copies_of(part)
    alone = part_answers.rows_sent_alone(part)
    waiting = [at for at in part_answers.open_positions(part) if at not in copies or at in alone]
    if not waiting:
        return []
    return list(halving.next_rows(waiting, _tried(part)))[: part.send_limit]


def _tried(part: Part) -> list[Tried]:
    judged = _judged(part).order_by("number").values_list("positions", "status")
    return [
        Tried(
            rows=frozenset(range(part.rows) if positions is None else positions),
            accepted=status != AttemptStatus.REFUSED,
        )
        for positions, status in judged
    ]


def refused(part: Part, closing: Closing) -> None:
    """Send the rows of a refused request again in halves, or let the only one in it fail."""
    message = closing.message
    if closing.code in NOT_FOR_ITS_ROWS:
        fail(part, f"Part {part.number} was refused: {message}", message, closing)
    elif _are_all_parts_refused(part, closing):
        _fail_untried(part, f"Part {part.number} was refused: {message}", closing)
    elif event := _enough(part, closing):
        _fail_untried(part, f"Part {part.number}: {event} {message}", closing)
    elif closing.attempt.items == 1:
        _fail_row(part, closing)
    else:
        first = not _before(closing).filter(status=AttemptStatus.REFUSED).exists()
        lifecycle.move_part(
            part,
            PartStatus.READY,
            closing=closing,
            resume_at=None,
            failures_in_a_row=0,
            message=message,
            event=f"Part {part.number} was refused. It is sent in halves, to find the rows that "
            f"Cloudflare refuses. The reason: {message}"
            if first
            else "",
        )


def cut_smaller(part: Part, closing: Closing) -> None:
    """Send half as many rows at a time, after a request was too large; one row alone fails."""
    attempt = closing.attempt
    if attempt.items == 1:
        _fail_row(part, closing, attempts_before=attempt.number)
        return
    half = (attempt.items + 1) // 2
    lifecycle.move_part(
        part,
        PartStatus.READY,
        closing=closing,
        send_limit=half,
        attempts_before=attempt.number,
        event=f"Part {part.number} was too large; it is sent {rows_phrase(half)} at a time.",
    )


def fail(
    part: Part, event: str, message: str, closing: Closing | None = None, *, error: str = ""
) -> None:
    """Let every waiting row of a part fail. error: what is said at a row, if not the message."""
    failed = lifecycle.close_waiting(part, AnswerStatus.FAILED, error or message)
    failed["message"] = message
    lifecycle.move_part(part, PartStatus.DONE, event=event, closing=closing, **failed)


def _fail_untried(part: Part, event: str, closing: Closing) -> None:
    """Let every waiting row of a part fail: only one that was refused just now was tried alone."""
    if closing.attempt.items == 1:
        _fail_row(part, closing, event=event, others=_untried(closing))
    else:
        fail(part, event, closing.message, closing, error=_untried(closing))


def _untried(closing: Closing) -> str:
    return f"{closing.message} {NOT_ALONE}"


def _fail_row(
    part: Part,
    closing: Closing,
    *,
    attempts_before: int | None = None,
    event: str = "",
    others: str = "",
) -> None:
    """Let the only row of a request fail. The others go on, or fail with the words in `others`."""
    positions = closing.attempt.positions
    position = positions[0] if positions else 0
    message = closing.message.replace(ASK_DIFFERENTLY, CHANGE_ROW)
    failed = part_answers.Answer(AnswerStatus.FAILED.value, error=message)
    try:
        answers = part_answers.merge(part, {position: failed}, missing=lambda _: None)
        changes = answers.store()
    except (DamagedFile, OSError) as problem:
        unprepared.try_later(part, problem, closing=closing)
        return
    changes["failures_in_a_row"] = 0
    if attempts_before is not None:
        changes["attempts_before"] = attempts_before
    if others:
        changes["failed"] += part.rows - counted_rows(changes)
        changes["waiting_became"], changes["waiting_error"] = AnswerStatus.FAILED.value, others
        changes["message"] = closing.message
        changes["asked_again"] = None
    event = event or f"Row {part.first_row + position:,} was refused alone: {message}"
    lifecycle.settle_answers(part, changes, closing=closing, event=event)


def _enough(part: Part, closing: Closing) -> str:
    """Why no more rows are looked for: words for the timeline; "" if they are."""
    earlier = list(_before(closing).values_list("status", "items", "code", "message"))
    refusals = [found for found in earlier if found[0] == AttemptStatus.REFUSED]
    if len(refusals) + 1 >= MOST_REFUSALS:
        return f"its rows were refused {MOST_REFUSALS} times. Those that still wait fail, too:"
    if closing.attempt.items > 1 or part.waiting == 1:
        return ""
    alone = refusals.count((AttemptStatus.REFUSED, 1, closing.code, closing.message)) + 1
    if alone >= ENOUGH_ROWS and len(refusals) == len(earlier):
        return (
            f"{rows_phrase(alone)} were refused in the same words, each sent alone, and none was "
            "accepted. The others fail without being sent alone:"
        )
    return ""


def _are_all_parts_refused(part: Part, closing: Closing) -> bool:
    """Whether some parts of the batch failed in the words of this refusal, and none got through."""
    refused_parts = Part.objects.filter(
        batch=part.batch_id, waiting_became=AnswerStatus.FAILED, waiting_error=_untried(closing)
    )
    if refused_parts.count() < ENOUGH_PARTS:
        return False
    through = TAKEN if closing.code != JUDGED_WHEN_POLLED else TAKEN - {AttemptStatus.ACCEPTED}
    return not Attempt.objects.filter(part__batch=part.batch_id, status__in=through).exists()


def _judged(part: Part) -> QuerySet[Attempt]:
    """The attempts of a part that Cloudflare accepted or refused, since the latest retry."""
    return part.attempts.filter(
        number__gt=part.attempts_before, status__in=(AttemptStatus.REFUSED, *TAKEN)
    )


def _before(closing: Closing) -> QuerySet[Attempt]:
    """Those before the attempt that ends now."""
    return _judged(closing.attempt.part).exclude(pk=closing.attempt.pk)
