"""A file in pieces is opened anywhere, and whatever is wrong with it is said."""

import subprocess
from pathlib import Path
from shutil import which

import pytest

from batchui.batches.compressed import DamagedFile, read_compressed
from batchui.batches.frames import Frames, Piece, read_pieces

PIECES = [(b"one\ntwo", 2), (b"three", 1), (b"four\nfive\nsix", 3)]


@pytest.fixture
def stored(files_in: Path) -> Path:
    """A file of six items in three pieces; its path on the disk."""
    frames = Frames()
    for text, items in PIECES:
        frames.add(text, items=items)
    return files_in / frames.whole().store("frames")


def read(first: int = 0, *, items: int = 6) -> list[Piece]:
    return list(read_pieces("frames", items=items, first=first))


@pytest.mark.parametrize(("first", "before"), [(0, 0), (1, 0), (2, 2), (3, 3), (4, 3), (5, 3)])
def test_reading_begins_with_the_piece_that_has_the_item(
    stored: Path, first: int, before: int
) -> None:
    whole = [Piece(0, b"one\ntwo"), Piece(2, b"three"), Piece(3, b"four\nfive\nsix")]
    assert read(first) == [piece for piece in whole if piece.before >= before]


def test_only_what_is_asked_for_is_read(stored: Path) -> None:
    """A piece before the first one may even be damaged."""
    content = bytearray(stored.read_bytes())
    content[9] ^= 1
    stored.write_bytes(content)
    assert [piece.before for piece in read(2)] == [2, 3]
    with pytest.raises(DamagedFile):
        read(1)


def test_any_tool_for_zstd_reads_the_text(stored: Path) -> None:
    texts = b"".join(text for text, _ in PIECES)
    assert b"".join(read_compressed("frames")) == texts
    if zstd := which("zstd"):
        assert subprocess.check_output([zstd, "-dc", stored]) == texts


@pytest.mark.parametrize("items", [5, 7])
def test_a_file_with_another_number_of_items_is_damaged(stored: Path, items: int) -> None:
    with pytest.raises(DamagedFile, match=f"it has 6 rows in place of {items}"):
        read(items=items)


def test_a_file_that_is_cut_short_anywhere_is_damaged(stored: Path) -> None:
    content = stored.read_bytes()
    for kept in range(len(content)):
        stored.write_bytes(content[:kept])
        with pytest.raises(DamagedFile, match="The stored file frames is damaged"):
            read()


def test_a_file_with_any_bit_that_changed_is_damaged(stored: Path) -> None:
    content = stored.read_bytes()
    head = len(content) - 8 - 3 * 12 - 8  # that of the index tells nothing that we read
    for place in (at for at in range(len(content)) if not head <= at < head + 8):
        for bit in (1, 128):
            changed = bytearray(content)
            changed[place] ^= bit
            stored.write_bytes(changed)
            with pytest.raises(DamagedFile, match="The stored file frames is damaged"):
                read()


def test_a_file_with_something_in_front_or_behind_is_damaged(stored: Path) -> None:
    content = stored.read_bytes()
    for changed in (b"x" + content, content + b"x", content * 2):
        stored.write_bytes(changed)
        with pytest.raises(DamagedFile, match="The stored file frames is damaged"):
            read()


def test_a_file_that_is_not_there_is_damaged(files_in: Path) -> None:
    with pytest.raises(DamagedFile, match="The stored file frames is not there any more") as found:
        read()
    assert str(files_in) not in str(found.value)
    assert found.value.__suppress_context__
