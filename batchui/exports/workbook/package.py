"""The zip file that a workbook is: one member is written anew, the others are copied as they are.

Members are copied with their compressed bytes, so nothing in them can change. Sizes and checksums
come from the directory at the end of the file; a local header is written fresh from it, because in
the file it may say nothing (data descriptors) or something else.
"""

import copy
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, BinaryIO

from batchui.exports.workbook.cannot_write import CannotWrite, another_kind, damaged, unreadable
from batchui.exports.zipped import LEVEL

CHUNK_BYTES = 256 * 1024
# An upload has at most 1 GiB, of which honest sheets make ten times as much; nobody opens those.
LARGEST_SHEET = 4_000_000_000
# What is read whole: lists of sheets and relations, tables. Of all of them together.
LARGEST_LISTS = 32_000_000
LARGEST_DIRECTORY = 4_000_000

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_SECRET = 0x2041  # flags: encrypted, strongly encrypted, directory encrypted
_DESCRIPTOR = 0x0008  # flag: sizes follow the member
# What Office leaves free in a local header ("growth hint"). It has the size of a ZIP64 field and
# gives way to one if the member grows beyond 2 GiB; known only when it is written.
_ROOM = struct.pack("<HHHH12x", 0xA220, 16, 0xA028, 0)
_OUTSIDE = re.compile(r"^[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)").search


