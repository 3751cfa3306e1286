"""The price of a draft, as its page shows it: a range, how it was reckoned, the usual time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from batchui.batches import estimates
from batchui.batches.answer_lengths import Measured, Source
from batchui.batches.compressed import DamagedFile
from batchui.batches.estimates import Estimate, Tokens
from batchui.batches.models import Batch
from batchui.batches.money import amount
from batchui.batches.phrases import parts_phrase, rows_phrase
from batchui.batches.surveys import Survey
from batchui.batches.usual_times import usual_time


class Line(NamedTuple):
    """A line of “how it was reckoned”."""

    label: str
    text: str


@dataclass(frozen=True)
class Price:
    """The price of a draft.

    text: “about $0.15 to $0.19”, “free in the sandbox”. usual: “batches like this took 3 to 9
    minutes”; "" if that is not known. reckoned: how the price came about.
    """

    text: str
    usual: str
    reckoned: list[Line]
    estimate: Estimate


def price_of(batch: Batch, survey: Survey | None) -> Price | None:
    """The price of a draft as its question is now; None while nothing can be said."""
    found = estimate_of(batch, survey)
    if found is None:
        return None
    usual = usual_time(batch, rows=found.rows)
    return Price(
        text=_text(found),
        usual=f"batches like this took {usual}" if usual else "",
        reckoned=list(_reckoned(found)),
        estimate=found,
    )


def estimate_of(batch: Batch, survey: Survey | None) -> Estimate | None:
    """As `estimates.estimate`; None, too, for a draft whose stored rows cannot be read.

    What is wrong with its file is said elsewhere on the page.
    """
    try:
        return estimates.estimate(batch, survey)
    except (OSError, DamagedFile):
        return None


def _text(found: Estimate) -> str:
    if found.is_free:
        return found.free_words
    if found.usd is None or found.to_pay is None:
        return "batchui does not know this model's price"
    if found.free_usd >= found.usd.high:
        return f"{found.usd}, free today"
    about = str(found.usd)
    if not about.startswith(("about", "under", "up to")):
        about = f"about {about}"
    return f"{about}, to pay {found.to_pay}" if found.free_usd else about


def _reckoned(found: Estimate) -> Iterator[Line]:
    yield Line("Rows", f"{rows_phrase(found.rows)}, in {parts_phrase(found.parts)}")
    sample = "all of them" if found.sampled >= found.rows else f"{found.sampled:,} of them"
    yield Line(
        "Read",
        f"{_tokens(found.read)}, from the length of the questions ({sample} were looked at) and "
        f"{_figures(found.bytes_per_token)} bytes for a token: {found.bytes_per_token.source}",
    )
    if found.per_picture:
        each = f"{_figures(found.per_picture)} tokens for each: {found.per_picture.source}"
        yield Line("Pictures", f"read with the questions, {each}")
    if found.written_per_row.source is Source.NONE:
        yield Line("Written", "nothing: this model writes no text")
    else:
        each = f"{_figures(found.written_per_row)} for each answer"
        yield Line("Written", f"{_tokens(found.written)}, {each}: {found.written_per_row.source}")
    if found.is_free:
        yield Line("Price", f"Nothing: it is {found.free_words}.")
        return
    yield Line("Price", str(found.usd) if found.usd else "not known for this model")
    if found.free_usd and found.to_pay:
        yield Line(
            "Free today",
            f"{amount(found.free_usd)} of Cloudflare's daily allowance is left, as far as batchui "
            f"knows; what else uses the account is not known here. To pay: {found.to_pay}.",
        )


def _tokens(tokens: Tokens) -> str:
    low, high = (_rounded(one) for one in tokens)
    return f"{low} to {high} tokens" if low != high else f"{high} tokens"


def _rounded(number: float) -> str:
    """Two figures that count, as more of them would only seem exact."""
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits if digits > 0 else 0):,.0f}"


def _figures(measured: Measured) -> str:
    low, high = (f"{one:.1f}" if one < 10 else f"{one:,.0f}" for one in measured[:2])
    return f"{low} to {high}" if low != high else low
