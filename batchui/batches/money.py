"""Amounts of money as people read them, in US dollars. Every page and the terminal use these."""

from math import floor, log10
from typing import NamedTuple

from batchui.cloudflare.catalogue import Model, UnknownModel, find

# A smaller amount is said to be under it.
CENT = 0.01


class UsdRange(NamedTuple):
    """From the least to the most that something costs."""

    low: float
    high: float

    def __str__(self) -> str:
        """ "under $0.01", "about $12", "$0.15 to $0.19"."""
        low, high = amount(self.low), amount(self.high)
        if self.high < CENT:
            return high
        if low == high:
            return f"about {high}"
        return f"up to {high}" if self.low < CENT else f"{low} to {high}"


def amount(usd: float) -> str:
    """ "$0", "under $0.01", "$0.15", "$12.40", "$1,240"."""
    if usd <= 0:
        return "$0"
    if usd < CENT:
        return f"under ${CENT}"
    return f"${usd:,.2f}" if usd < 100 else f"${usd:,.0f}"


def precise(usd: float) -> str:
    """ "$0", "$12.30", "$0.06", "$0.00013": two figures where `amount` says "under $0.01"."""
    digits = 1 - floor(log10(usd)) if 0 < usd < CENT else 2
    return f"${usd:,.{digits}f}" if usd > 0 else "$0"


def price_of(model: Model, *, read: float, written: float) -> float:
    """What so many tokens cost, in US dollars.

    read: tokens of questions. written: tokens of answers.
    """
    return (read * model.usd_per_m_input + written * (model.usd_per_m_output or 0.0)) / 1e6


class Prices(NamedTuple):
    """US dollars for a million tokens read, and written. read: None: the bundled ones count."""

    read: float | None = None
    written: float | None = None


BUNDLED = Prices()


def usd_of(model: str, *, read: float, written: float, prices: Prices = BUNDLED) -> float | None:
    """The same for a model by its name; None if its price is not known."""
    if prices.read is not None:
        return (read * prices.read + written * (prices.written or 0.0)) / 1e6
    try:
        return price_of(find(model), read=read, written=written)
    except UnknownModel:
        return None
