"""What sending rows costs, estimated from what is known of their batches."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Sum

from batchui.batches.charged import MAYBE_CHARGED, SENT_AGAIN_IN_VAIN
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.money import usd_of
from batchui.batches.phrases import free_words
from batchui.batches.references import longest_answer, with_longest
from batchui.batches.spending import prices_of
from batchui.prompts import ask

# Bytes of a request for one token, in most languages. A rough guess, rather low: a price that turns
# out lower than it was said annoys nobody.
BYTES_PER_TOKEN = 3
# Of a batch; what its price follows from.
NEEDED = (
    "connection__kind",
    *ask.NAMES,
    *("rows", "source_size", "answered", "prompt_tokens", "completion_tokens"),
    *("usd_read", "usd_written"),
)


def charged_twice(parts: QuerySet[Part]) -> QuerySet[Part]:
    """Those of the parts that were charged twice, or may have been.

    A request was made after one that was charged, or may have been, and did not answer every row.
    """
    later = Attempt.objects.filter(
        MAYBE_CHARGED, part=OuterRef("part"), number__gt=OuterRef("number")
    )
    in_vain = Attempt.objects.filter(SENT_AGAIN_IN_VAIN, Exists(later))
    return parts.filter(Exists(in_vain.filter(part=OuterRef("pk"))))


class Cost(NamedTuple):
    """About what something costs, in US dollars.

    usd: None if the price of a model is not known. is_measured: from the answers so far, not from
    the size of the rows. is_free: nobody is paid, for the
    reason in `free_words`.
    """

    usd: float | None
    is_measured: bool
    is_free: bool
    free_words: str = ""

    def __str__(self) -> str:
        """ "about $1.20", "up to about $3.40", "less than $0.01"."""
        if self.is_free:
            return self.free_words
        if self.usd is None:
            return "a price that batchui does not know"
        if self.usd < 0.01:
            return "less than $0.01"
        return f"{'' if self.is_measured else 'up to '}about ${self.usd:,.2f}"


def cost_of(rows: Mapping[UUID, int], *, longest: int | None = None) -> Cost:
    """What it costs to send so many rows of each of these batches, by their ids.

    From the tokens of the rows that a batch has answered; before the first answer, from the size of
    its requests (or of its file) and the longest answer asked for, which is rather too high.
    longest: the answers may have so many tokens besides their reasoning, and are reckoned to.
    """
    batches = Batch.objects.filter(pk__in=rows.keys()).select_related("connection").only(*NEEDED)
    charged = [batch for batch in batches if not batch.connection.is_free]
    sizes = _bytes_per_row([batch.pk for batch in charged])
    prices = [_usd(batch, rows[batch.pk], sizes.get(batch.pk), longest) for batch in charged]
    known = [price for price in prices if price is not None]
    return Cost(
        usd=sum(known) if len(known) == len(prices) else None,
        is_measured=longest is None and all(_is_measured(batch) for batch in charged),
        is_free=not charged,
        free_words="" if charged else next((free_words(one.connection) for one in batches), ""),
    )


def _bytes_per_row(batches: list[UUID]) -> dict[UUID, float]:
    sent = Attempt.objects.filter(part__batch__in=batches).exclude(payload_size=0)
    sums = sent.values_list("part__batch").annotate(Sum("payload_size"), Sum("items")).order_by()
    return {batch: size / items for batch, size, items in sums}


def _is_measured(batch: Batch) -> bool:
    return bool(batch.answered and batch.prompt_tokens)


def _usd(batch: Batch, rows: int, bytes_per_row: float | None, longest: int | None) -> float | None:
    if _is_measured(batch):
        read = batch.prompt_tokens / batch.answered
        written = batch.completion_tokens / batch.answered
    else:
        if bytes_per_row is None:
            cells = batch.source_size / max(batch.rows, 1)
            bytes_per_row = cells + len(batch.ask.template) + len(batch.ask.instruction)
        read, written = bytes_per_row / BYTES_PER_TOKEN, float(longest_answer(batch.ask))
    if longest is not None:
        written = float(longest_answer(with_longest(batch.ask, longest)))
    prices = prices_of(batch)
    return usd_of(batch.ask.model, read=rows * read, written=rows * written, prices=prices)
