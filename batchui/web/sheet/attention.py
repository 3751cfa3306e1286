"""The tab “Needs attention”: each reason why rows have no answer, or a cut one, and what to do."""

from dataclasses import dataclass
from typing import Any

from batchui.batches.models import Batch
from batchui.batches.sheet.asking_again import longer_answers
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

    may_count: these are all the batch's empty answers, which can count as answered. with_longer:
    they can be asked again with a longer answer. with_changes: another run could ask them better.
    Of a batch that was looked up nothing can be asked, so no next step says so.
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
    with_longer: bool
    with_changes: bool


def attention_context(batch: Batch) -> dict[str, Any]:
    """What the tab needs. counted: how many rows its reasons have; more: how many it leaves out."""
    found, is_whole = reasons_of(batch)
    found_here = found[:MOST_REASONS]
    can_raise = any(one.reason.needs_longer for one in found_here) and bool(longer_answers(batch))
    reasons = [_shown(batch, one, can_raise=can_raise) for one in found_here]
    return {
        "reasons": reasons,
        "more_reasons": len(found) - len(reasons),
        "counted": sum(one.rows for one in found),
        "needing": attention_count(batch),
        "is_whole": is_whole,
    }


def _shown(batch: Batch, why: Why, *, can_raise: bool) -> ShownReason:
    reason = why.reason
    may_count = reason.status == AnswerStatus.EMPTY and not reason.needs_longer
    is_asked_here = not batch.is_looked_up
    can_ask = is_asked_here and (reason.status in RETRYABLE_ANSWERS or reason.needs_longer)
    is_cut = reason.status == AnswerStatus.ANSWERED
    shown = status_words.of_state(AnswerStatus.UNFIT.value if is_cut else reason.status)
    return ShownReason(
        key=reason.key,
        rows=why.rows,
        words=in_words(reason),
        next_step=reason.next_step if is_asked_here else "",
        show=show_reason(reason.key),
        tone=shown.tone,
        icon=shown.icon,
        can_ask=batch.has_ended and can_ask and (can_raise or not reason.needs_longer),
        may_count=may_count and batch.can_count_empty and why.rows == batch.empty,
        other_model=is_asked_here and reason.other_model,
        with_longer=reason.needs_longer,
        with_changes=is_asked_here and reason.needs_longer and not can_raise,
    )
