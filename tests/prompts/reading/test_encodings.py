"""Bytes become text without a guess that could spoil it."""

from typing import BinaryIO, cast

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.decoding import detect
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.readers import read
from tests.prompts.files import Dribble, cells_of, format_of, place_of, report_of, rows_of

TABLE = "id,text\n1,Ärger über naïve Café-Gäste – “quoted” €\n2,plain\n"
CELLS = [["1", "Ärger über naïve Café-Gäste – “quoted” €"], ["2", "plain"]]
BY_ENCODING = [
    ("utf-8", "utf-8"),
    ("utf-8-sig", "utf-8"),
    ("utf-16", "utf-16-le"),
    ("utf-16-le", "utf-16-le"),
    ("utf-16-be", "utf-16-be"),
    ("utf-32", "utf-32-le"),
    ("utf-32-be", "utf-32-be"),
    ("cp1252", "cp1252"),
]


def written_in(encoding: str, text: str = "") -> bytes:
    """The table in an encoding. Python writes no mark where the byte order is in the name."""
    marked = encoding == "utf-32-be"
    return (("\ufeff" if marked else "") + (text or TABLE)).encode(encoding)


@pytest.mark.parametrize(("written", "found"), BY_ENCODING)
def test_every_encoding_gives_the_same_cells(written: str, found: str) -> None:
    data = written_in(written)
    assert format_of(data).encoding == found
    assert cells_of(data) == CELLS


@pytest.mark.parametrize("written", [written for written, _ in BY_ENCODING])
@pytest.mark.parametrize("piece", [1, 2, 3, 5])
def test_a_character_may_fall_between_two_pieces(written: str, piece: int) -> None:
    data = written_in(written, "\ufeff" + TABLE if written == "utf-16-be" else TABLE)
    assert [row.cells for row in rows_of(data, piece=piece)] == CELLS


def test_two_byte_order_marks_are_not_part_of_the_first_name() -> None:
    assert format_of(b"\xef\xbb\xbf" * 2 + b"id,text\n1,a\n").columns == ("id", "text")


def test_characters_beyond_the_basic_plane_survive() -> None:
    for encoding in ("utf-8", "utf-16", "utf-32"):
        assert cells_of("a,b\n1,👩‍👩‍👧 日本語\n".encode(encoding)) == [["1", "👩‍👩‍👧 日本語"]]


@pytest.mark.parametrize("text", ["Привет, мир", "你好，世界", "שלום"])
def test_scripts_far_from_latin_are_no_rubbish(text: str) -> None:
    for encoding in ("utf-16", "utf-32", "utf-8"):
        assert cells_of(f'a,b\n1,"{text}"\n'.encode(encoding)) == [["1", text]]


def test_a_byte_order_mark_is_not_part_of_the_first_name() -> None:
    assert format_of(b'\xef\xbb\xbf"id",text\n1,x\n').columns == ("id", "text")


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_a_byte_order_mark_within_a_file_is_a_character_of_its_cell(piece: int) -> None:
    data = "\ufeffid,text\n1,\ufeffx\n".encode()
    assert [row.cells for row in rows_of(data, piece=piece)] == [["1", "\ufeffx"]]


def test_a_late_line_that_is_not_utf8_turns_the_whole_file_to_windows_1252() -> None:
    data = b"id,text\n" + b"1,plain enough\n" * 30_000 + b"2,caf\xe9\n"
    report = report_of(data, max_rows=100_000)
    assert report.format.encoding == "cp1252"
    assert report.rows == 30_001


def test_one_damaged_byte_does_not_turn_proper_utf8_into_nonsense() -> None:
    before = "id,text\n1,é\n".encode() + b"2,\xe9\n"
    with pytest.raises(BadInput, match=r"^Line 3: the byte 0xE9 has no meaning in UTF-8"):
        format_of(before)
    after = b"id,text\n1,\xe9\n" + "2,é\n3,ü\n".encode()
    with pytest.raises(BadInput, match=r"^Line 2: the byte 0xE9"):
        format_of(after)


def test_a_late_damaged_byte_in_utf8_is_named_by_its_line() -> None:
    data = "id,text\n1,é\n".encode() + b"1,plain enough\n" * 30_000 + b"2,caf\xe9\n3,x\n"
    with pytest.raises(
        BadInput, match=r"^Line 30,003: the byte 0xE9 .* Save it as UTF-8"
    ) as caught:
        report_of(data, max_rows=100_000)
    assert place_of(caught.value)[1] == 30_003


