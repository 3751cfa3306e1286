"""Has a file converted by the module that knows its format.

A text table is nobody's here: it is read as it is. A new format is a module and a line in FAMILIES.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from batchui.prompts.conversion import columnar, json_documents, packed, pretenders, workbooks
from batchui.prompts.conversion.converted import Result, Text
from batchui.prompts.conversion.looking import File, look
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput, quoted
from batchui.prompts.reading.format import HEAD_BYTES

WORKBOOK_PARTS = {"xl/workbook.xml", "xl/workbook.bin", "Workbook", "Book", "WORKBOOK", "BOOK"}
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
# A list of objects, or the body of a request with all its items.
JSON_SURELY = re.compile(rb'\[\s*\{|\{\s*"requests"\s*:')
TABLE_ENDINGS = {".csv", ".tsv"}
STREAM_ENDINGS = {".arrow", ".arrows", ".ipc", ".feather"}
TEXT, UNPACKED = "text.zst", "unpacked"
AT_A_TIME = 1 << 20


class Family(NamedTuple):
    """Formats that one module converts. convert: may raise BadInput."""

    is_of: Callable[[File], bool]
    convert: Callable[[File, Output], Result]


def family_of(file: File) -> Family | None:
    """Who converts this file; None for a text table, and for a file that is only packed."""
    return next((family for family in FAMILIES if family.is_of(file)), None)


def is_text(file: File) -> bool:
    """Whether the file needs no conversion, as far as its name and its first bytes tell."""
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
    head = _head(stream)
    path = out.folder / UNPACKED
    if is_text(File(path, name, head, whole=len(head) < HEAD_BYTES)):
        return _text(stream, name, head, out)
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


def _head(stream: BinaryIO) -> bytes:
    """The first HEAD_BYTES. A stream that unpacks gives fewer at a time."""
    head = b""
    while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
        head += data
    return head


def _pieces(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    yield head
    while data := stream.read(AT_A_TIME):
        yield data


def _is_workbook(file: File) -> bool:
    return not WORKBOOK_PARTS.isdisjoint(file.holds) or file.mimetype.startswith(ODS_TYPE)


def _is_columnar(file: File) -> bool:
    if file.head.startswith(columnar.STREAM):  # four bytes that any file may begin with
        return file.ending in STREAM_ENDINGS
    return file.head.startswith(columnar.MAGIC)


def _is_json(file: File) -> bool:
    """A list, or an object. Objects on lines of their own are a text table."""
    if file.ending in TABLE_ENDINGS:
        return False
    if JSON_SURELY.match(file.start):
        return True
    if file.ending in {".jsonl", ".ndjson"}:
        return file.start.startswith(b"[")
    return (
        file.ending in {".json", ".geojson"}
        and file.start[:1] in (b"[", b"{")
        and not _has_lines(file)
    )


def _has_lines(file: File) -> bool:
    """Whether the first line is an object, and another line follows."""
    first, _, rest = file.head.strip().partition(b"\n")
    try:
        return bool(rest) and isinstance(msgspec.json.decode(first), dict)
    except (ValueError, RecursionError):
        return False


FAMILIES = (
    Family(_is_workbook, workbooks.convert),
    Family(_is_columnar, columnar.convert),
    Family(_is_json, json_documents.convert),
    Family(pretenders.is_one, pretenders.refuse),
)
