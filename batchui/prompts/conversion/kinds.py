"""Has a file converted by the module that knows its format.

A text table is nobody's here: it is read as it is. The next format is a module, and its name in
FAMILIES.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol

from batchui.prompts.conversion import (
    columnar,
    json_documents,
    packed,
    picture_archives,
    pretenders,
    workbooks,
)
from batchui.prompts.conversion.converted import Result, Text
from batchui.prompts.conversion.looking import File, look, read_head
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput, quoted

TEXT, UNPACKED = "text.zst", "unpacked"
AT_A_TIME = 1 << 20


class Family(Protocol):
    """A module that converts the files of some formats.

    FORMATS: what a person calls them, with the endings of their names.
    """

    FORMATS: tuple[str, ...]

    def is_of(self, file: File) -> bool:
        """Whether a file is one of them. Of a packed one, only the first bytes are known."""

    def convert(self, file: File, out: Output) -> Result:
        """What the file is turned into, in the folder of `out`. Raises BadInput."""


FAMILIES: tuple[Family, ...] = (workbooks, columnar, json_documents, picture_archives, pretenders)
# Read as they are, by `reading/`.
TEXTS = ("CSV", "TSV", "TXT", "JSONL")
FORMATS = (*chain.from_iterable(family.FORMATS for family in FAMILIES), *TEXTS)
# For where a file is chosen.
_PACKED = "also inside a .gz or a .zip, and pictures in a .zip"
CAN_BE_READ = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; {_PACKED}"


def family_of(file: File) -> Family | None:
    """Who converts this file; None for a text table, and for a file that is only packed."""
    return next((family for family in FAMILIES if family.is_of(file)), None)


def is_text(head: bytes, name: str) -> bool:
    """Whether a file needs no conversion, as far as its name and its first HEAD_BYTES tell."""
    file = File(Path(), name, head)
    return not packed.is_packed(file) and family_of(file) is None


def convert(path: Path, name: str, out: Output) -> Result:
    """What the file is turned into, in the folder of `out`. Raises BadInput."""
    file = look(path, name)
    family = family_of(file)
    if family:
        return family.convert(file, out)
    if packed.is_packed(file):
        with packed.opened(file) as (inner, stream):
            return _unpacked(stream, inner, out)
    with path.open("rb") as plain:
        return _text(plain, name, b"", out)


def _unpacked(stream: BinaryIO, name: str, out: Output) -> Result:
    """The same for a file that was packed. What is no text has to lie on the disk to be read."""
    head = read_head(stream)
    if is_text(head, name):
        return _text(stream, name, head, out)
    path = out.folder / UNPACKED
    try:
        with path.open("wb") as copy:
            for data in _pieces(stream, head):
                out.take(len(data))
                copy.write(data)
        file = look(path, name)
        family = family_of(file)
        if family is None:
            raise BadInput(
                f"Inside this packed file, {quoted(name)} is packed, too. Unpack it, and upload "
                "the file with your rows."
            )
        return family.convert(file, out)
    finally:
        path.unlink(missing_ok=True)


def _text(stream: BinaryIO, name: str, head: bytes, out: Output) -> Text:
    with out.file(TEXT) as write:
        for data in _pieces(stream, head):
            write(data)
            out.progress(0, 0)
    return Text(TEXT, name)


def _pieces(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    yield head
    while data := stream.read(AT_A_TIME):
        yield data