@pytest.mark.parametrize("byte", [0x81, 0x8D, 0x8F, 0x90, 0x9D])
def test_the_five_bytes_that_windows_1252_lacks_are_named_by_line(byte: int) -> None:
    data = b"id,text\n1,caf\xe9\n2," + bytes([byte]) + b"\n"
    with pytest.raises(BadInput, match=rf"^Line 3: the byte 0x{byte:02X} .*Windows-1252"):
        format_of(data)
    late = b"id,text\n" + b"1,plain enough\n" * 30_000 + b"2,caf\xe9\n3," + bytes([byte]) + b"\n"
    with pytest.raises(BadInput, match=rf"^Line 30,003: the byte 0x{byte:02X}"):
        report_of(late, max_rows=100_000)


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
def test_a_file_that_ends_in_half_a_character_is_named_by_line(encoding: str) -> None:
    data = "id,text\n1,x\n2,y".encode(encoding)[:-1]
    with pytest.raises(BadInput, match=rf"^Line 3: .*{encoding}"):
        format_of(data)


def test_lines_are_counted_across_pieces_and_line_breaks() -> None:
    data = "a,b\r\n1,é\r2,x\n3,".encode() + b"\xff\n"
    with pytest.raises(BadInput, match=r"^Line 4: the byte 0xFF"):
        list(read(cast(BinaryIO, Dribble(data, 2)), Format("csv", "utf-8", ",", ("a", "b"))))


# -- UTF-16 and 32 without a byte order mark ----------------------------------------------------

BYTE_ORDERS = ["utf-16-le", "utf-16-be"]


@pytest.mark.parametrize("encoding", BYTE_ORDERS)
@pytest.mark.parametrize("text", ["a", "abcПр"])
def test_six_latin_letters_in_ten_show_utf16(encoding: str, text: str) -> None:
    assert detect(text.encode(encoding), whole=True) == encoding


@pytest.mark.parametrize("encoding", BYTE_ORDERS)
def test_one_zero_in_twenty_may_be_at_the_wrong_place(encoding: str) -> None:
    assert detect("Ānother twenty signs".encode(encoding), whole=True) == encoding
    with pytest.raises(BadInput, match="NUL byte"):
        detect("ĀĀother twenty signs".encode(encoding), whole=True)


@pytest.mark.parametrize("encoding", BYTE_ORDERS)
def test_half_the_letters_are_too_few_to_show_utf16(encoding: str) -> None:
    with pytest.raises(BadInput, match="NUL byte"):
        detect("abПр".encode(encoding), whole=True)


@pytest.mark.parametrize("encoding", BYTE_ORDERS)
def test_line_breaks_show_utf16_of_any_script(encoding: str) -> None:
    assert detect("имя\nПётр\n".encode(encoding), whole=True) == encoding
    assert detect("名称\r\n鈴木\r\n".encode(encoding), whole=True) == encoding
    # U+300A ends with the byte of a line break.
    assert detect("《覧\r\n《鈴木\r\n".encode(encoding), whole=True) == encoding
    assert detect("《覧\n《鈴a".encode(encoding), whole=True) != encoding
    # Bytes that are all ASCII, but for the zeros: damage.
    with pytest.raises(BadInput, match="NUL byte"):
        detect("名前\r\n田中\r\n".encode(encoding), whole=True)


def test_a_line_break_beside_a_letter_is_no_utf16() -> None:
    with pytest.raises(BadInput, match="NUL byte"):
        detect(b"abcd\0e\nabc\n", whole=True)


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["a table", "имя\t名前\r\n\U0001f600"])
def test_three_zeros_in_four_or_one_show_utf32(encoding: str, text: str) -> None:
    assert detect(text.encode(encoding), whole=True) == encoding


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("control", ["\0", "\x08", "\x0e", "\x1f"])
def test_small_numbers_are_no_utf32(encoding: str, control: str) -> None:
    with pytest.raises(BadInput):
        format_of(f"ab{control}c".encode(encoding))


def test_zeros_at_both_places_are_no_utf16() -> None:
    with pytest.raises(BadInput, match="NUL byte"):
        detect(b"a\0\0b" * 5, whole=True)


def test_half_a_character_at_the_end_is_no_utf16() -> None:
    with pytest.raises(BadInput, match="NUL byte"):
        detect(b"a\0b\0c", whole=True)


def test_nothing_is_read_as_utf8() -> None:
    assert detect(b"", whole=True) == "utf-8"
