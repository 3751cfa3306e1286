"""Every value becomes a cell that spreadsheets read as the same value."""

import html
import io
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from batchui.exports.workbook.cell_xml import CellWriter, Value
from batchui.exports.xlsx_text import LONGEST_TEXT
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


def written(text: str) -> str:
    """The text of a cell, as XML."""
    before, text_and_rest = cell(text).split('xml:space="preserve">')
    assert before == '<c r="E5" t="inlineStr"><is><t '
    return text_and_rest.removesuffix("</t></is></c>")


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
        (1e300, "><v>1e300</v>"),
        (Decimal("1.10"), "><v>1.10</v>"),
        (Decimal("1E-7"), "><v>1E-7</v>"),
        (999_999_999_999_999, "><v>999999999999999</v>"),
        (-999_999_999_999_999, "><v>-999999999999999</v>"),
        (10**15, ' t="inlineStr"><is><t xml:space="preserve">1000000000000000</t></is>'),
        (-(10**15), ' t="inlineStr"><is><t xml:space="preserve">-1000000000000000</t></is>'),
        (
            Decimal(123456789012345678),
            ' t="inlineStr"><is><t xml:space="preserve">123456789012345678</t></is>',
        ),
        (
            Decimal("0.1234567890123456789"),
            ' t="inlineStr"><is><t xml:space="preserve">0.1234567890123456789</t></is>',
        ),
        (Decimal("1E+400"), ' t="inlineStr"><is><t xml:space="preserve">1E+400</t></is>'),
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
    ("text", "xml"),
    [
        ("plain", "plain"),
        ("a & b < c > d \"e\" 'f'", "a &amp; b &lt; c &gt; d \"e\" 'f'"),
        ("a\r\nb\rc\nd", "a_x000D_\nb_x000D_c\nd"),
        ("_x000D_", "_x005F_x000D_"),
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
    assert written(text) == xml


EDGES = [*range(0x100), 0xD7FF, 0xD800, 0xDFFF, 0xE000, *range(0xFFFD, 0x10002), 0x10FFFF]


@pytest.mark.parametrize("code", EDGES, ids=hex)
def test_every_character_is_as_xml_has_it(code: int) -> None:
    sign = chr(code)
    is_impossible = (code < 0x20 and sign not in "\t\n") or 0xD800 <= code < 0xE000
    if is_impossible or sign in "\ufffe\uffff":
        sign = f"_x{code:04X}_"
    assert written(f"a{chr(code)}b") == f"a{html.escape(sign, quote=False)}b"


@given(HARD)
@settings(max_examples=300, deadline=None)
def test_what_was_escaped_is_read_as_it_was(text: str) -> None:
    assert not text or unescaped(written(text)) == text


@given(HARD, st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_cut_text_is_the_beginning_of_the_text(text: str, more: int) -> None:
    long = "a" * (LONGEST_TEXT - more) + text + "b" * 60
    short = unescaped(written(long))
    assert short == long[: len(short)]
    assert len(short) > LONGEST_TEXT - 7 * more - 14


@pytest.mark.parametrize(
    ("text", "cuts", "kept"),
    [
        ("a" * LONGEST_TEXT, 0, 32_767),
        ("a" * (LONGEST_TEXT + 1), 1, 32_767),
        ("\U0001f600" * 16_383, 0, 16_383),
        ("\U0001f600" * 16_384, 1, 16_383),
        ("&" * LONGEST_TEXT, 0, 32_767),
        ("&" * (LONGEST_TEXT + 1), 1, 32_767),
        ("\r" * 4_681, 0, 4_681),
        ("\r" * 4_682, 1, 4_681),
    ],
)
def test_cells_that_were_cut_are_counted(text: str, cuts: int, kept: int) -> None:
    writer = CellWriter(["A"], "")
    found = re.search(">([^<]*)</t>", writer.cell(0, 1, text))
    assert found
    assert (writer.cut, unescaped(found[1])) == (cuts, text[:kept])
    writer.cell(0, 2, text)
    writer.cell(0, 3, "short")
    assert writer.cut == 2 * cuts


def test_calamine_reads_the_text_that_was_written() -> None:
    texts = ["=1+1", " a ", "\n", "a\r\nb", "\1\x0b", "_x0041_", "\U0001f600", "<&>", "0"]
    rows = [(row, [text]) for row, text in enumerate(texts, 1)]
    content, _ = add(by_hand(sheet("")), header_row=0, columns=["a"], rows=rows, last_row=20)
    read = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()
    assert [value for [value] in read] == texts
