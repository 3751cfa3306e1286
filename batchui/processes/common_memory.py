"""Memory that forked processes have in common: what one has made, another can take.

It is there before they are forked, so it must be made while the starter imports. Nobody locks it,
so a process that is killed leaves nothing locked. Who puts something there seals it with a digest
of its name and of all of it; what is found half-written, or overwritten meanwhile, has another
one, and counts as not there.
"""

import mmap
import struct
import time
from hashlib import blake2b

SEAL_BYTES = 16
_HEAD = struct.Struct(f"<{SEAL_BYTES}sdI")


class CommonMemory:
    """So many places of so many bytes. Two names may share a place: the last one put is there.

    Memory is taken only for what has been put.
    """

    def __init__(self, places: int, place_bytes: int) -> None:
        self._places, self._place_bytes = places, place_bytes
        self._memory = mmap.mmap(-1, places * place_bytes)

    @property
    def largest(self) -> int:
        """The most bytes that one can be."""
        return self._place_bytes - _HEAD.size

    def put(self, name: bytes, content: bytes, *, seconds: float) -> None:
        """Put something there for so long. What is too large is not put."""
        if len(content) > self.largest:
            return
        start, until = self._start(name), time.monotonic() + seconds
        head = _HEAD.pack(_seal(name, until, content), until, len(content))
        self._memory[start : start + _HEAD.size + len(content)] = head + content

    def take(self, name: bytes) -> bytes | None:
        """What was put there under this name; None: nothing was, or its time is over."""
        start = self._start(name)
        seal, until, length = _HEAD.unpack_from(self._memory, start)
        if length > self.largest or time.monotonic() >= until:
            return None
        content = self._memory[start + _HEAD.size : start + _HEAD.size + length]
        return content if _seal(name, until, content) == seal else None

    def _start(self, name: bytes) -> int:
        number = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
        return number % self._places * self._place_bytes


def _seal(name: bytes, until: float, content: bytes) -> bytes:
    seal = blake2b(name, digest_size=SEAL_BYTES)
    seal.update(struct.pack("<dII", until, len(name), len(content)))
    seal.update(content)
    return seal.digest()
