"""What is stored compressed comes back as it was, or is said to be damaged."""

import io
import random
import threading
import tracemalloc
from pathlib import Path

import pytest
from django.core.files.storage import default_storage

from batchui.batches import decisions, files, sending
from batchui.batches.compressed import (
    AHEAD_BYTES,
    Compressed,
    DamagedFile,
    Lines,
    open_unpacked,
    read_blocks,
    read_compressed,
    read_lines,
)
from batchui.batches.models import Part
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, posts, rows, send_all, work


def test_lines_come_back_as_they_were_however_many() -> None:
    chance = random.Random(5)
    lines = [chance.randbytes(chance.randrange(3000)).hex().encode() for _ in range(2000)]
    assert sum(map(len, lines)) > 20 * files.CHUNK_BYTES
    name = Compressed.of_lines(lines).store("lines")
    assert [line.rstrip(b"\n") for line in read_lines(name, lines=2000)] == lines


def test_lines_come_back_in_blocks() -> None:
    lines = [b"%d" % number * 100 for number in range(9_000)]
    name = Compressed.of_lines(lines).store("lines")
    found = list(read_blocks(name))
    assert len(found) > 5
    assert all(block.endswith(b"\n") for block in found)
    assert b"".join(found).splitlines() == lines


def test_blocks_of_a_file_that_is_not_there_are_damage() -> None:
    with pytest.raises(DamagedFile):
        list(read_blocks("nowhere"))


def test_lines_are_added_one_by_one_and_many_at_once() -> None:
    made = Lines()
    made.extend([b"one", b"two"])
    made.add(b"three\nfour\n")
    made.extend([b"five"])
    name = made.whole().store("lines")
    assert [line.rstrip() for line in read_lines(name, lines=5)] == [
        b"one",
        b"two",
        b"three",
        b"four",
        b"five",
    ]


