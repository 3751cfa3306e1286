"""Which module converts a file. A text table is nobody's here: it is read as it is."""

import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from batchui.prompts import columnar, json_documents, packed, pretenders, workbooks
from batchui.prompts.converted import Result
from batchui.prompts.looking import File
from batchui.prompts.outputs import Output

WORKBOOK_PARTS = {"xl/workbook.xml", "xl/workbook.bin", "Workbook", "Book", "WORKBOOK", "BOOK"}
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
# A list of objects, or the body of a request with all its items.
JSON_SURELY = re.compile(rb'\[\s*\{|\{\s*"requests"\s*:')
TABLE_ENDINGS = {".csv", ".tsv"}
STREAM_ENDINGS = {".arrow", ".arrows", ".ipc", ".feather"}


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
    return file.ending == ".json" and file.start[:1] in (b"[", b"{") and not _has_lines(file)


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
