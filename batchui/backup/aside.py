"""Puts something in the place of what is there, which is kept; all of it, or nothing."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from batchui.backup.problems import NotPossible


class Swap:
    """A number of steps that can be undone, most of them renames.

    What was there goes into the folder `kept`.
    """

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        self._undo: list[Callable[[], object]] = []

    def keep(self, path: Path) -> None:
        """Move a file or folder into `kept`; nothing if there is none. Raises NotPossible."""
        if path.exists() or path.is_symlink():
            self.kept.mkdir(mode=0o700, exist_ok=True)
            self._move(path, self.kept / path.name)

    def put(self, new: Path, path: Path) -> None:
        """Move `new` to `path`, where nothing is any more. Raises NotPossible."""
        self._move(new, path)

    def note(self, undo: Callable[[], object]) -> None:
        """Note what undoes a step that is about to be taken."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Undo every step, the last one first."""
        while self._undo:
            self._undo.pop()()
        with suppress(FileNotFoundError):
            self.kept.rmdir()

    def _move(self, old: Path, new: Path) -> None:
        try:
            os.rename(old, new)
        except OSError as problem:
            raise NotPossible(
                f"{old} cannot be moved to {new} ({problem.strerror}). Set BATCHUI_DATA to an "
                "empty folder on one disk, and restore there."
            ) from None
        self.note(partial(os.rename, new, old))