def test_lines_are_not_kept_in_memory_however_many() -> None:
    chance = random.Random(5)
    tracemalloc.start()
    try:
        made = Compressed.of_lines(chance.randbytes(1000).hex().encode() for _ in range(15_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    made.store("lines")
    assert default_storage.size("lines") > 14_000_000
    assert peak < 12_000_000


# -- a file that is not what it was --------------------------------------------------------------


@pytest.fixture
def stored(files_in: Path) -> Path:
    """A file of 1,000 lines in several blocks; its path on the disk."""
    chance = random.Random(5)
    lines = [chance.randbytes(400).hex().encode() for _ in range(1000)]
    name = Compressed.of_lines(lines).store("lines")
    assert (files_in / name).stat().st_size > 3 * 128 * 1024  # a block has 128 KiB at most
    return files_in / name


def blocks(content: bytes) -> list[int]:
    """Where each block of a zstd frame ends (RFC 8878, 3.1.1)."""
    descriptor = content[4]
    size_of_size = (1 if descriptor & 0x20 else 0, 2, 4, 8)[descriptor >> 6]
    place = 5 + (0 if descriptor & 0x20 else 1) + size_of_size
    ends, is_last = [], 0
    while not is_last:
        header = int.from_bytes(content[place : place + 3], "little")
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        place += 3 + (1 if kind == 1 else size)
        ends.append(place)
    assert place + 4 == len(content)  # its checksum
    return ends


def read_all(lines: int = 1000) -> int:
    return sum(1 for _ in read_lines("lines", lines=lines))


def test_a_whole_file_is_read_to_its_end(stored: Path) -> None:
    assert read_all() == 1000


@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_file_that_is_cut_short_after_a_block_is_damaged(stored: Path, block: int) -> None:
    content = stored.read_bytes()
    stored.write_bytes(content[: blocks(content)[block]])
    with pytest.raises(DamagedFile, match=r"lines is damaged: it has .* in place of 1,000"):
        read_all()


@pytest.mark.parametrize("kept", [0, 1, 4, 5, 8, 100, 200_000])
def test_a_file_that_is_cut_short_anywhere_is_damaged(stored: Path, kept: int) -> None:
    stored.write_bytes(stored.read_bytes()[:kept])
    with pytest.raises(DamagedFile, match="The stored file lines is damaged"):
        read_all()


def test_a_file_that_is_cut_short_after_a_frame_is_damaged(stored: Path) -> None:
    """Two frames, as if it had been put together from two; the second one is lost."""
    lines = [b"line"] * 500
    name = Compressed.of_lines(lines).store("lines")
    assert name == stored.name
    with pytest.raises(DamagedFile, match="it has 500 lines in place of 1,000"):
        read_all()


def test_a_file_with_more_lines_than_it_should_have_is_damaged(stored: Path) -> None:
    with pytest.raises(DamagedFile, match="it has more than 999 lines"):
        read_all(999)


def test_a_last_line_that_was_not_written_to_its_end_is_damaged(files_in: Path) -> None:
    whole = Compressed.of_file(io.BytesIO(b"one\ntwo\n")).store("lines")
    assert list(read_lines(whole, lines=2)) == [b"one\n", b"two\n"]
    Compressed.of_file(io.BytesIO(b"one\ntw")).store("lines")
    with pytest.raises(DamagedFile):
        read_all(2)


@pytest.mark.parametrize("place", [7, 1_000, 100_000, -1])
def test_a_file_with_a_byte_that_changed_is_damaged(stored: Path, place: int) -> None:
    content = bytearray(stored.read_bytes())
    content[place] ^= 0x10
    stored.write_bytes(content)
    with pytest.raises(DamagedFile, match="The stored file lines is damaged"):
        read_all()


def test_a_file_that_is_not_there_is_damaged(files_in: Path) -> None:
    with pytest.raises(DamagedFile, match="The stored file lines is not there any more"):
        read_all()


def test_what_is_wrong_with_a_file_tells_nothing_of_this_machine(files_in: Path) -> None:
    with pytest.raises(DamagedFile) as found:
        read_all()
    assert str(files_in) not in str(found.value)
    assert found.value.__cause__ is None
    assert found.value.__suppress_context__


@pytest.mark.django_db
@pytest.mark.parametrize("whole_lines", [0, 10, 24])
def test_nothing_is_sent_of_a_part_whose_file_was_cut_short(
    sandbox: RunningSandbox, part: Part, files_in: Path, whole_lines: int
) -> None:
    lines = [line.rstrip(b"\n") for line in read_lines(part.rows_file, lines=25)]
    Compressed.of_lines(lines[:whole_lines]).store(part.rows_file)
    assert sending.send(part) is False
    assert not part.attempts.exists()
    assert posts(sandbox) == 0
    assert "is damaged: it has" in part.message


@pytest.mark.django_db
def test_nothing_is_sent_again_of_a_part_whose_answers_were_cut_short(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [1]})
    batch = work(start(rows(5)))
    decisions.retry(batch, by=None)
    part = batch.parts.get()
    Compressed.of_lines([b"null"] * 3).store(part.answers_file)
    before = posts(sandbox)
    send_all()
    assert posts(sandbox) == before
    assert "it has 3 lines in place of 5" in batch.parts.get().message


def test_a_whole_file_is_compressed_from_its_beginning() -> None:
    spool = io.BytesIO(b"a reply " * 1000)
    spool.seek(500)
    name = Compressed.of_file(spool).store("reply")
    assert b"".join(read_compressed(name)) == spool.getvalue()


@pytest.fixture(scope="module")
def large() -> bytes:
    """More than three of the pieces that are unpacked at one time, in which no bytes repeat."""
    return random.Random(5).randbytes(3 * AHEAD_BYTES + 12_345)


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("size", [1, 7, 65_536, AHEAD_BYTES, AHEAD_BYTES + 1, 10 * AHEAD_BYTES, -1])
def test_a_file_is_unpacked_in_pieces_of_any_size(
    files_in: Path, large: bytes, threads: int, size: int
) -> None:
    content = large if abs(size) > 7 or size < 0 else large[:20_000]
    name = Compressed.of_file(io.BytesIO(content), threads=threads).store("large.zst")
    with open_unpacked(name) as file:
        pieces = list(iter(lambda: file.read(size), b""))
        assert file.read(size) == b""
    assert b"".join(pieces) == content
    if size > 0:
        assert {len(piece) for piece in pieces[:-1]} <= {size}


def test_a_file_of_which_only_the_beginning_is_read_begins_no_thread(
    files_in: Path, large: bytes
) -> None:
    name = Compressed.of_file(io.BytesIO(large)).store("large.zst")
    threads = set(threading.enumerate())
    with open_unpacked(name) as file:
        assert file.read(10) == large[:10]
        assert file.read(AHEAD_BYTES - 10) == large[10:AHEAD_BYTES]
        assert set(threading.enumerate()) == threads
        file.read(1)
        assert set(threading.enumerate()) != threads
    assert set(threading.enumerate()) == threads


def test_damage_in_what_is_unpacked_ahead_is_told_when_it_is_reached(
    files_in: Path, large: bytes
) -> None:
    name = Compressed.of_file(io.BytesIO(large)).store("large.zst")
    path = files_in / name
    changed = bytearray(path.read_bytes())
    changed[-200_000] ^= 0xFF
    path.write_bytes(changed)
    with open_unpacked(name) as file:
        assert file.read(2 * AHEAD_BYTES) == large[: 2 * AHEAD_BYTES]
        with pytest.raises(DamagedFile, match="damaged"):
            file.read(2 * AHEAD_BYTES)
