"""How large an upload may be: as the settings say, and as long as the disk has room."""

import shutil
import sys

from django.conf import settings

from batchui.batches.phrases import size_phrase
from batchui.prompts.problems import BadInput

# Bytes stored for each byte of an upload: its rows, answers and replies too, and while it comes in
# another copy.
STORED_FOR_A_BYTE = 4


def too_large(size: int) -> BadInput:
    """The error for an upload of `size` bytes, over MAX_UPLOAD_BYTES."""
    limit = settings.MAX_UPLOAD_BYTES
    return BadInput(
        f"The file has {size_phrase(size)}, and the limit is {size_phrase(limit)}. Split it "
        "into smaller files and upload them one by one."
    )


def room() -> int:
    """How large an upload may be, in bytes, so that the disk has room for what is made of it, too.

    A disk that is full stops every batch of everybody.
    """
    try:
        free = shutil.disk_usage(settings.DATA).free
    except OSError:
        return sys.maxsize  # storing the file says what is wrong
    return (free - settings.KEEP_FREE_BYTES) // STORED_FOR_A_BYTE


def nearly_full(not_done: str = "uploaded") -> BadInput:
    """The error where there is no room for what was sent. not_done: "made", "saved" …"""
    return BadInput(
        f"The disk of this server is nearly full, so nothing was {not_done}. Tell the person who "
        "runs batchui. To make room, delete batches that nobody needs any more."
    )


def refuse_full_disk(size: int, *, not_done: str = "uploaded") -> None:
    """Raise BadInput if the disk has no room for an upload of `size` bytes, or what is made of it.

    not_done: as in `nearly_full`.
    """
    if size > room():
        raise nearly_full(not_done)
