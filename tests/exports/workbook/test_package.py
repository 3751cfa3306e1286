"""The zip file: what is copied, what is written anew, and what is not read at all."""

import io
import struct
import zipfile
import zlib

import pytest

from batchui.exports.workbook import package
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.package import CHUNK_BYTES, Package
from tests.exports.workbook.sample_workbooks import by_hand, with_descriptors
from tests.exports.workbook.splice import add, compressed
from tests.exports.workbook.xml_by_hand import sheet

DAMAGED = "^The workbook is damaged, or was cut short. Upload it once more.$"
NAME = "xl/worksheets/sheet1.xml"


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def content_of(content: bytes, name: str = "a") -> bytes:
    found = Package(io.BytesIO(content))
    info = found.find(name)
    assert info is not None
    return b"".join(found.chunks(info))


def copied(content: bytes, *, name: str = "b", new: bytes = b"new") -> bytes:
    target = io.BytesIO()
    Package(io.BytesIO(content)).copy(target, name=name, content=[new[:1], new[1:]])
    return target.getvalue()


def changed(content: bytes, *, at: int, by: bytes) -> bytes:
    """The zip file with other bytes in the directory entry of its first member."""
    start = content.index(b"PK\1\2") + at
    return content[:start] + by + content[start + len(by) :]


def test_one_member_is_new_and_the_others_are_copied() -> None:
    members = {"a": b"a" * 999, "b": b"old", "c/": b"", "d": b"", "é.xml": bytes(range(256))}
    content = zipped(members) + b""
    new = copied(content)
    with zipfile.ZipFile(io.BytesIO(new)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == list(members)
        assert archive.read("b") == b"new"
        assert archive.read("é.xml") == members["é.xml"]
    assert compressed(new) == compressed(content) | {"b": compressed(new)["b"]}


@pytest.mark.parametrize("make", [with_descriptors, lambda content: b"before" * 50 + content])
def test_headers_are_written_fresh(make: object) -> None:
    """Whoever reads the file from its beginning finds each size before the bytes."""
    assert callable(make)
    content, _ = add(make(by_hand(sheet())), rows=[(2, ("a", 1, True))])
    assert content.startswith(b"PK\3\4")
    at = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            assert info.header_offset == at
            fields = struct.unpack_from("<4sHHH4xLLLHH", content, at)
            mark, version, flags, method, crc, size, whole, name, extra = fields
            assert (mark, version, flags & 8, method) == (b"PK\3\4", 20, 0, zipfile.ZIP_DEFLATED)
            assert (crc, size, whole) == (info.CRC, info.compress_size, info.file_size)
            assert (info.create_version, info.extract_version, info.extra) == (20, 20, b"")
            at += 30 + name + extra + size
        assert content[at : at + 4] == b"PK\1\2"


def test_the_comment_and_the_dates_of_a_zip_file_stay() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("b", (2001, 2, 3, 4, 5, 6))
        info.external_attr, info.comment = 0o644 << 16, b"of b"
        archive.writestr(info, b"old")
        archive.comment = b"of all"
    with zipfile.ZipFile(io.BytesIO(copied(buffer.getvalue()))) as archive:
        [new] = archive.infolist()
        assert (archive.comment, new.comment, new.external_attr) == (
            b"of all",
            b"of b",
            0o644 << 16,
        )
        assert new.date_time == (2001, 2, 3, 4, 5, 6)


def test_zip64_is_used_where_it_is_needed_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped({"a": b"a" * 70_000, "b": b"old", "c": b"c"})
    small = copied(content)
    assert b"\xff\xff\xff\xff" not in small
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 60_000)
    new = copied(content, new=b"n" * 60_001)
    with zipfile.ZipFile(io.BytesIO(new)) as archive:
        assert archive.read("b") == b"n" * 60_001
        versions = [info.extract_version for info in archive.infolist()]
        assert versions == [45, 45, 20]
        for info in archive.infolist():
            local = struct.unpack_from("<4sH", new, info.header_offset)
            assert local == (b"PK\3\4", info.extract_version)
    at = zipfile.ZipFile(io.BytesIO(new)).getinfo("b").header_offset
    assert struct.unpack_from("<LLHHcHHQ", new, at + 18)[:2] == (0xFFFFFFFF, 0xFFFFFFFF)
    assert copied(content, new=b"n" * 60_000)[at + 18 : at + 22] != b"\xff\xff\xff\xff"


