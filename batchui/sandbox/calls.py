"""The calls that were made, so that tests can count them."""

import threading
from collections import deque

import msgspec

_KEPT = 10_000


class CallRecord(msgspec.Struct, kw_only=True):
    """One call. items: None if there are none to count. status: 0 if no answer was sent.

    sha256: of the body of a synchronous run.
    """

    method: str
    kind: str
    model: str = ""
    request_id: str = ""
    items: int | None = None
    bytes: int = 0
    time: float
    status: int = 0
    fault: str = ""
    sha256: str = ""


class Calls:
    """The last 10,000 calls, oldest first. Safe to use from many threads."""

    def __init__(self) -> None:
        self._records: deque[CallRecord] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    def add(self, record: CallRecord) -> None:
        """Add a call."""
        with self._lock:
            self._records.append(record)

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._records.clear()

    def shown(self, *, kind: str = "") -> list[CallRecord]:
        """All calls, or those of one kind."""
        with self._lock:
            return [record for record in self._records if kind in {"", record.kind}]
