"""The tab “Needs attention”: each reason why rows have no answer, with what to do about it."""

from dataclasses import dataclass
from typing import Any

from batchui.batches.models import Batch
from batchui.batches.sheet.glance import Why, reasons_of
from batchui.batches.sheet.reasons import in_words
from batchui.batches.sheet.selection import show_reason
from batchui.batches.states import RETRYABLE_ANSWERS, AnswerStatus
from batchui.web import status_words
from batchui.web.sheet.chips import attention_count

# The page names so many reasons; the filters show the rows of all others.
MOST_REASONS = 50


@dataclass(frozen=True)
class ShownReason:
    """A reason as the page shows it. show: for the address of its rows. can_ask: here and now.

    may_count: these are all the batch's empty answers, which can count as answered.
    """

    key: str
    rows: int
    words: str
    next_step: str
    show: str
    tone: str
    icon: str
    can_ask: bool
    may_count: bool
    other_model: bool


def attention_context(batch: Batch) -> dict[str, Any]:
    """What the tab needs. counted: how many rows its reasons have; more: how many it leaves out."""
    found, is_whole = reasons_of(batch)
    reasons = [_shown(batch, one) for one in found[:MOST_REASONS]]
    return {
        "reasons": reasons,
        "more_reasons": len(found) - len(reasons),
        "counted": sum(one.rows for one in found),
        "needing": attention_count(batch),
        "is_whole": is_whole,
    }


def _shown(batch: Batch, why: Why) -> ShownReason:
    reason = why.reason
    is_empty = reason.status == AnswerStatus.EMPTY
    shown = status_words.of_state(reason.status)
    return ShownReason(
        key=reason.key,
        rows=why.rows,
        words=in_words(reason),
        next_step=reason.next_step,
        show=show_reason(reason.key),
        tone=shown.tone,
        icon=shown.icon,
        can_ask=batch.has_ended and reason.status in RETRYABLE_ANSWERS,
        may_count=batch.can_count_empty and why.rows == batch.empty and is_empty,
        other_model=reason.other_model,
    )
