"""What sending rows costs, estimated from what is known of their batch."""

from collections.abc import Iterable

from batchui.batches.models import Batch, Part
from batchui.cloudflare import catalogue

# Bytes of a request for one token, in most languages. A rough guess, on the high side of the price.
BYTES_PER_TOKEN = 3


def usd_of(parts: Iterable[Part]) -> float:
    """About what it costs to send the waiting rows of these parts, in US dollars.

    From the tokens of the rows that this batch has answered; before the first answer, from the
    size of the requests and the longest answer asked for, which is too high rather than too low.
    """
    return sum(_usd(part, part.batch) for part in parts)


def _usd(part: Part, batch: Batch) -> float:
    try:
        model = catalogue.find(batch.ask.model)
    except catalogue.UnknownModel:
        return 0.0
    rows = part.waiting
    if batch.answered and batch.prompt_tokens:
        read = batch.prompt_tokens / batch.answered * rows
        written = batch.completion_tokens / batch.answered * rows
    else:
        latest = part.attempts.order_by("-number").first()
        read = latest.payload_size / BYTES_PER_TOKEN if latest else 0.0
        written = float(rows * batch.ask.max_tokens)
    return (read * model.usd_per_m_input + written * (model.usd_per_m_output or 0.0)) / 1e6


def in_words(usd: float) -> str:
    """ "less than $0.01", "about $1.20"."""
    return "less than $0.01" if usd < 0.01 else f"about ${usd:,.2f}"
