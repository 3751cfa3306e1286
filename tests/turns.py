"""What takes long is done by turns: a share of it at each commit, all of it where that is asked.

`BATCHUI_ALL_TURNS=1 python3 manage.py test` does it all, save on PostgreSQL (`postgres/again.py`).
"""

import os
import subprocess
from zlib import crc32

from batchui.up.venv import ROOT


def turn(turns: int, *, unless: str = "BATCHUI_ALL_TURNS") -> int | None:
    """Whose turn it is, from 0 on, by the last digit of the commit (16 at most).

    None: everybody's, where the variable `unless` is 1, or nothing names the commit.
    """
    if os.environ.get(unless) == "1":
        return None
    commit = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(commit, cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout.strip()[-1], 16) % turns if done.returncode == 0 else None


def has_turn(name: str, whose: int | None, turns: int) -> bool:
    """Whether it is the turn of what has this name."""
    return whose in (None, crc32(name.encode()) % turns)
