"""A question about parts, as a page shows it: what is at stake, what people can choose.

`open_questions` finds the questions.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Max

from batchui.batches import costs
from batchui.batches.costs import Cost
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.phrases import counted, is_are, parts_phrase, rows_phrase
from batchui.batches.questions import CHOICES, Choice, about
from batchui.batches.states import AttemptStatus, Question
from batchui.web.question_words import CHOICE_WORDS, UNREADABLE_LEFT_OUT, WORDS, asks_first

# What is named of many: reasons, batches, parts. The others are decided with them, or later.
REASONS_NAMED = 3
BATCHES_NAMED = 5
PARTS_NAMED = 10
# In `question_words`.
ABOUT_MONEY = re.compile(r"\[(.*?)\]")
# What waits for a person. About the others people may decide, and need not.
NEED_A_PERSON = frozenset(Question) - {Question.TROUBLE, Question.STOPPING}


class Reason(NamedTuple):
    """Why this is asked, about so many parts."""

    message: str
    parts: int


class Offered(NamedTuple):
    """One choice, in words. Its `effect` is what happens with these very parts."""

    choice: Choice
    label: str
    icon: str
    effect: str
    heading: str
    confirm: str

    @property
    def asks_first(self) -> bool:
        """Whether a dialog asks once more before it is done."""
        return asks_first(self.choice)

    @property
    def address(self) -> str:
        """The name of its address for one part."""
        return self.choice.replace("-", "_")


@dataclass
class Undecided:
    """The parts about which people are asked the same, and what they can choose."""

    question: Question
    first_part: int  # the lowest number
    failing_since: datetime | None  # the first failed poll
    next_poll_at: datetime | None
    parts: int = 0
    rows: int = 0
    unreadable: int = 0  # rows with an answer in a file that is damaged
    is_failing: bool = False  # the last send through one of their connections was not confirmed
    is_paused: bool = False  # so that nothing else goes on either
    messages: Counter[str] = field(default_factory=Counter)  # and of how many parts
    parts_of: Counter[UUID] = field(default_factory=Counter)  # by batch
    rows_of: Counter[UUID] = field(default_factory=Counter)

    @cached_property
    def cost(self) -> Cost:
        """About what it costs to send all of them."""
        return costs.cost_of(self.rows_of)

    @property
    def title(self) -> str:
        """What happened, as one sentence."""
        return self._filled(WORDS[self.question].title)

    @property
    def note(self) -> str:
        """More about what happened."""
        return self._filled(WORDS[self.question].note)

    @property
    def no_answer_since(self) -> datetime | None:
        """Since when the polls fail; None if they do not."""
        polled = {Question.UNREADABLE, Question.TROUBLE, Question.STOPPING}
        return self.failing_since if self.question in polled else None

    @property
    def next_try(self) -> datetime | None:
        """When batchui polls again by itself; None if it does not."""
        return None if self.question in NEED_A_PERSON else self.next_poll_at

    @property
    def tone(self) -> str:
        """The class of the banner; "" if all goes as it should."""
        return "" if self.question == Question.STOPPING and not self.failing_since else "caution"

    @property
    def icon(self) -> str:
        """The icon of the banner."""
        return "circle-question-mark" if self.question in NEED_A_PERSON else "clock"

    @property
    def reasons(self) -> list[Reason]:
        """The commonest reasons."""
        return [Reason(*one) for one in self.messages.most_common(REASONS_NAMED) if one[0]]

    @property
    def more_reasons(self) -> int:
        """The number of parts whose reason is none of those."""
        return self.parts - sum(number for _, number in self.messages.most_common(REASONS_NAMED))

    @property
    def at_stake(self) -> str:
        """How many rows, and how much money; "" if nothing has to be decided."""
        if self.unreadable:
            answers = (
                f"{counted(self.unreadable, 'answer')} that {is_are(self.unreadable)} paid for"
            )
            return f"{rows_phrase(self.rows + self.unreadable)}; {answers} cannot be read"
        stake = WORDS[self.question].stake
        if "{cost}" in stake and self.cost.is_free:
            return f"{rows_phrase(self.rows)}, and no money: it is {self.cost.free_words}"
        return self._filled(stake)

    @property
    def offers(self) -> list[Offered]:
        """What people can choose."""
        return [self.offer(choice) for choice in CHOICES[self.question]]

    def offer(self, choice: Choice) -> Offered:
        """One of the choices, in words."""
        words = CHOICE_WORDS[self.question, choice]
        leaves_unreadable = self.unreadable and choice == Choice.LEAVE_OUT
        effect = UNREADABLE_LEFT_OUT if leaves_unreadable else words.effect
        return Offered(
            choice,
            words.label,
            words.icon,
            *map(self._filled, (effect, words.heading, words.confirm)),
        )

    @cached_property
    def times_sent(self) -> int:
        """How often one of the parts was sent, at most, without anybody knowing what became of it.

        Of no interest, and 0, but where that is the question.
        """
        if self.question != Question.UNCLEAR:
            return 0
        parts = about(Part.objects.filter(batch__in=self.parts_of), self.question)
        unsure = Attempt.objects.filter(part__in=parts.values("pk"), status=AttemptStatus.UNSURE)
        times = unsure.order_by().values("part").annotate(times=Count("pk"))
        return times.aggregate(most=Max("times"))["most"] or 0

    @property
    def named(self) -> list[Part]:
        """The first parts, of all of their batches."""
        parts = Part.objects.filter(batch__in=self.parts_of)
        return list(about(parts, self.question).order_by("number")[:PARTS_NAMED])

    @property
    def more_parts(self) -> int:
        """The number of parts that are not named."""
        return max(0, self.parts - PARTS_NAMED)

    @property
    def batches(self) -> list["InBatch"]:
        """The batches with most of the parts."""
        common = dict(self.parts_of.most_common(BATCHES_NAMED))
        found = Batch.objects.only("name").in_bulk(common)
        return [InBatch(found[pk], parts, self.rows_of[pk]) for pk, parts in common.items()]

    @property
    def batch_count(self) -> int:
        """The number of batches that have such parts."""
        return len(self.parts_of)

    @property
    def more_batches(self) -> int:
        """The number of batches that are not named."""
        return max(0, len(self.parts_of) - BATCHES_NAMED)

    @cached_property
    def facts(self) -> dict[str, object]:
        """What the sentences of `question_words` are filled with, besides the cost."""
        one_part, one_row = self.parts == 1, self.rows == 1
        return {
            "parts": f"part {self.first_part}" if one_part else parts_phrase(self.parts),
            "were": "was" if one_part else "were",
            "go": "goes" if one_part else "go",
            "Parts_wait": "This part waits" if one_part else "These parts wait",
            "which": self._which(),
            "unreadable": rows_phrase(self.unreadable),
            "rest_goes_on": "" if self.is_paused else "; everything else goes on",
            "Sent_before": self._sent_before(),
            "rows": rows_phrase(self.rows),
            "rows_have": f"{rows_phrase(self.rows)} {'has' if one_row else 'have'}",
            "are": "is" if one_row else "are",
            "them": "it" if one_row else "them",
            "they": "it" if one_row else "they",
            "they_are": "it is" if one_row else "they are",
            "They_are": "It is" if one_row else "They are",
            "they_were": "it was" if one_row else "they were",
            "were_sent": "was" if one_row else "were",
        }

    def _sent_before(self) -> str:
        if self.times_sent < 2:
            return ""
        charged = "" if self.cost.is_free else "; each time may be charged"
        sent = (
            f"Sent {'' if self.parts == 1 else 'up to '}{self.times_sent} times already{charged}. "
        )
        waits = "Cloudflare confirms nothing at the moment: to wait costs nothing. "
        return sent + (waits if self.is_failing else "")

    def _which(self) -> str:
        if self.parts > 1:
            return f"{parts_phrase(self.parts)} ({rows_phrase(self.rows)})"
        if not self.named:  # a worker has moved it since it was counted
            return f"part {self.first_part}"
        part = self.named[0]
        return f"part {part.number} (rows {part.first_row:,} to {part.last_row:,})"

    def _filled(self, sentence: str) -> str:
        if "[" in sentence:
            sentence = ABOUT_MONEY.sub("" if self.cost.is_free else r"\1", sentence)
        cost = str(self.cost) if "{cost}" in sentence else ""
        filled = sentence.format(**self.facts, cost=cost)
        # The name of the product is written small, also where a sentence begins.
        return filled if filled.startswith("batchui") else filled[:1].upper() + filled[1:]


class InBatch(NamedTuple):
    """The parts of one batch about which this is asked."""

    batch: Batch
    parts: int
    rows: int