class Package:
    """The members of a workbook.

    Raises CannotWrite if the file is no zip file, is encrypted, or is made so that two programs
    could read it differently: repeated names, overlapping members, rare compression.
    """

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = LARGEST_LISTS
        _refuse_ole(source)
        try:
            self._zip = zipfile.ZipFile(_Careful(source))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise damaged() from error
        self.members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.filelist:
            _refuse_strange(info)
            if self.members.setdefault(info.filename.lower(), info) is not info:
                raise unreadable("Two of its parts have one name.")
        self._places = self._find_places()

    def find(self, name: str) -> zipfile.ZipInfo | None:
        """The member of a name, in capitals or not."""
        return self.members.get(name.lower())

    def read(self, info: zipfile.ZipInfo) -> bytes:
        """A small member, whole. Raises CannotWrite if all of these together are too large."""
        self._left -= info.file_size
        if self._left < 0:
            raise CannotWrite("The workbook has lists of sheets or tables that are too large.")
        return b"".join(self.chunks(info))

    def chunks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """A member's content, up to CHUNK_BYTES at a time.

        Raises CannotWrite if it is larger than LARGEST_SHEET, and as soon as it is not what the
        directory says: its size, its checksum.
        """
        if info.file_size > LARGEST_SHEET:
            raise CannotWrite(f"The sheet has more than {LARGEST_SHEET / 1e9:.0f} GB of content.")
        left, crc = info.file_size, 0
        try:
            for chunk in self._inflated(info):
                left -= len(chunk)
                if left < 0:
                    raise damaged()
                crc = zlib.crc32(chunk, crc)
                yield chunk
        except zlib.error as error:
            raise damaged() from error
        if left or crc != info.CRC:
            raise damaged()

    def copy(self, target: BinaryIO, *, name: str, content: Iterable[bytes]) -> None:
        """Write the workbook to `target`, with other content for one member.

        target: empty, can seek. The order of the members stays. Every other member keeps its
        compressed bytes, and loses only the extra fields of zip programs.
        """
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
            new.comment = self._zip.comment
            for info in self._zip.filelist:
                fresh = _fresh(info, offset=target.tell())
                if info.filename == name:
                    _write(target, fresh, content)
                else:
                    target.write(fresh.FileHeader())
                    for piece in self._raw(info):
                        target.write(piece)
                new.filelist.append(fresh)
                new.NameToInfo[fresh.filename] = fresh
                new.start_dir = target.tell()

    def _inflated(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type == zipfile.ZIP_STORED:
            yield from self._raw(info)
            return
        engine = zlib.decompressobj(-zlib.MAX_WBITS)
        for piece in self._raw(info):
            data = engine.decompress(piece, CHUNK_BYTES)
            while data:
                yield data
                data = engine.decompress(engine.unconsumed_tail, CHUNK_BYTES)
            if engine.eof:
                return
        raise damaged()

    def _raw(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The compressed bytes of a member."""
        at = self._places[info.filename]
        end = at + info.compress_size
        while at < end:
            self._source.seek(at)  # several members may be read at a time
            piece = self._source.read(min(end - at, CHUNK_BYTES))
            if not piece:
                raise damaged()
            at += len(piece)
            yield piece

    def _find_places(self) -> dict[str, int]:
        """Where the compressed bytes of each member begin.

        Raises CannotWrite where members overlap: a small file could hold a few terabytes so.
        """
        places = {}
        end = self._zip.start_dir
        for info in sorted(self._zip.filelist, key=lambda info: info.header_offset, reverse=True):
            if info.header_offset < 0:
                raise damaged()
            self._source.seek(info.header_offset)
            header = self._source.read(_LOCAL_HEADER.size)
            if len(header) < _LOCAL_HEADER.size:
                raise damaged()
            mark, name, extra = _LOCAL_HEADER.unpack(header)
            place = info.header_offset + _LOCAL_HEADER.size + name + extra
            if mark != _LOCAL_MARK or place + info.compress_size > end:
                raise damaged()
            places[info.filename] = place
            end = info.header_offset
        return places


class _Careful:
    """A file of which nobody reads a huge directory into memory, or seeks before the beginning."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.tell = file.tell

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset < 0 and whence == 0:
            raise zipfile.BadZipFile("a place before the beginning")
        return self._file.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        if size > LARGEST_DIRECTORY:
            raise zipfile.BadZipFile("a directory too large")
        return self._file.read(size)


def _refuse_ole(source: BinaryIO) -> None:
    """Raise CannotWrite for what has a password, or is older than XLSX: both are OLE files."""
    source.seek(0)
    piece = source.read(CHUNK_BYTES)
    if not piece.startswith(_OLE):
        return
    end = b""
    while piece:
        if _ENCRYPTED in end + piece:
            raise CannotWrite(
                "The workbook is protected with a password. Save it without one, and upload that "
                "file."
            )
        end = piece[-len(_ENCRYPTED) :]
        piece = source.read(CHUNK_BYTES)
    raise another_kind("an older kind")


def _refuse_strange(info: zipfile.ZipInfo) -> None:
    if info.flag_bits & _SECRET:
        raise CannotWrite("The workbook is encrypted. Save it without a password first.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise unreadable("It is compressed in a way that XLSX does not know.")
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
        raise damaged()
    if _OUTSIDE(info.filename):
        raise unreadable("The name of one of its parts leads out of it.")


def _fresh(info: zipfile.ZipInfo, *, offset: int) -> zipfile.ZipInfo:
    """The same member at another place, with nothing said behind it."""
    fresh = copy.copy(info)
    fresh.header_offset = offset
    fresh.flag_bits &= ~_DESCRIPTOR
    fresh.extra = b""
    fresh.create_version = fresh.extract_version = zipfile.DEFAULT_VERSION
    return fresh


def _write(target: BinaryIO, info: zipfile.ZipInfo, content: Iterable[bytes]) -> None:
    """Write a member, and what came of it into `info` and its header."""
    info.compress_type = zipfile.ZIP_DEFLATED
    info.CRC = info.file_size = info.compress_size = 0
    info.extra = _ROOM
    target.write(info.FileHeader(zip64=False))
    engine = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    begin = target.tell()
    with ThreadPoolExecutor(1) as beside:  # while a chunk is compressed, the next one is made
        compressed = beside.submit(bytes)
        for chunk in content:
            info.CRC = zlib.crc32(chunk, info.CRC)
            info.file_size += len(chunk)
            target.write(compressed.result())
            compressed = beside.submit(engine.compress, chunk)
        target.write(compressed.result())
    target.write(engine.flush())
    end = target.tell()
    info.compress_size = end - begin
    is_huge = max(info.file_size, info.compress_size) > zipfile.ZIP64_LIMIT
    info.extra = b"" if is_huge else _ROOM
    target.seek(info.header_offset)
    target.write(info.FileHeader(zip64=is_huge))
    target.seek(end)
    info.extra = b""
