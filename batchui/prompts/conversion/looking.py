"""What is known of a file without reading it: its name, its first bytes, and what it holds."""

import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO, NamedTuple

from batchui.prompts.conversion import ole
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import HEAD_BYTES

ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
MIMETYPE_BYTES = 100
ENCRYPTED, UTF_8 = 0x1, 0x800  # in the flags of a member of a zip


# What programs put beside the files that somebody packs.
_CLUTTER = ("__MACOSX", "Thumbs.db", "desktop.ini")


class File(NamedTuple):
    """A file, its name as it was uploaded, and its first HEAD_BYTES.

    holds: the names of what is in a zip or an old Office file. mimetype: what a zip of OpenDocument
    says it is.
    """

    path: Path
    name: str
    head: bytes
    holds: frozenset[str] = frozenset()
    mimetype: str = ""

    @property
    def ending(self) -> str:
        """The ending of the name in small letters, with its dot."""
        return PurePath(self.name.lower()).suffix

    @property
    def start(self) -> bytes:
        """The first bytes of a text, without those that UTF-16 puts between them."""
        return self.head[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")


def read_head(stream: BinaryIO) -> bytes:
    """The first HEAD_BYTES of a stream. One that unpacks gives fewer at a time."""
    head = b""
    while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
        head += data
    return head


def without_clutter(names: Iterable[str]) -> list[str]:
    """The names of the files in a zip, without folders, and what programs put beside them."""
    return [
        name
        for name in names
        if not (name.endswith("/") or any(map(_is_clutter, PurePosixPath(name).parts)))
    ]


def _is_clutter(part: str) -> bool:
    """Whether a folder or a file is hidden, or one that a program put there."""
    return part in _CLUTTER or (part.startswith(".") and part != "..")


def is_encrypted(member: zipfile.ZipInfo) -> bool:
    """Whether a member of a zip cannot be read without a password."""
    return bool(member.flag_bits & ENCRYPTED)


def name_of(member: zipfile.ZipInfo) -> str:
    """The path of a member of a zip, as its owner sees it.

    macOS writes UTF-8 and does not say so; it is read as the code page of DOS then.
    """
    if not member.flag_bits & UTF_8:
        try:
            return member.filename.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return member.filename


def look(path: Path, name: str) -> File:
    """What there is to know. Raises BadInput for a zip that ends before its list of names."""
    with path.open("rb") as stream:
        head = read_head(stream)
    file = File(path, name, head)
    if head.startswith(ole.MAGIC):
        return file._replace(holds=frozenset(ole.names(path)))
    if head.startswith(ZIP):
        return _zip(file)
    return file


def _zip(file: File) -> File:
    try:
        with zipfile.ZipFile(file.path) as archive:
            mimetype = ""
            if "mimetype" in archive.NameToInfo:
                with archive.open("mimetype") as stream:
                    mimetype = stream.read(MIMETYPE_BYTES).decode("ascii", "replace")
            return file._replace(holds=frozenset(archive.namelist()), mimetype=mimetype)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError):
        raise BadInput(
            "This file is damaged or was not copied whole: its end is missing. Copy or download it "
            "again, and upload that."
        ) from None
