"""What was asked of the sandbox, so that tests can count it."""

from __future__ import annotations

import threading
from collections import deque

import msgspec

_KEPT = 10_000


class CallRecord(msgspec.Struct, kw_only=True):
    """One call. `items` is None where there are none to count; `status` 0: no answer was given."""

    method: str
    kind: str
    model: str = ""
    request_id: str = ""
    items: int | None = None
    bytes: int = 0
    time: float
    status: int = 0
    fault: str = ""


class Calls:
    """The last 10,000 calls, oldest first; safe to use from many threads."""

    def __init__(self) -> None:
        self._records: deque[CallRecord] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    def add(self, record: CallRecord) -> None:
        with self._lock:
            self._records.append(record)

    def clear(self) -> None:
        with self._lock:
            self._records.clear()

    def shown(self, *, kind: str = "", model: str = "") -> list[CallRecord]:
        with self._lock:
            return [
                record
                for record in self._records
                if kind in {"", record.kind} and model in {"", record.model}
            ]