def test_content_comes_in_pieces() -> None:
    data = bytes(range(256)) * 5_000
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        found = Package(io.BytesIO(zipped({"a": data}, compression)))
        pieces = list(found.chunks(found.members["a"]))
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) == CHUNK_BYTES


def test_the_extra_fields_of_a_member_are_not_its_content() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("a")
        info.extra = struct.pack("<HH4s", 0xCAFE, 4, b"more")
        archive.writestr(info, b"content")
    assert content_of(buffer.getvalue()) == b"content"


def test_names_are_found_in_capitals_or_not() -> None:
    assert content_of(zipped({"Xl/A.xml": b"1"}), "xL/a.XML") == b"1"
    assert Package(io.BytesIO(zipped({"a": b"1"}))).find("b") is None


# By name, for the bytes of a zip file have the time at which it was made.
DAMAGED_ZIPS = {
    "nothing": b"",
    "another file": b"no zip file",
    "only a sign": b"PK\3\4",
    "no end": zipped({"a": b"1"})[:-30],
    "no beginning": zipped({"a": b"1"})[10:],
    "a member behind the end": changed(zipped({"a": b"1"}), at=42, by=b"\xff\xff\0\0"),
    "a program of the future": changed(zipped({"a": b"1"}), at=6, by=b"\xff\0"),
    "a member within the directory": changed(zipped({"a": b"1" * 99}), at=20, by=b"\xff\xff"),
    "two sizes": changed(zipped({"a": b"1" * 99}, zipfile.ZIP_STORED), at=24, by=b"\x10"),
    "a directory of 3 GB": zipped({"a": b"1"})[:-10] + struct.pack("<LLH", 3_000_000_000, 0, 0),
    "a directory before the file": zipped({"a": b"1"})[:-10] + struct.pack("<LLH", 3_000_000, 0, 0),
}


@pytest.mark.parametrize("content", DAMAGED_ZIPS.values(), ids=DAMAGED_ZIPS)
def test_a_damaged_zip_file_is_refused(content: bytes) -> None:
    with pytest.raises(CannotWrite, match=DAMAGED):
        Package(io.BytesIO(content))


def test_a_directory_may_be_as_large_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped({f"member {at}": b"1" for at in range(99)})
    size = len(content) - 22 - content.index(b"PK\1\2")
    monkeypatch.setattr(package, "LARGEST_DIRECTORY", size)
    assert len(Package(io.BytesIO(content)).members) == 99
    monkeypatch.setattr(package, "LARGEST_DIRECTORY", size - 1)
    with pytest.raises(CannotWrite, match=DAMAGED):
        Package(io.BytesIO(content))


@pytest.mark.parametrize(
    "content",
    [
        changed(zipped({"a": b"1" * 99}), at=16, by=b"0000"),  # another checksum
        changed(zipped({"a": b"1" * 99}), at=24, by=b"\x62"),  # one byte less
        changed(zipped({"a": b"1" * 99}), at=24, by=b"\x64"),  # one byte more
        changed(zipped({"a": b"1" * 99}), at=24, by=b"\0"),
        changed(zipped({"a": b"1" * 99}), at=20, by=b"\3"),  # cut short
        zipped({"a": b"1" * 99}).replace(zlib.compress(b"1" * 99)[2:-4], b"\xff" * 6, 1),
    ],
)
def test_a_member_that_is_not_what_the_directory_says_is_refused(content: bytes) -> None:
    with pytest.raises(CannotWrite, match=DAMAGED):
        content_of(content)


