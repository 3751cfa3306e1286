"""Shows the progress of an installation in short lines (standard library only)."""

import re
import shutil
import sys
import time
from collections import deque

SECONDS_BETWEEN_LINES = 5


def say(sentence: str) -> None:
    """Print a line on stdout at once."""
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


class PipProgress:
    """Reads pip's output and shows which package it installs.

    On a terminal it is one line that changes; elsewhere, a new line every five seconds. pip's last
    lines are kept, for the case that it fails.
    """

    def __init__(self) -> None:
        self.last_lines: deque[str] = deque(maxlen=12)
        self.packages: set[str] = set()
        self._terminal = sys.stdout.isatty()
        self._began = self._told = time.monotonic()

    def see(self, line: str) -> None:
        """Read one line of pip's output."""
        line = line.rstrip()
        if line:
            self.last_lines.append(line)
        if found := re.match(r"\s*Collecting ([A-Za-z0-9._-]+)", line):
            self.packages.add(found[1])
            self._show(f"Installing: {found[1]} (package {len(self.packages)})")
        elif line.startswith("Installing collected packages:"):
            self._show(f"Installing: unpacking {line.count(',') + 1} packages", at_once=True)

    def end(self, *, installed: bool) -> None:
        """End the line on a terminal. If pip succeeded, print how long it took."""
        if self._terminal:
            sys.stdout.write("\r\033[K")
        if installed:
            say(f"Installed in {time.monotonic() - self._began:.0f} s.")

    def _show(self, text: str, *, at_once: bool = False) -> None:
        if self._terminal:
            width = shutil.get_terminal_size().columns
            sys.stdout.write(f"\r\033[K{text[: width - 1]}")
            sys.stdout.flush()
        elif at_once or time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            say(text)
