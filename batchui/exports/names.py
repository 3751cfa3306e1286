"""Names for the added columns and the downloaded files."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date

ANSWER, STATUS, ERROR = "answer", "status", "error"
# Of a file name with its ending. Disks count bytes: most take 255.
LONGEST_NAME = 100
LONGEST_NAME_BYTES = 240
# What Windows, macOS or Linux does not have in a file name.
_reserved_signs = frozenset('/\\:*?"<>|')
# Windows takes these for devices, whatever comes behind a point.
_devices = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)", re.IGNORECASE)
# They join letters of some scripts, and are the only invisible characters that stay.
_JOINERS = "\u200c\u200d"


def added_columns(
    columns: Sequence[str],
    *,
    fields: Sequence[str] = (),
    whole: bool = True,
    answer: str = ANSWER,
) -> tuple[str, ...]:
    """The names of the columns for the fields of the answer, the whole answer, status and error.

    whole: whether the whole answer has a column. A name that the file already has gets a number at
    its end.
    """
    taken = list(columns)
    for name in (*fields, *([answer] if whole else []), STATUS, ERROR):
        taken.append(free_name(name, taken))
    return tuple(taken[len(columns) :])


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name; with a number at its end if one of `taken` is the same, in capitals or not."""
    folded = {_folded(other) for other in taken}
    number = 1
    free = name
    while _folded(free) in folded:
        number += 1
        free = f"{name}_{number}"
    return free


def _folded(name: str) -> str:
    return name.strip().casefold()


def download_name(batch_name: str, day: date, ending: str) -> str:
    """A file name for a download: "Hotel reviews, May 2026-11-22.xlsx".

    It has no signs that a system reserves and none that cannot be seen, is no name of a device, and
    has at most LONGEST_NAME characters.
    """
    rest = f" {day.isoformat()}.{ending}"
    stem = unicodedata.normalize("NFC", batch_name)
    stem = re.sub("-+", "-", "".join(map(_safe, stem)))
    stem = re.sub(" +", " ", stem).strip(" .-")
    if _devices.match(stem):
        stem = f"_{stem}"
    stem = stem[: LONGEST_NAME - len(rest)]
    stem = stem.encode()[: LONGEST_NAME_BYTES - len(rest)].decode(errors="ignore")
    return f"{stem.rstrip(' .-') or 'batch'}{rest}"


def _safe(sign: str) -> str:
    """The character, or what stands for it in a file name."""
    kind = unicodedata.category(sign)
    if kind == "Zs":
        return " "
    if sign in _reserved_signs or (kind[0] == "C" and sign not in _JOINERS) or kind in ("Zl", "Zp"):
        return "-"
    return sign