def test_no_more_is_inflated_than_the_directory_says() -> None:
    """A member of 300 MB that says it has 1,000 bytes is given up after the first piece."""
    bomb = zipped({"a": b"\0" * 300_000_000})
    found = Package(io.BytesIO(changed(bomb, at=24, by=struct.pack("<L", 1_000))))
    with pytest.raises(CannotWrite, match=DAMAGED):
        next(found.chunks(found.members["a"]))


def test_members_that_share_bytes_are_refused() -> None:
    """So a small file could hold terabytes."""
    content = zipped({"a": b"1" * 99, "b": b"1" * 99})
    second = content.rindex(b"PK\1\2")
    shared = content[: second + 42] + b"\0\0\0\0" + content[second + 46 :]
    with pytest.raises(CannotWrite, match=DAMAGED):
        Package(io.BytesIO(shared))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (changed(zipped({"a": b"1"}), at=8, by=b"\1\0"), "is encrypted"),
        (changed(zipped({"a": b"1"}), at=8, by=b"\x40\0"), "is encrypted"),
        (changed(zipped({"a": b"1"}), at=8, by=b"\0\x20"), "is encrypted"),
        (zipped({"a": b"1"}, zipfile.ZIP_BZIP2), "compressed in a way"),
        (zipped({"a": b"1"}, zipfile.ZIP_LZMA), "compressed in a way"),
        (zipped({"a.xml": b"1", "A.xml": b"1"}), "parts have one name"),
        (zipped({"/a": b"1"}), "leads out of it"),
        (zipped({"\\a": b"1"}), "leads out of it"),
        (zipped({"a/../b": b"1"}), "leads out of it"),
        (zipped({"..": b"1"}), "leads out of it"),
        (zipped({"a\\..": b"1"}), "leads out of it"),
    ],
)
def test_a_strange_member_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(CannotWrite, match=sentence):
        Package(io.BytesIO(content))


def test_dots_in_names_are_allowed() -> None:
    names = {"a..b/c": b"", "..a": b"", "a../b": b"", "[Content_Types].xml": b""}
    assert list(Package(io.BytesIO(zipped(names))).members) == [name.lower() for name in names]


def test_a_huge_sheet_and_huge_lists_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "LARGEST_SHEET", 99)
    monkeypatch.setattr(package, "LARGEST_LISTS", 150)
    assert content_of(zipped({"a": b"1" * 99})) == b"1" * 99
    with pytest.raises(CannotWrite, match="GB of content"):
        content_of(zipped({"a": b"1" * 100}))
    found = Package(io.BytesIO(zipped({"a": b"1" * 75, "b": b"1" * 75, "c": b"1"})))
    assert found.read(found.members["a"]) + found.read(found.members["b"]) == b"1" * 150
    with pytest.raises(CannotWrite, match="too large"):
        found.read(found.members["c"])


def test_what_comes_after_the_compressed_bytes_is_not_gathered() -> None:
    data = zlib.compress(b"1" * 99)[2:-4]
    content = zipped({"a": data + b"x" * 99}, zipfile.ZIP_STORED)
    content = changed(content, at=10, by=b"\x08\0")  # deflated, as data is
    content = changed(content, at=16, by=struct.pack("<L", zlib.crc32(b"1" * 99)))
    content = changed(content, at=24, by=struct.pack("<L", 99))
    assert content_of(content) == b"1" * 99


@pytest.mark.parametrize("room", [0, 7, CHUNK_BYTES - 40])
def test_a_password_is_told_from_an_old_workbook(room: int) -> None:
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * room + b"Workbook".hex().encode()
    with pytest.raises(CannotWrite, match="this is an older kind"):
        Package(io.BytesIO(old))
    with pytest.raises(CannotWrite, match="protected with a password"):
        Package(io.BytesIO(old + "EncryptedPackage".encode("utf-16-le") + b"\0" * 99))
