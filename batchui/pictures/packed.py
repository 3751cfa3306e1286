"""Pictures in a zip, and the names by which cells call them. Nothing is unpacked to a disk."""

import struct
import unicodedata
import zipfile
import zlib
from bisect import bisect
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from batchui.pictures.problems import LARGEST_SOURCE, NoPicture, too_large
from batchui.prompts.conversion.looking import is_encrypted, name_of
from batchui.prompts.pictures import is_picture_name
from batchui.prompts.problems import listed, quoted

MOST_MEMBERS = 100_000
# Bytes of a zip's list of its members.
LONGEST_LIST = 64_000_000
_IN_THE_LIST = b"PK\x01\x02"
# Others cannot be unpacked a piece at a time: 50 bytes of bzip2 may become 45 MB.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, OverflowError),
    *(RuntimeError, NotImplementedError, LookupError, struct.error),
)
# A name that is not there: how many beside it in the alphabet may be meant, and how alike they are.
_BESIDE, _ALIKE = 10, 0.6
_NAMED = 3


class PackedPictures:
    """The pictures of a zip. names: their paths in it, in its order.

    `find` may be called from several threads. The file stays open, and belongs to the caller.
    """

    names: Sequence[str]

    def __init__(self, file: BinaryIO) -> None:
        """Raises NoPicture: it is no zip, or damaged, has too many members, or no picture."""
        try:
            self._zip = zipfile.ZipFile(cast(IO[bytes], _Counted(file)))
        except _DAMAGE:
            raise _no_zip(file) from None
        self._members = {name_of(one): one for one in self._zip.infolist() if _is_picture(one)}
        self.names = tuple(self._members)
        if not self.names:
            raise NoPicture(
                "There is no picture in this zip. Pack the pictures themselves, as files that end "
                "in .jpg or .png."
            )
        self._index = _Index(self.names)

    def find(self, name: str) -> bytes:
        """The bytes of the picture that a cell means: at most LARGEST_SOURCE.

        A cell has its path or the last parts of it, with or without the ending, in any case of
        letters, with slashes or backslashes. Raises NoPicture if that is none or several.
        """
        member = self._members[self._index.meant(name)]
        what = f"The picture {quoted(name)}"
        if is_encrypted(member):
            raise NoPicture(f"{what} is protected by a password. Pack the zip without one.")
        if member.compress_type not in _METHODS:
            raise NoPicture(
                f"{what} is packed in an unusual way. Pack the zip again, with the usual "
                "compression (Deflate)."
            )
        if member.file_size > LARGEST_SOURCE:
            raise too_large(what)
        try:
            with self._zip.open(member) as stream:
                # One that is longer than it says is read up to that length, and is damaged then.
                # Without a figure the rest would be unpacked all the same.
                return stream.read(LARGEST_SOURCE + 1)
        except _DAMAGE:
            raise NoPicture(
                f"{what} is damaged in the zip. Pack the zip again, or copy it anew."
            ) from None


class _Counted:
    """The file of a zip, for zipfile, which would read a list of any length into the memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """As of the file. Raises NoPicture if this is the list, and too long."""
        if size <= LONGEST_LIST:
            data = self._file.read(size)
            if data.count(_IN_THE_LIST) <= MOST_MEMBERS:
                return data
        raise NoPicture(
            f"This zip has more than {MOST_MEMBERS:,} files in it. Pack fewer pictures in one."
        )


class _Index:
    """Which picture a cell means."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = set(names)
        # The last part of a path -> the paths that end in it, as keys, and their names.
        self._whole: dict[str, list[tuple[str, str]]] = {}
        self._without_ending: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            path = _key(name)
            stem = path.removesuffix(PurePosixPath(path).suffix)
            self._whole.setdefault(_last(path), []).append((path, name))
            self._without_ending.setdefault(_last(stem), []).append((stem, name))
        self._alphabet = sorted(self._whole)

    def meant(self, cell: str) -> str:
        """The name of the picture. Raises NoPicture if it is none or several."""
        if cell in self._names:
            return cell
        wanted = _key(cell)
        for index in self._whole, self._without_ending:
            found = index.get(_last(wanted), [])
            names = [name for path, name in found if path == wanted] or [
                name for path, name in found if path.endswith(f"/{wanted}")
            ]
            if len(names) > 1:
                raise NoPicture(
                    f"The zip has {len(names):,} pictures that {quoted(cell)} may mean: "
                    f"{listed(names)}. Put the whole path of one in the cell."
                )
            if names:
                return names[0]
        raise NoPicture(
            f"The zip has no picture called {quoted(cell)}. {self._instead(_last(wanted))} Correct "
            "the cell, or pack the zip again with this picture in it."
        )

    def _instead(self, last: str) -> str:
        """The sentence about what is there: something like it, or the first ones."""
        at = bisect(self._alphabet, last)
        beside = self._alphabet[max(0, at - _BESIDE) : at + _BESIDE]
        alike = get_close_matches(last, beside, 1, _ALIKE)
        if alike:
            return f"Perhaps {quoted(self._whole[alike[0]][0][1])} is meant."
        first = [found[0][1] for found in list(self._whole.values())[:_NAMED]]
        return f"It has {listed(first)}{', among others' if len(self._whole) > _NAMED else ''}."


def _is_picture(member: zipfile.ZipInfo) -> bool:
    """Whether it has the ending of a picture, and is not what programs put beside them."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    return (
        is_picture_name(path.name)
        and not member.is_dir()
        and not any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
    )


def _key(path: str) -> str:
    """What is the same of two ways to write a path. "./" and "/" before it do not count."""
    text = unicodedata.normalize("NFC", path.strip().replace("\\", "/").casefold())
    return str(PurePosixPath(text)).lstrip("/")


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _no_zip(file: BinaryIO) -> NoPicture:
    file.seek(0)
    if file.read(2) == b"PK":
        return NoPicture(
            "This zip is damaged or was not copied whole. Copy it again, or pack it anew."
        )
    return NoPicture(
        "This is no zip archive. Pack the pictures as a zip: most systems have it in the menu of "
        "a folder."
    )
