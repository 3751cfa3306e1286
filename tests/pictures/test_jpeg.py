"""Which photos a decoder holds whole."""

import pytest

from batchui.pictures.jpeg import is_held_whole
from tests.pictures.drawing import plain, stored

START = b"\xff\xd8"
REST = b"\0" * 20


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def frame(marker: int, colours: int) -> bytes:
    return segment(marker, bytes([8, 0, 9, 0, 9, colours]) + b"\1\x11\0" * colours)


def scan(colours: int) -> bytes:
    return segment(0xDA, bytes([colours]) + b"\1\0" * colours + b"\0\x3f\0")


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_usual_photo_is_not(mode: str) -> None:
    image = plain(20, 20).convert(mode)
    assert not is_held_whole(stored(image, "JPEG"))
    assert is_held_whole(stored(image, "JPEG", progressive=True))


@pytest.mark.parametrize("marker", [0xC2, 0xC6, 0xCA, 0xCE])
def test_a_progressive_one_is(marker: int) -> None:
    assert is_held_whole(START + segment(0xE1, b"Exif") + frame(marker, 3) + REST)


@pytest.mark.parametrize("marker", [0xC0, 0xC1, 0xC3, 0xC5, 0xC9, 0xCF])
def test_one_whose_colours_come_one_after_the_other_is(marker: int) -> None:
    assert is_held_whole(START + frame(marker, 3) + scan(1) + REST)
    assert is_held_whole(START + frame(marker, 3) + scan(2) + REST)
    assert not is_held_whole(START + frame(marker, 3) + scan(3) + REST)
    assert not is_held_whole(START + frame(marker, 1) + scan(1) + frame(0xC2, 3) + REST)


def test_tables_are_no_frames() -> None:
    for table in (0xC4, 0xC8, 0xCC):
        content = START + frame(0xC0, 1) + segment(table, b"\0" * 5 + b"\4") + scan(1) + REST
        assert not is_held_whole(content)


def test_bytes_that_only_fill_are_passed_over() -> None:
    for filling in (b"\xff", b"\xff\xff"):
        assert is_held_whole(START + filling + frame(0xC2, 3) + REST)


def test_a_long_segment_is_passed_over() -> None:
    assert is_held_whole(START + segment(0xE1, b"\0" * 300) + frame(0xC2, 3) + REST)


def test_a_small_picture_inside_does_not_count() -> None:
    inside = segment(0xE1, START + frame(0xC2, 3) + scan(1))
    assert not is_held_whole(START + inside + frame(0xC0, 3) + scan(3) + REST)


@pytest.mark.parametrize("content", [b"", b"\xff", START, START + b"\xff", b"\x89PNG" * 9])
def test_what_is_no_jpeg_is_not(content: bytes) -> None:
    assert not is_held_whole(content)


@pytest.mark.parametrize("length", range(2, 40))
def test_a_head_that_is_cut_off_raises_nothing(length: int) -> None:
    whole = START + segment(0xE1, b"Exif") + frame(0xC0, 3) + scan(3)
    assert not is_held_whole(whole[:length])
