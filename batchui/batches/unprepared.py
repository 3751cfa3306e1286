"""What is done with a part whose request could not be made, because of a damaged file for one."""

import logging
from datetime import timedelta

from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.compressed import DamagedFile
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Part
from batchui.batches.states import PartStatus, Question

logger = logging.getLogger(__name__)

# The pauses between the tries. After the last one a person is asked.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5))
UNPREPARED = "unprepared"  # in `Part.odd_kind`


def try_later(part: Part, problem: Exception, *, closing: Closing | None = None) -> None:
    """Try a part again later; after three tries in a row, let a person decide.

    Nothing of it was sent, or what was sent was refused (`closing`).
    """
    message = _in_words(part, problem)
    tries = part.odd_seen + 1 if part.odd_kind == UNPREPARED else 1
    if tries > len(PAUSES):
        lifecycle.move_part(
            part,
            PartStatus.UNSURE,
            closing=closing,
            question=Question.DAMAGED,
            message=message,
            odd_seen=0,
            event=f"Part {part.number} could not be sent: {message}",
        )
        return
    lifecycle.move_part(
        part,
        PartStatus.READY,
        closing=closing,
        resume_at=timezone.now() + PAUSES[tries - 1],
        odd_kind=UNPREPARED,
        odd_seen=tries,
        message=message,
        event=f"Part {part.number} is not sent yet: {message}" if tries == 1 else "",
    )


def _in_words(part: Part, problem: Exception) -> str:
    if isinstance(problem, DamagedFile):
        return str(problem)
    if isinstance(problem, OSError):
        return f"This server could not read or store its rows: {problem.strerror or problem}."
    if isinstance(problem, MemoryError):
        return "This server has not enough memory free to make the request."
    logger.error("Part %s of batch %s: its request", part.number, part.batch_id, exc_info=problem)
    return (
        "batchui could not make the request, because of a mistake in batchui. Tell the person who "
        "runs batchui: the log says more."
    )
