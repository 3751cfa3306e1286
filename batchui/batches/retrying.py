"""What a Retry does, in numbers and in words."""

from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from batchui.batches import goes_to
from batchui.batches.models import UNANSWERED, Attempt, Batch
from batchui.batches.phrases import rows_are, rows_phrase
from batchui.batches.states import AnswerStatus, AttemptStatus


class Retried(NamedTuple):
    """What becomes of the rows without an answer: how many of each kind."""

    looked_for: int  # Cloudflare has them: their answers are asked for first, free of charge
    sent: int  # for the first time
    sent_again: int

    @property
    def is_free(self) -> bool:
        """Whether nothing has to be sent, if the answers are still there."""
        return bool(self.looked_for) and not (self.sent or self.sent_again)

    def __str__(self) -> str:
        """Sentences: "batchui looks for the answers to 60 rows first, free of charge."."""
        sentences = []
        if self.looked_for:
            rows = rows_phrase(self.looked_for)
            sentences.append(f"batchui looks for the answers to {rows} first, free of charge.")
        if self.sent:
            sentences.append(f"{rows_are(self.sent)} sent.")
        if self.sent_again:
            sentences.append(f"{rows_are(self.sent_again)} sent again.")
        return " ".join(sentences)


def rows_of_retry(batch: Batch) -> Retried:
    """What a Retry of a batch that has ended does with its rows."""
    accepted = Attempt.objects.filter(part=OuterRef("pk"), status=AttemptStatus.ACCEPTED)
    unsent = F(AnswerStatus.UNSENT.value)
    sums = batch.parts.annotate(is_there=Exists(accepted)).aggregate(
        looked_for=_sum(UNANSWERED, is_there=True),
        sent=_sum(unsent, is_there=False),
        sent_again=_sum(UNANSWERED - unsent, is_there=False),
    )
    return Retried(**sums)


def _sum(rows: Combinable, *, is_there: bool) -> Coalesce:
    return Coalesce(Sum(rows, filter=Q(is_there=is_there)), 0)


def open_again(batch: Batch) -> None:
    """Let an ended batch go on. The caller has locked it.

    It stays with its connection. If that takes no new batches any more, it goes to the team's
    current one, unless an accepted request still has its answer at the old one.
    """
    batch.stop_requested_at = None
    if not Attempt.objects.filter(part__batch=batch, status=AttemptStatus.ACCEPTED).exists():
        batch.connection = goes_to.connection_for_retry(batch)
    batch.save(update_fields=["stop_requested_at", "connection"])
