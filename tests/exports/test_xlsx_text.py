"""Texts as a workbook holds them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.exports.xlsx_text import LONGEST_TEXT, cut, escaped, is_too_long, units


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain \t\n é😀\x7f\x85\u2028", "plain \t\n é😀\x7f\x85\u2028"),
        ("\x00\x08\x0b\x1f\r\ufffe\uffff", "_x0000__x0008__x000B__x001F__x000D__xFFFE__xFFFF_"),
        ("\ud83d\udfff", "_xD83D__xDFFF_"),
        ("_x0041_", "_x005F_x0041_"),
        ("_x000D_", "_x005F_x000D_"),
        (
            "\t\n ^`\ud7ff\ue000\ufffd\U00010000\U0010ffff",
            "\t\n ^`\ud7ff\ue000\ufffd\U00010000\U0010ffff",
        ),
        ("_x0041_xBcDe_", "_x005F_x0041_x005F_xBcDe_"),
        ("_x0041\x00", "_x005F_x0041_x0000_"),
        ("_x041_ x0041_ _x004g_ _X0041_", "_x041_ x0041_ _x004g_ _X0041_"),
    ],
)
def test_what_xml_cannot_have_is_escaped_as_excel_does(text: str, written: str) -> None:
    assert escaped(text) == written
    assert units(text) == len(written.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a" * 32_767, 32_767),
        ("a" * 32_768, 32_767),
        ("a" * 100_000, 32_767),
        ("😀" * 16_383, 16_383),
        ("😀" * 16_384, 16_383),
        ("a" + "😀" * 16_384, 16_384),
        ("a" * 32_760 + "\r", 32_761),
        ("a" * 32_761 + "\r", 32_761),
        ("\r" * 4_681, 4_681),
        ("\r" * 4_682, 4_681),
    ],
)
def test_a_cell_holds_32767_units_as_they_are_written(text: str, kept: int) -> None:
    assert cut(text) == text[:kept]
    assert is_too_long(text) is (kept < len(text))


@settings(deadline=None, max_examples=20)
@given(st.text("a\r_x0041😀", min_size=1), st.integers(1_000, 40_000))
def test_what_is_cut_fits_and_one_character_more_would_not(part: str, times: int) -> None:
    text = part * times
    kept = cut(text)
    assert text.startswith(kept)
    assert units(kept) <= LONGEST_TEXT
    assert kept == text or units(text[: len(kept) + 1]) > LONGEST_TEXT
