"""The requests taken in, in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from batchui.sandbox.options import Options

State = Literal["queued", "running", "finished"]

_DAY = 86_400.0
_HOUR = 3_600.0
_SCHEMA = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 67108864;
CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    model TEXT NOT NULL,
    created REAL NOT NULL,
    runs_at REAL NOT NULL,
    done_at REAL NOT NULL,
    items INTEGER,        -- NULL: the body has no list of requests
    stored INTEGER NOT NULL,
    body BLOB NOT NULL    -- zlib; last, so that looking at the rest does not read it
);
CREATE INDEX IF NOT EXISTS requests_done_at ON requests (done_at);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One request without its body. `items` is None when the body has no list of requests."""

    id: str
    account: str
    model: str
    created: float
    runs_at: float
    done_at: float
    items: int | None

    def state(self, now: float) -> State:
        if now < self.runs_at:
            return "queued"
        return "running" if now < self.done_at else "finished"


class Store:
    """One connection under a lock: each use takes about a millisecond, compression is outside."""

    def __init__(self, options: Options, *, clock: Callable[[], float]) -> None:
        """Open or make the file. Raises sqlite3.Error or OSError when that is impossible."""
        self._options = options
        self._clock = clock
        self._lock = threading.Lock()
        self._cleaned = 0.0
        if options.data is not None:
            options.data.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(
            options.data or ":memory:", check_same_thread=False, isolation_level=None, timeout=20
        )
        self._database.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                yield self._database

    def add(
        self,
        *,
        account: str,
        model: str,
        body: bytes,
        items: int | None,
        moments: tuple[float, float],
    ) -> str:
        """Keep a request that runs and finishes at `moments`; its new id."""
        self._clean()
        packed = zlib.compress(body, 1)
        request_id = str(uuid.uuid4())
        with self._transaction() as database:
            database.execute(
                "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (request_id, account, model, self._clock(), *moments, items, len(packed), packed),
            )
        return request_id

    def find(self, request_id: str, *, account: str, model: str) -> Stored | None:
        with self._lock:
            row = self._database.execute(
                "SELECT id, account, model, created, runs_at, done_at, items FROM requests"
                " WHERE id = ? AND account = ? AND model = ?",
                (request_id, account, model),
            ).fetchone()
        if row is None:
            return None
        names = ("id", "account", "model", "created", "runs_at", "done_at", "items")
        return Stored(**dict(zip(names, row, strict=True)))

    def body(self, request_id: str) -> bytes | None:
        """The body as it was sent; None when the request was dropped meanwhile."""
        with self._lock:
            row = self._database.execute(
                "SELECT body FROM requests WHERE id = ?", (request_id,)
            ).fetchone()
        return zlib.decompress(row[0]) if row else None

    def drop(self, request_id: str) -> bool:
        with self._transaction() as database:
            return database.execute("DELETE FROM requests WHERE id = ?", (request_id,)).rowcount > 0

    def count(self) -> int:
        with self._lock:
            row = self._database.execute("SELECT count(*) FROM requests").fetchone()
        return int(row[0])

    def _clean(self) -> None:
        """At most once a minute: drop what is finished and old, or too much."""
        now = self._clock()
        if now - self._cleaned < 60:
            return
        self._cleaned = now
        with self._transaction() as database:
            database.execute(
                "DELETE FROM requests WHERE done_at < ?", (now - self._options.keep_days * _DAY,)
            )
            # The newest that fit stay; what finished within the hour stays even if it does not
            # fit, for somebody may still come for it.
            database.execute(
                "DELETE FROM requests WHERE done_at < ? AND id IN (SELECT id FROM (SELECT id,"
                " sum(stored) OVER (ORDER BY done_at DESC) AS total FROM requests)"
                " WHERE total > ?)",
                (now - _HOUR, self._options.keep_bytes),
            )
        with self._lock:
            # A few pages at a time: giving back gigabytes at once would hold up a submission.
            self._database.execute("PRAGMA incremental_vacuum(5000)").fetchall()
