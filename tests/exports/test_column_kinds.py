"""The kind of a column: the one that all its cells have."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.exports.column_kinds import Column, Kind
from batchui.exports.rows import column_texts

NUMBER_TEXTS = ["0", "-1", "999999999999999", "-999999999999999"]


def column(*cells: Any, untyped: bool = False, lists: bool = False) -> Column:
    made = Column(untyped=untyped, lists=lists)
    show(made, *cells)
    return made


def show(column: Column, *cells: Any) -> None:
    """Show these cells to the column."""
    texts = column_texts(cells)
    column.note(cells, texts)
    if texts:
        column.measure(texts)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (NUMBER_TEXTS, Kind.INTEGER),
        (["1", "", "2"], Kind.INTEGER),
        (["1", "2.5"], Kind.NUMBER),
        (["0.5", "-0.5", "-12.25", "0.0001"], Kind.NUMBER),
        (["0.12345678901234", "1.23456789012345"], Kind.NUMBER),
        (["1.50", "0.0", "-0.0", "-12.00"], Kind.NUMBER),
        (["7", "1.50", ""], Kind.NUMBER),
        (["0.00001", f"0.{'0' * 29}1", f"0.{'0' * 30}"], Kind.NUMBER),
        (["12345678901234.0", "99999999999999.9"], Kind.NUMBER),
        (["", ""], Kind.BLANK),
        ([], Kind.BLANK),
    ],
)
def test_texts_that_are_all_plain_decimal_numbers_are_numbers(cells: list[str], kind: Kind) -> None:
    assert column(*cells, untyped=True).kind is kind
    assert column(*cells).kind is (Kind.TEXT if any(cells) else Kind.BLANK)


@pytest.mark.parametrize(
    "text",
    [
        *("00123", "00.5", "01.50", "+5", "+1.50", "1e5", "1.5e5", "-0", ".5", "5.", "1,5", " 5"),
        *("5 ", "1.50 ", "1.5.0", "--1.5", "0x1", f"0.{'0' * 31}", f"0.{'0' * 30}1", "-", "."),
        *("1000000000000000", "123456789012345678", "1.234567890123456", "12345678901234.50"),
        *("NaN", "inf", "1_000", "٣", "5\n", "1\n2", "TRUE", "2026-05-01", "=1"),
    ],
)
def test_one_text_that_is_no_plain_decimal_number_keeps_the_column_a_text(text: str) -> None:
    assert column(text, untyped=True).kind is Kind.TEXT
    assert column("1", text, untyped=True).kind is Kind.TEXT
    assert column("2.5", text, untyped=True).kind is Kind.TEXT


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.integers(-(10**17), 10**17).map(str)
        | st.floats(allow_nan=False, allow_infinity=False).map(repr)
        | st.decimals(-1_000, 1_000, places=2).map(str)
        | st.text("0123456789.-+e", max_size=6),
        max_size=3,
    )
)
def test_a_column_of_numbers_has_the_value_of_every_text(texts: list[str]) -> None:
    kind = column(*texts, untyped=True).kind
    for text in filter(None, texts):
        if kind is Kind.INTEGER:
            assert str(int(text)) == text
        elif kind is Kind.NUMBER:
            assert Decimal(repr(float(text))) == Decimal(text)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, -(2**53)], Kind.INTEGER),
        ([1, 2**63 - 1, -(2**63)], Kind.INTEGER),
        ([2**63], Kind.TEXT),
        ([-(2**63) - 1], Kind.TEXT),
        ([1, 2.5], Kind.NUMBER),
        ([Decimal("1.10"), Decimal("1E+30"), 2**53], Kind.NUMBER),
        ([2.5, 2**53 + 1], Kind.TEXT),
        ([Decimal("0.1234567890123456789")], Kind.TEXT),
        ([Decimal("1E+400")], Kind.TEXT),
        ([Decimal("-1.5"), Decimal("123456789012.25")], Kind.NUMBER),
        ([Decimal("12345678901234567.5"), Decimal("1.10")], Kind.TEXT),
        ([Decimal("9007199254740993")], Kind.TEXT),
        ([Decimal("1.5"), "", Decimal("2.5")], Kind.NUMBER),
        ([Decimal("1.5"), True], Kind.TEXT),
        ([2.5, 0.1], Kind.NUMBER),
        ([2.5, True], Kind.TEXT),
        ([True, False], Kind.BOOLEAN),
        ([True, 1], Kind.TEXT),
        ([{"date": "2026-05-01"}, ""], Kind.DATE),
        ([{"datetime": "2026-05-01 12:30:15.5"}], Kind.DATETIME),
        ([{"datetime": "2026-05-01 12:30:15"}, {"date": "2026-05-01"}], Kind.TEXT),
        ([{"date": "2026-02-30"}], Kind.TEXT),
        ([{"datetime": "2026-05-01 12:30:15+02:00"}], Kind.TEXT),
        ([{"percent": "25%"}, {"percent": "-12.5%"}], Kind.PERCENT),
        ([{"percent": "25%"}, 25], Kind.TEXT),
        ([{"percent": "25 %"}], Kind.TEXT),
        ([{"time": "12:30:00"}], Kind.TEXT),
        ([{"duration": "30:00:00"}], Kind.TEXT),
        ([{"shown": "00123", "number": 123}], Kind.TEXT),
        ([1, "x"], Kind.TEXT),
    ],
)
def test_typed_cells_have_the_kind_that_fits_all_of_them(cells: list[Any], kind: Kind) -> None:
    assert column(*cells).kind is kind
    assert column(*reversed(cells)).kind is kind
    one_by_one = column()
    for cell in cells:
        show(one_by_one, cell)
    assert one_by_one.kind is kind


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["[0.1,-2]", "", "[1e-5]"], Kind.NUMBERS),
        (["[]"], Kind.TEXT),
        (["[1]", "[[1]]"], Kind.TEXT),
        (["[1]", '["1"]'], Kind.TEXT),
        (["[1]", "[null]"], Kind.TEXT),
        (["[1]", "[true]"], Kind.TEXT),
        (["[1]", "[1"], Kind.TEXT),
        (["[1]", "1"], Kind.TEXT),
        (["1"], Kind.INTEGER),
    ],
)
def test_lists_of_numbers_are_a_kind_where_they_may_be(texts: list[str], kind: Kind) -> None:
    assert column(*texts, untyped=True, lists=True).kind is kind
    if kind is Kind.NUMBERS:
        nothing_said = Column(untyped=True)
        show(nothing_said, *texts)
        assert nothing_said.kind is Kind.TEXT


def test_the_longest_text_and_the_widest_cell_are_known() -> None:
    made = column("abc", "日本語", 12345, "")
    assert (made.longest, made.width) == (5, 6)
    show(made, "x" * 1_000)
    assert (made.longest, made.width) == (1_000, 60)
    show(made, "short")
    assert (made.longest, made.width) == (1_000, 60)
    assert column("日" * 59).width == 60
    # Full-width letters are as wide as Chinese ones; those of half width are not.
    assert (column("Ａ！").width, column("ｱｲ").width) == (4, 2)


def test_of_no_cells_there_is_no_length() -> None:
    made = Column(untyped=True)
    assert (made.kind, made.longest, made.width) == (Kind.BLANK, 0, 0)
