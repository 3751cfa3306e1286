"""Django's backend for SQLite, where the threads of a process write one after the other.

SQLite has one writer at a time. Whoever finds it taken sleeps, longer each time, and looks again:
of eight threads some wait for a second while the database is free. A lock hands over at once. Other
processes still wait as SQLite lets them.
"""

import os
import threading
from typing import Any

from django.db.backends.sqlite3 import base

_writing = threading.Lock()


def _forget_other_threads() -> None:
    """A process that was forked has none of the threads that may hold the lock."""
    global _writing
    _writing = threading.Lock()


os.register_at_fork(after_in_child=_forget_other_threads)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with a lock for each transaction."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: threading.Lock | None = None

    def _start_transaction_under_autocommit(self) -> None:
        lock = _writing
        # Whoever does not get it in time hears from SQLite that the database is locked.
        if lock.acquire(timeout=self.settings_dict["OPTIONS"].get("timeout", 5)):
            self._held = lock
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._let_go()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._let_go()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._let_go()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._let_go()

    def _let_go(self) -> None:
        lock, self._held = self._held, None
        if lock is not None:
            lock.release()
