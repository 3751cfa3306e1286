"""Old Office files (OLE, [MS-CFB]): what they hold, by the names in their directory."""

import struct
from pathlib import Path

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEADER_BYTES, ENTRY_BYTES = 512, 128
# Entries that are looked at. The names that matter are among the first.
MOST_BYTES = 64 * 1024


def names(path: Path) -> set[str]:
    """The names of the streams in the first part of the directory: `Workbook`, `WordDocument` …

    Empty for a file that ends before it.
    """
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES:
            return set()
        (shift,) = struct.unpack_from("<H", header, 30)
        (first,) = struct.unpack_from("<I", header, 48)
        file.seek((first + 1) << min(shift, 12))
        directory = file.read(MOST_BYTES)
    entries = (directory[at : at + ENTRY_BYTES] for at in range(0, len(directory), ENTRY_BYTES))
    return {_name(entry) for entry in entries if len(entry) == ENTRY_BYTES}


def _name(entry: bytes) -> str:
    (size,) = struct.unpack_from("<H", entry, 64)
    return entry[: max(0, min(size, 64) - 2)].decode("utf-16-le", "replace")
