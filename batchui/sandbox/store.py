"""Stores the accepted requests in one SQLite file."""

import contextlib
import sqlite3
import threading
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from batchui.sandbox.options import Options

# The moments of a request that an upstream has not begun, or not ended: no clock reaches them.
NOT_YET = 1e18
State = Literal["queued", "running", "finished"]

_DAY = 86_400.0
_HOUR = 3_600.0
_SCHEMA = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA foreign_keys = ON;
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
-- Only of requests that an upstream works off; answers that are made up are made when polled.
CREATE TABLE IF NOT EXISTS items (
    request_id TEXT NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    read INTEGER NOT NULL DEFAULT 0,     -- tokens
    written INTEGER NOT NULL DEFAULT 0,
    asked BLOB,     -- the item as it was sent; NULL once it is answered
    entry BLOB,     -- its entry in the reply, as JSON; NULL until then
    PRIMARY KEY (request_id, position)
);
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """One request without its body. The moments are seconds since 1970.

    items: None if the body has no list of requests. is_worked: an upstream works it off.
    """

    id: str
    created: float
    runs_at: float
    done_at: float
    items: int | None
    is_worked: bool

    def state(self, now: float) -> State:
        """The state at the moment `now`."""
        if now < self.runs_at:
            return "queued"
        return "running" if now < self.done_at else "finished"


class Known(NamedTuple):
    """A request of an account, and when it finishes (seconds since 1970)."""

    id: str
    model: str
    done_at: float


class Store:
    """The stored requests. Safe to use from many threads.

    It has one connection and a lock. Each use takes about a millisecond; compression needs no lock.
    """

    def __init__(self, options: Options, *, clock: Callable[[], float]) -> None:
        """Open or make the file. Raises sqlite3.Error or OSError if that is not possible."""
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
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The database for one use, all of which is stored, or nothing. Raises sqlite3.Error."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def add(
        self,
        *,
        account: str,
        model: str,
        body: bytes,
        items: int | None,
        moments: tuple[float, float],
        work: Sequence[bytes] = (),
    ) -> str:
        """Store a request that runs and finishes at `moments`. Returns its new id.

        work: its items, if an upstream is to work them off.
        """
        self.clean()
        packed = zlib.compress(body, 1)
        request_id = str(uuid.uuid4())
        row = (request_id, account, model, self._clock(), *moments, items, len(packed), packed)
        with self.transaction() as database:
            database.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            database.executemany(
                "INSERT INTO items (request_id, position, asked) VALUES (?, ?, ?)",
                ((request_id, position, asked) for position, asked in enumerate(work)),
            )
        return request_id

    def find(self, request_id: str, *, account: str, model: str) -> Stored | None:
        """The request with this id, account and model; None if there is none."""
        with self._lock:
            row = self._database.execute(
                "SELECT id, created, runs_at, done_at, items,"
                " EXISTS (SELECT 1 FROM items WHERE request_id = requests.id)"
                " FROM requests WHERE id = ? AND account = ? AND model = ?",
                (request_id, account, model),
            ).fetchone()
        return Stored(*row) if row else None

    def of_account(self, account: str) -> list[Known]:
        """The requests of an account, the oldest first."""
        with self._lock:
            rows = self._database.execute(
                "SELECT id, model, done_at FROM requests WHERE account = ? ORDER BY created",
                (account,),
            ).fetchall()
        return [Known(*row) for row in rows]

    def body(self, request_id: str) -> bytes | None:
        """The body as it was sent; None if the request was dropped meanwhile."""
        with self._lock:
            row = self._database.execute(
                "SELECT body FROM requests WHERE id = ?", (request_id,)
            ).fetchone()
        return zlib.decompress(row[0]) if row else None

    def drop(self, request_id: str) -> None:
        """Forget a request."""
        with self._lock:
            self._database.execute("DELETE FROM requests WHERE id = ?", (request_id,))

    def clean(self) -> None:
        """Drop finished requests that are too old or too many. Does so at most once a minute."""
        now = self._clock()
        if now - self._cleaned < 60:
            return
        self._cleaned = now
        too_old = now - self._options.keep_days * _DAY
        with self._lock:
            self._database.execute("DELETE FROM requests WHERE done_at < ?", (too_old,))
            self._database.execute(
                "DELETE FROM requests WHERE done_at = ? AND created < ?",
                (NOT_YET, now - self._options.keep_unanswered_days * _DAY),
            )
            # The newest requests that fit stay. Requests that finished within the hour always stay,
            # because somebody may still poll them.
            self._database.execute(
                "DELETE FROM requests WHERE done_at < ? AND id IN (SELECT id FROM (SELECT id,"
                " sum(stored) OVER (ORDER BY done_at DESC) AS total FROM requests)"
                " WHERE total > ?)",
                (now - _HOUR, self._options.keep_bytes),
            )
            # A few pages at a time: freeing gigabytes at once would delay a submission.
            self._database.execute("PRAGMA incremental_vacuum(5000)").fetchall()
