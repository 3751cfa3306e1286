"""Where a conversion writes: compressed files of lines, within a limit, with its progress."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from batchui.prompts.conversion.converted import Progress
from batchui.prompts.problems import BadInput

LEVEL = 1
SECONDS_BETWEEN_NEWS = 0.3

Write = Callable[[bytes], None]


class Output:
    """A folder that takes at most `most_bytes`, before compression.

    tell: takes the news of how far it is, at most three times a second.
    """

    def __init__(self, folder: Path, *, most_bytes: int, tell: Callable[[Progress], None]) -> None:
        self.folder = folder
        self._most = self._left = most_bytes
        self._tell = tell
        self._told = -math.inf

    @contextmanager
    def file(self, name: str) -> Iterator[Write]:
        """A function that appends bytes to the file `name`, which is whole at the end.

        Writing raises BadInput once all files together are too large.
        """
        compressor = zstandard.ZstdCompressor(level=LEVEL)
        with (self.folder / name).open("wb") as file, compressor.stream_writer(file) as writer:

            def write(data: bytes) -> None:
                self.take(len(data))
                writer.write(data)

            yield write

    def take(self, size: int) -> None:
        """Count `size` bytes that are written. Raises BadInput if they are too many."""
        self._left -= size
        if self._left < 0:
            raise BadInput(
                f"Unpacked, this file is larger than {self._most // 1_000_000:,} MB, too large "
                "for one batch. Split its table into several files."
            )

    def progress(self, done: int, of: int, what: str = "", *, now: bool = False) -> None:
        """Tell how far the conversion is. now: however short it is since the last time."""
        moment = time.monotonic()
        if now or moment - self._told >= SECONDS_BETWEEN_NEWS:
            self._told = moment
            self._tell(Progress(done, of, what))
