"""What a conversion may take of the machine, in proportion to the file."""

import os
import resource
import sys
from typing import Self

import msgspec

MEGABYTE = 1_000_000
# Of memory: Python with the libraries takes 60 MB, and any batch of rows fits in the rest. calamine
# needs up to 20 times the size of an honest workbook: it has every cell in memory.
LEAST_MEMORY, MEMORY_FOR_BYTE, MOST_MEMORY = 250 * MEGABYTE, 24, 3_000 * MEGABYTE
# Of the processor: a megabyte of a workbook takes 0.3 s here, of JSON 0.03 s.
LEAST_SECONDS, SECONDS_FOR_MEGABYTE, MOST_SECONDS = 6.0, 1.5, 1_800.0
# By the clock, for a machine with much other work: only one that waits for nothing gets there.
CLOCK_FOR_SECOND = 20
NICENESS = 10
# So many files may be open: the source, one that is written, and what libraries need.
OPEN_FILES = 64


class Limits(msgspec.Struct, frozen=True):
    """memory: bytes of data. seconds: of the processor. output: bytes before compression."""

    memory: int
    seconds: float
    output: int

    @classmethod
    def of(cls, size: int, *, output: int) -> Self:
        """The limits for a file of so many bytes, whose rows may have `output` bytes."""
        memory = min(LEAST_MEMORY + MEMORY_FOR_BYTE * size, MOST_MEMORY)
        seconds = LEAST_SECONDS + SECONDS_FOR_MEGABYTE * size / MEGABYTE
        return cls(memory, min(seconds, MOST_SECONDS), output)

    @property
    def clock_seconds(self) -> float:
        """How long it may take by the clock."""
        return self.seconds * CLOCK_FOR_SECOND

    def apply(self) -> None:
        """Set the limits of this process. Only Linux keeps to that of memory."""
        seconds = round(self.seconds + 0.5)
        _set(resource.RLIMIT_CPU, seconds)
        _set(resource.RLIMIT_FSIZE, self.output + MEGABYTE)
        _set(resource.RLIMIT_NOFILE, OPEN_FILES)
        _set(resource.RLIMIT_CORE, 0)
        if sys.platform == "linux":
            _set(resource.RLIMIT_DATA, self.memory)
        os.nice(NICENESS)


def _set(what: int, most: int) -> None:
    """Lower a limit. One that is lower already stays."""
    hard = resource.getrlimit(what)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(what, (most, most if what != resource.RLIMIT_CPU else hard))
