"""The names in the directory of an old Office file."""

import struct
from pathlib import Path

import pytest

from batchui.prompts.conversion import ole

SECTOR_512, SECTOR_4096 = 9, 12


def entry(name: bytes, size: int | None = None) -> bytes:
    """An entry of the directory. size: of the name, with the zero at its end."""
    length = len(name) + 2 if size is None else size
    return name.ljust(64, b"\0") + struct.pack("<H", length) + b"\xff" * 62


def old_office(*entries: bytes, first: int, shift: int = SECTOR_512) -> bytes:
    """A file whose directory begins in the sector `first`; before it are other names."""
    header = ole.MAGIC.ljust(30, b"\xff") + struct.pack("<H", shift) + b"\xff" * 16
    header += struct.pack("<I", first)
    size = 1 << min(shift, SECTOR_4096)
    other = entry("Other".encode("utf-16-le"))
    data = header.ljust(512, b"\0")
    return data + other * (((first + 1) * size - len(data)) // len(other)) + b"".join(entries)


def names_in(folder: Path, data: bytes) -> set[str]:
    path = folder / "x.xls"
    path.write_bytes(data)
    return ole.names(path)


ROOT, BOOK = (entry(name.encode("utf-16-le")) for name in ("Root Entry", "Workbook"))
NAMES = {"Root Entry", "Workbook"}


@pytest.mark.parametrize(
    ("first", "shift"),
    [(0, SECTOR_512), (5, SECTOR_512), (0, SECTOR_4096), (2, SECTOR_4096), (0, 0xFFFF)],
)
def test_the_names_are_those_in_the_sector_that_the_header_tells(
    tmp_path: Path, first: int, shift: int
) -> None:
    assert names_in(tmp_path, old_office(ROOT, BOOK, first=first, shift=shift)) == NAMES


def test_a_name_may_fill_its_place(tmp_path: Path) -> None:
    longest = "x" * 31
    for size in (64, 0xFFFF):
        full = entry((longest + "\0").encode("utf-16-le"), size)
        assert names_in(tmp_path, old_office(full, first=0)) == {longest}
    for size in (0, 1, 2):
        assert names_in(tmp_path, old_office(entry(b"x\0", size), first=0)) == {""}


def test_what_is_no_text_is_a_name_all_the_same(tmp_path: Path) -> None:
    assert names_in(tmp_path, old_office(entry(b"A\0\x00\xd8"), BOOK, first=0)) == {
        "A\ufffd",
        "Workbook",
    }


def test_an_entry_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    assert names_in(tmp_path, old_office(ROOT, BOOK[:-1], first=0)) == {"Root Entry"}
    assert names_in(tmp_path, old_office(ROOT, BOOK, first=0)[:512]) == set()
    assert names_in(tmp_path, old_office(ROOT, BOOK, first=0)[:511]) == set()


def test_names_far_down_are_not_looked_for(tmp_path: Path) -> None:
    fit = [ROOT] * (ole.MOST_BYTES // ole.ENTRY_BYTES - 1)
    assert names_in(tmp_path, old_office(*fit, BOOK, first=0)) == NAMES
    assert names_in(tmp_path, old_office(*fit, ROOT, BOOK, first=0)) == {"Root Entry"}
