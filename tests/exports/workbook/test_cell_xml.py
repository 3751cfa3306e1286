"""Every value becomes a cell that spreadsheets read as the same value."""

import html
import io
import math
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from batchui.exports.workbook.cell_xml import (
    LONGEST_TEXT,
    CellWriter,
    Value,
    cut,
    escaped,
    is_number,
    utf16_units,
)
from tests.exports.workbook.sample_workbooks import by_hand
from tests.exports.workbook.splice import add
from tests.exports.workbook.xml_by_hand import sheet

# What is hard about text: markup, escapes and pieces of them, what XML cannot hold.
HARD = st.text(
    st.one_of(
        st.sampled_from([*"&<>\"'_x0Fa", *"\0\1\x08\t\n\x0b\r\x1f\x7f\x85", "\ud800", "\udfff"]),
        st.sampled_from(["\ufffe", "\uffff", "\U0001f600", "é", " ", "\u2028"]),
        st.characters(),
    ),
    max_size=60,
)


def cell(value: Value, **options: str) -> str:
    return CellWriter(["E", "F"], "").cell(0, 5, value, **options)


def unescaped(text: str) -> str:
    """What a spreadsheet reads (ECMA-376 part 1, 22.9.2.19)."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), html.unescape(text))


@pytest.mark.parametrize(
    ("value", "xml"),
    [
        ("a", ' t="inlineStr"><is><t xml:space="preserve">a</t></is>'),
        (" a\n\tb ", ' t="inlineStr"><is><t xml:space="preserve"> a\n\tb </t></is>'),
        ("=1+1", ' t="inlineStr"><is><t xml:space="preserve">=1+1</t></is>'),
        ("00123", ' t="inlineStr"><is><t xml:space="preserve">00123</t></is>'),
        (True, ' t="b"><v>1</v>'),
        (False, ' t="b"><v>0</v>'),
        (0, "><v>0</v>"),
        (-7, "><v>-7</v>"),
        (0.1, "><v>0.1</v>"),
        (1e300, "><v>1e+300</v>"),
        (Decimal("1.10"), "><v>1.10</v>"),
        (Decimal("1E-7"), "><v>1E-7</v>"),
        (2**53 - 1, "><v>9007199254740991</v>"),
        (1 - 2**53, "><v>-9007199254740991</v>"),
        (2**53, ' t="inlineStr"><is><t xml:space="preserve">9007199254740992</t></is>'),
        (-(2**53), ' t="inlineStr"><is><t xml:space="preserve">-9007199254740992</t></is>'),
        (
            Decimal(123456789012345678),
            ' t="inlineStr"><is><t xml:space="preserve">123456789012345678</t></is>',
        ),
        (math.nan, ' t="inlineStr"><is><t xml:space="preserve">NaN</t></is>'),
        (-math.inf, ' t="inlineStr"><is><t xml:space="preserve">-Infinity</t></is>'),
        (Decimal("NaN"), ' t="inlineStr"><is><t xml:space="preserve">NaN</t></is>'),
        (Decimal("Infinity"), ' t="inlineStr"><is><t xml:space="preserve">Infinity</t></is>'),
    ],
)
def test_a_value_becomes_a_cell(value: Value, xml: str) -> None:
    assert cell(value) == f'<c r="E5"{xml}</c>'
    assert cell(value, style="12") == f'<c r="E5" s="12"{xml}</c>'


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_is_no_cell(value: Value) -> None:
    assert cell(value) == cell(value, style="3") == ""


def test_a_column_and_a_prefix_are_as_told() -> None:
    writer = CellWriter(["E", "F"], "x:")
    assert writer.cell(1, 7, 2) == '<x:c r="F7"><x:v>2</x:v></x:c>'
    assert writer.cell(1, 7, "a") == (
        '<x:c r="F7" t="inlineStr"><x:is><x:t xml:space="preserve">a</x:t></x:is></x:c>'
    )
    assert writer.cell(0, 7, True) == '<x:c r="E7" t="b"><x:v>1</x:v></x:c>'


@pytest.mark.parametrize(
    ("value", "holds"),
    [(1.5, True), (1e308, True), (math.inf, False), (Decimal("sNaN"), False), (2**53, False)],
)
def test_a_number_is_one_that_a_double_holds(value: float | Decimal, holds: bool) -> None:
    assert is_number(value) == holds


@pytest.mark.parametrize(
    ("text", "xml"),
    [
        ("plain", "plain"),
        ("a & b < c > d \"e\" 'f'", "a &amp; b &lt; c &gt; d \"e\" 'f'"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\0\1\x1f\x0b\x0c\t", "_x0000__x0001__x001F__x000B__x000C_\t"),
        ("\ufffe\uffff\ufffd\x7f\x85", "_xFFFE__xFFFF_\ufffd\x7f\x85"),
        ("\ud83d \ude00", "_xD83D_ _xDE00_"),
        ("_x0041_", "_x005F_x0041_"),
        ("_x0041_x0042_", "_x005F_x0041_x005F_x0042_"),
        ("_xabcd_ _xABC_ _X0041_ _x0041", "_x005F_xabcd_ _xABC_ _X0041_ _x0041"),
        ("_x0041\1", "_x005F_x0041_x0001_"),
        ("__x0041_", "__x005F_x0041_"),
    ],
)
def test_text_is_escaped(text: str, xml: str) -> None:
    assert escaped(text) == xml


@given(HARD)
@settings(max_examples=300, deadline=None)
def test_what_was_escaped_is_read_as_it_was(text: str) -> None:
    assert unescaped(escaped(text)) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(HARD, st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_cut_text_is_the_beginning_of_the_text(text: str, more: int) -> None:
    long = "a" * (LONGEST_TEXT - more) + text + "b" * 60
    short = cut(escaped(long))
    assert utf16_units(short) <= LONGEST_TEXT
    read = unescaped(short)
    assert escaped(long.replace("\r\n", "\n").replace("\r", "\n")[: len(read)]) == escaped(read)
    # No more is lost than one character, and what looks like the beginning of an escape.
    assert utf16_units(short) > LONGEST_TEXT - 14


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ("b", ""),
        ("\U0001f600", ""),
        ("&", ""),
        ("_x0041_", "_"),
        ("\1", ""),
        ("_xyz", "_"),
    ],
)
def test_text_is_cut_between_characters(tail: str, kept: str) -> None:
    beginning = "a" * (LONGEST_TEXT - len(escaped(kept)))
    assert cut(escaped(beginning + kept + tail)) in (beginning + kept, beginning)
    assert cut(escaped("a" * LONGEST_TEXT + tail)) == "a" * LONGEST_TEXT


@pytest.mark.parametrize(
    ("escape", "left"),
    [
        ("&amp;", ""),
        ("_x0001_", ""),
        ("_x0001__x0002_", "_x0001_"),
        ("_x005F_x0041_", "_x005F_"),
    ],
)
def test_no_part_of_an_escape_is_left(escape: str, left: str) -> None:
    for room in range(len(left) + 1, len(escape)):
        beginning = "a" * (LONGEST_TEXT - room)
        after = cut(beginning + escape + "b" * 40).removeprefix(beginning)
        assert unescaped(escape).startswith(unescaped(after))
        assert len(after) >= len(left)


@pytest.mark.parametrize(
    ("text", "cuts", "units"),
    [
        ("a" * LONGEST_TEXT, 0, 32_767),
        ("a" * (LONGEST_TEXT + 1), 1, 32_767),
        ("\U0001f600" * 16_383, 0, 32_766),
        ("\U0001f600" * 16_384, 1, 32_766),
        ("&" * 6_553, 0, 32_765),
        ("&" * 6_554, 1, 32_765),
    ],
)
def test_cells_that_were_cut_are_counted(text: str, cuts: int, units: int) -> None:
    writer = CellWriter(["A"], "")
    found = re.search(">([^<]*)</t>", writer.cell(0, 1, text))
    assert found
    assert (writer.cut, utf16_units(found[1])) == (cuts, units)
    writer.cell(0, 2, text)
    writer.cell(0, 3, "short")
    assert writer.cut == 2 * cuts


def test_calamine_reads_the_text_that_was_written() -> None:
    texts = ["=1+1", " a ", "\n", "a\r\nb", "\1\x0b", "_x0041_", "\U0001f600", "<&>", "0"]
    rows = [(row, [text]) for row, text in enumerate(texts, 1)]
    content, _ = add(by_hand(sheet("")), header_row=0, columns=["a"], rows=rows, last_row=20)
    read = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()
    assert [value for [value] in read] == [text.replace("\r\n", "\n") for text in texts]
