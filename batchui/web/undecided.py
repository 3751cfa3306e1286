"""What people are asked about parts, all parts with the same question together."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from django.db.models import QuerySet

from batchui.batches import costs
from batchui.batches.models import Part
from batchui.batches.phrases import parts_phrase, rows_phrase
from batchui.batches.states import PartStatus, Question

# The parts of a question that are named; the others are decided with them, or later.
PARTS_NAMED = 10


class Choice(NamedTuple):
    """One answer to a question: its word in addresses, its label, its icon."""

    name: str
    label: str
    icon: str

    @property
    def address(self) -> str:
        """The name of its address for one part."""
        return self.name.replace("-", "_")


SEND_AGAIN = Choice("send-again", "Send again", "send")
LEAVE_OUT = Choice("leave-out", "Leave out", "x")
CHOICES: dict[str, tuple[Choice, ...]] = {
    Question.UNCLEAR: (SEND_AGAIN, LEAVE_OUT),
    Question.UNREADABLE: (Choice("ask-again", "Go on looking", "rotate-cw"), LEAVE_OUT),
    Question.MISMATCH: (
        Choice("ask-again", "Ask Cloudflare again", "rotate-cw"),
        SEND_AGAIN,
        LEAVE_OUT,
    ),
    Question.DAMAGED: (Choice("try-again", "Try again", "rotate-cw"), LEAVE_OUT),
    Question.RESTORED: (Choice("send-again", "Send", "send"), LEAVE_OUT),
}
TITLES = {
    Question.UNCLEAR: "It is unclear whether {parts} {were} sent.",
    Question.UNREADABLE: "{parts} {were} sent, and for hours no answer could be read.",
    Question.MISMATCH: "The reply to {parts} does not fit what was sent.",
    Question.DAMAGED: "A stored file of {parts} is lost or damaged.",
    Question.RESTORED: "This database is a copy. Perhaps {parts} {were} sent since it was made.",
}
EXPLANATIONS = {
    Question.UNCLEAR: (
        "If Cloudflare has {them} already and you send {them} again, {rows} {are} charged twice: "
        "{cost}. Or wait: if a receipt still comes, batchui uses it."
    ),
    Question.UNREADABLE: (
        "Looking again is free. If you leave {them} out, {rows} {have} no answer, though they are "
        "probably charged; Retry looks again first."
    ),
    Question.MISMATCH: (
        "Nothing of it was used, and it is kept under “Technical details”. Asking again is free. "
        "Sending again is charged again: {cost} for {rows}."
    ),
    Question.DAMAGED: "Put the file back from a backup and try again, or leave {rows} out.",
    Question.RESTORED: (
        "If Cloudflare has {them} already and you send {them}, {rows} {are} charged twice: {cost}."
    ),
}


@dataclass(frozen=True)
class Undecided:
    """The parts about which people are asked the same, and what they can answer."""

    question: Question
    parts: list[Part]
    named: list[Part]

    @property
    def choices(self) -> tuple[Choice, ...]:
        return CHOICES[self.question]

    @property
    def title(self) -> str:
        """What happened, as one sentence."""
        return self._filled(TITLES[self.question])

    @property
    def explanation(self) -> str:
        """What is at stake, in rows and money."""
        return self._filled(EXPLANATIONS[self.question])

    @property
    def message(self) -> str:
        """The reason, if it is the same for all of the parts."""
        messages = {part.message for part in self.parts}
        return messages.pop() if len(messages) == 1 else ""

    @property
    def more(self) -> int:
        """The number of parts that are not named."""
        return len(self.parts) - len(self.named)

    def _filled(self, sentence: str) -> str:
        rows, one = sum(part.waiting for part in self.parts), len(self.parts) == 1
        filled = sentence.format(
            parts=f"part {self.parts[0].number}" if one else parts_phrase(len(self.parts)),
            were="was" if one else "were",
            them="it" if one else "them",
            rows=rows_phrase(rows),
            are="is" if rows == 1 else "are",
            have="has" if rows == 1 else "have",
            cost=costs.in_words(costs.usd_of(self.parts)) if "{cost}" in sentence else "",
        )
        return filled[0].upper() + filled[1:]


def undecided(parts: QuerySet[Part]) -> list[Undecided]:
    """The questions about these parts, each with the parts it is about."""
    waiting: QuerySet[Part] = (
        parts.filter(status=PartStatus.UNSURE)
        .select_related("batch")
        .defer("batch__sample", "batch__problem_rows", "batch__blanks")
        .order_by("question", "batch__started_at", "number")
    )
    return [
        Undecided(Question(question), found, found[:PARTS_NAMED])
        for question, group in groupby(waiting, lambda part: part.question or Question.UNCLEAR)
        for found in [list(group)]
    ]
