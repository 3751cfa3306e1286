"""Amounts of money, as people read them."""

import pytest

from batchui.batches.money import UsdRange, amount, precise, price_of
from batchui.cloudflare import catalogue


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0"),
        (0.00001, "under $0.01"),
        (0.0099, "under $0.01"),
        (0.01, "$0.01"),
        (0.154, "$0.15"),
        (12.4, "$12.40"),
        (99.99, "$99.99"),
        (100, "$100"),
        (1240.4, "$1,240"),
    ],
)
def test_an_amount_is_said_as_exactly_as_it_matters(usd: float, text: str) -> None:
    assert amount(usd) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0, 0, "$0"),
        (0.001, 0.009, "under $0.01"),
        (0.001, 0.02, "up to $0.02"),
        (0.15, 0.19, "$0.15 to $0.19"),
        (0.151, 0.1549, "about $0.15"),
        (12, 190, "$12.00 to $190"),
    ],
)
def test_a_range_is_one_phrase(low: float, high: float, text: str) -> None:
    assert str(UsdRange(low, high)) == text


def test_a_price_follows_from_both_kinds_of_tokens() -> None:
    model = catalogue.find(catalogue.DEFAULT_MODEL)
    assert model.usd_per_m_output is not None
    read, written = model.usd_per_m_input, model.usd_per_m_output
    assert price_of(model, read=1_000_000, written=0) == pytest.approx(read)
    assert price_of(model, read=0, written=2_000_000) == pytest.approx(2 * written)


def test_what_is_written_by_a_model_without_such_a_price_is_free() -> None:
    model = next(one for one in catalogue.models() if one.usd_per_m_output is None)
    assert price_of(model, read=0, written=1_000_000) == 0


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0"),
        (12.3, "$12.30"),
        (1234.5, "$1,234.50"),
        (0.06, "$0.06"),
        (0.000071, "$0.000071"),
        (0.0095, "$0.0095"),
    ],
)
def test_a_small_amount_has_two_figures_that_count(usd: float, text: str) -> None:
    assert precise(usd) == text
