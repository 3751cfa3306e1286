"""What many people ask for at the same time is found out once, and kept for a moment."""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


# After this share of its time the first who asks finds it out anew; the others get the old one as
# long as it counts.
RENEWED_AFTER = 0.75


class _Kept(Generic[V]):
    """What is found out for a key; until: when it counts no more (`time.monotonic`).

    before: the one before it, for those who ask while this one is found out.
    """

    def __init__(self, until: float, before: "_Kept[V] | None") -> None:
        self.until = until
        self.lock = Lock()
        self.found: list[V] = []
        self.before = before


class Remembered(Generic[K, V]):
    """A memory of this process. seconds: how old what it says may be. most: of its keys."""

    def __init__(self, seconds: float, *, most: int) -> None:
        self.seconds, self.most = seconds, most
        self._kept: dict[K, _Kept[V]] = {}
        self._lock = Lock()

    def get(self, key: K, find_out: Callable[[], V]) -> V:
        """What is known for a key, or what `find_out` returns now.

        While one thread finds it out, others that ask for the same are given what was known before,
        as long as that counts; else they wait. What `find_out` raises is raised, and is not kept.
        """
        kept = self._at(key)
        if kept.found:
            return kept.found[0]
        before = kept.before
        if before and time.monotonic() < before.until:
            if not kept.lock.acquire(blocking=False):
                return before.found[0]
        else:
            kept.lock.acquire()
        try:
            if not kept.found:
                kept.found.append(find_out())
            return kept.found[0]
        finally:
            kept.lock.release()

    def _at(self, key: K) -> _Kept[V]:
        with self._lock:
            now = time.monotonic()
            kept = self._kept.get(key)
            if kept is None or now >= self._renewed_at(kept):
                self._make_room(now)
                if kept:
                    kept.before = None
                before = kept if kept and kept.found else None
                kept = self._kept[key] = _Kept(now + self.seconds, before)
            return kept

    def _renewed_at(self, kept: _Kept[V]) -> float:
        """When something is found out anew; what is not known yet, when its time is over."""
        return kept.until - self.seconds * (1 - RENEWED_AFTER if kept.found else 0)

    def _make_room(self, now: float) -> None:
        """Forget what is too old; and the oldest, where there is no room for another key."""
        if len(self._kept) < self.most:
            return
        self._kept = {key: kept for key, kept in self._kept.items() if now < kept.until}
        while len(self._kept) >= self.most:
            del self._kept[next(iter(self._kept))]
