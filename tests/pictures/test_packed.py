"""A zip of pictures: what is taken from it, and what cannot be."""

import io
import struct
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from batchui.pictures import packed
from batchui.pictures.packed import PackedPictures
from batchui.pictures.problems import NoPicture


def zipped(*names: str, content: bytes = b"picture", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip in which each member's bytes are its name, then `content`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(name, name.encode() + content)
    return file.getvalue()


def pictures(content: bytes) -> PackedPictures:
    return PackedPictures(io.BytesIO(content))


def problem_of(act: Callable[[], object]) -> str:
    with pytest.raises(NoPicture) as raised:
        act()
    assert not raised.value.passes
    return str(raised.value)


def test_the_pictures_have_the_order_of_the_zip() -> None:
    names = ("b.JPG", "a/c.png", "a/b.webp", "d.heic", "e.jpeg", "f.tif")
    found = pictures(zipped(*names))
    assert list(found.names) == list(names)
    assert found.find("a/c.png") == b"a/c.pngpicture"


def test_what_is_no_picture_or_was_put_there_by_a_program_is_left_out() -> None:
    found = pictures(
        zipped(
            *("a.jpg", "a.txt", "jpg", "__MACOSX/._a.jpg", "__MACOSX/a.jpg", ".hidden.jpg"),
            *("Thumbs.db", "desktop.ini", ".cache/b.jpg", "x/.b.jpg", "folder.jpg/", "x\\.c.jpg"),
            *("./d.jpg", "../e.jpg"),
        )
    )
    assert list(found.names) == ["a.jpg", "./d.jpg", "../e.jpg"]


def test_a_zip_without_pictures_is_told() -> None:
    for content in (zipped("a.txt"), zipped()):
        assert "There is no picture in this zip." in problem_of(lambda it=content: pictures(it))


def test_what_is_no_zip_is_told() -> None:
    for content in (b"", b"Rar!\x1a\x07\x01\0", b"\xff\xd8\xff"):
        told = problem_of(lambda it=content: pictures(it))
        assert told.startswith("This is no zip archive. Pack the pictures as a zip")


def test_a_zip_that_was_not_copied_whole_is_told() -> None:
    whole = zipped("a.jpg", "b.jpg")
    for length in range(4, len(whole) - 1, 7):
        told = problem_of(lambda it=length: pictures(whole[:it]))
        assert told.startswith("This zip is damaged or was not copied whole.")


def test_a_damaged_member_is_told() -> None:
    content = zipped("a.jpg", "b.jpg", method=zipfile.ZIP_STORED)
    found = pictures(content.replace(b"a.jpgpicture", b"a.jpgPicture"))
    told = problem_of(lambda: found.find("a.jpg"))
    assert told.startswith("The picture “a.jpg” is damaged in the zip.")
    assert found.find("b.jpg") == b"b.jpgpicture"


@pytest.mark.parametrize("at", range(0, 30, 3))
def test_damage_anywhere_in_the_head_of_a_member_is_told_or_harmless(at: int) -> None:
    content = bytearray(zipped("a.jpg"))
    content[at] ^= 0xFF
    try:
        assert pictures(bytes(content)).find("a.jpg") == b"a.jpgpicture"
    except NoPicture as problem:
        assert "damaged" in str(problem)  # noqa: PT017


def flagged(content: bytes, *, flags: int = 0, method: int | None = None) -> bytes:
    """The zip of one member, whose flags or method are said to be these."""
    changed = bytearray(content)
    for at in (6, content.rindex(b"PK\x01\x02") + 8):
        before, now = struct.unpack("<HH", changed[at : at + 4])
        changed[at : at + 4] = struct.pack("<HH", before | flags, method or now)
    return bytes(changed)


def test_a_member_that_begins_at_the_end_of_the_file_is_told() -> None:
    content = bytearray(zipped("a.jpg"))
    at = content.rindex(b"PK\x01\x02") + 42
    content[at : at + 4] = struct.pack("<I", len(content) - 5)
    found = pictures(bytes(content))
    assert "is damaged in the zip" in problem_of(lambda: found.find("a.jpg"))


def test_a_file_on_a_disk_that_lost_its_beginning_is_told(tmp_path: Path) -> None:
    """No place before its beginning can be gone to; in a file that is another error."""
    file = tmp_path / "a.zip"
    file.write_bytes(zipped("a.jpg", "b.jpg")[60:])
    with file.open("rb") as stream:
        told = problem_of(lambda: PackedPictures(stream).find("a.jpg"))
    assert "damaged" in told or "no zip" in told


def test_a_member_with_a_password_is_told() -> None:
    found = pictures(flagged(zipped("a.jpg"), flags=1))
    assert "“a.jpg” is protected by a password. Pack" in problem_of(lambda: found.find("a.jpg"))


@pytest.mark.parametrize("method", [9, 12, 14, 93, 99])
def test_a_member_that_is_packed_in_another_way_is_told(method: int) -> None:
    found = pictures(flagged(zipped("a.jpg"), method=method))
    assert "“a.jpg” is packed in an unusual way." in problem_of(lambda: found.find("a.jpg"))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_way_that_cannot_be_unpacked_in_pieces_is_not_used(method: int) -> None:
    found = pictures(zipped("a.jpg", method=method))
    assert "packed in an unusual way" in problem_of(lambda: found.find("a.jpg"))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_of_the_largest_size_is_read_and_one_byte_more_is_not(
    monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    monkeypatch.setattr(packed, "LARGEST_SOURCE", 1000)
    found = pictures(zipped("a.jpg", content=b"p" * 995, method=method))
    assert len(found.find("a.jpg")) == 1000
    found = pictures(zipped("a.jpg", content=b"p" * 996, method=method))
    told = problem_of(lambda: found.find("a.jpg"))
    assert told.startswith("The picture “a.jpg” is larger than 25 MB. Make it smaller")


def test_a_member_that_is_larger_than_it_says_is_not_unpacked_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packed, "LARGEST_SOURCE", 100_000)
    content = bytearray(zipped("a.jpg", content=b"\0" * 30_000_000))
    for at in (22, content.rindex(b"PK\x01\x02") + 24):
        content[at : at + 4] = struct.pack("<I", 50_000)
    found = pictures(bytes(content))
    tracemalloc.start()
    told = problem_of(lambda: found.find("a.jpg"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "is damaged in the zip" in told
    assert peak < 2_000_000


def test_a_zip_of_the_most_members_is_read_and_one_more_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert packed.MOST_MEMBERS == 100_000
    monkeypatch.setattr(packed, "MOST_MEMBERS", 3)
    assert len(pictures(zipped("a.jpg", "b.jpg", "c.txt")).names) == 2
    told = problem_of(lambda: pictures(zipped("a.jpg", "b.jpg", "c.txt", "d.txt")))
    assert told == "This zip has more than 3 files in it. Pack fewer pictures in one."


def test_the_list_of_members_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped("a.jpg", "b" * 1000 + ".jpg")
    end = content.rindex(b"PK\x05\x06")
    (size,) = struct.unpack("<I", content[end + 12 : end + 16])
    assert packed.LONGEST_LIST == 64_000_000
    monkeypatch.setattr(packed, "LONGEST_LIST", size)
    assert pictures(content).names
    monkeypatch.setattr(packed, "LONGEST_LIST", size - 1)
    assert "This zip has more than" in problem_of(lambda: pictures(content))


def test_several_threads_may_look_for_pictures() -> None:
    names = [f"{number}.jpg" for number in range(40)]
    found = pictures(zipped(*names, content=b"p" * 20_000, method=zipfile.ZIP_STORED))
    wrong: list[str] = []

    def look() -> None:
        wrong.extend(name for name in names if not found.find(name).startswith(name.encode()))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_the_file_stays_open() -> None:
    file = io.BytesIO(zipped("a.jpg"))
    assert PackedPictures(file).find("a.jpg")
    assert not file.closed
