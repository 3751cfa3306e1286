"""Which parts, tried rows and look-ups this process has claimed, where it outlives the process.

A killed process leaves claims whose leases last for minutes. So each keeps a file with its claims,
and locks it as long as it lives: the kernel ends the lock, whatever ended the process. Who finds
such a file without a lock knows that nobody has these claims any more, and ends their leases.

This is a hint, no promise. Where no file can be written, and for what was killed on another host,
leases end when their time is over. Should one be ended whose process lives, it is as if its time
had been over: once another process has claimed the row, that one changes nothing any more.
"""

import fcntl
import functools
import logging
import os
import secrets
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils import timezone

from batchui.batches.models import LookUp, Part, TriedRow
from batchui.batches.steps import PART_LEASE

logger = logging.getLogger(__name__)

Claimed = Part | TriedRow | LookUp
KINDS: dict[str, type[Claimed]] = {
    str(kind._meta.model_name): kind for kind in (Part, TriedRow, LookUp)
}
# The epoch that each has since it was claimed, by its key.
Epochs = dict[Any, int]
FOLDER = "claims"
# Hosts that share a data folder have names of their own: whether a lock of another one is seen here
# depends on how the folder is shared.
THIS_HOST = socket.gethostname()
# How often within the length of a lease what dead processes had is taken from them.
MOST_ROUNDS = 2
# The oldest claim that may have a lease still: it was renewed just before its task had to end.
LONGEST_CLAIM = timedelta(seconds=settings.LONGEST_TASK_SECONDS) + PART_LEASE
# The files of hosts that are gone, and of processes that have not claimed anything for so long.
SECONDS_KEPT = 24 * 60 * 60
# So many rows are asked for in one query.
AT_ONCE = 500
UNREADABLE = "What was claimed by others cannot be read"


class _OwnFile:
    """The file of this process. One that was forked from it has another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = 0
        self._file = -1
        self._is_empty = True

    def write(self, text: str) -> None:
        """Raises OSError."""
        with self._lock:
            if self._process != os.getpid() or not os.fstat(self._file).st_nlink:
                self._begin()
            self._is_empty = False
            os.write(self._file, text.encode())

    def _begin(self) -> None:
        if self._process:  # it was removed, or is that of the process that forked this one
            os.close(self._file)
            self._process = 0
        self._file, self._process = _new_file(), os.getpid()

    def empty(self) -> None:
        """Raises OSError."""
        with self._lock:
            if self._process == os.getpid() and not self._is_empty:
                os.ftruncate(self._file, 0)
                self._is_empty = True


_own_file = _OwnFile()


def remember(one: Claimed, *, epoch: int) -> None:
    """Write down that this process has claimed something, which has this epoch since then.

    Call it when the claim is committed.
    """
    try:
        _own_file.write(f"{one._meta.model_name} {one.pk} {epoch}\n")
    except OSError as problem:
        _warn_once("What is claimed cannot be written down", problem.strerror)


def forget() -> None:
    """Forget what was claimed: this process has let go of it."""
    try:
        _own_file.empty()
    except OSError as problem:
        _warn_once("What was claimed cannot be forgotten", problem.strerror)


def end_those_of_the_dead() -> int:
    """End the leases of processes of this host that were killed. Returns how many.

    Something may kill each process that takes it up, and what others have in hand with it. So this
    is done MOST_ROUNDS times within the length of a lease; after that they end by themselves.
    """
    dead = [path for path in _paths() if _is_dead(path)]
    leased = [one for path in dead for one in _leased(path)]
    if leased and not _may_end():
        return 0
    now = timezone.now()
    # Whoever claims one meanwhile raises its epoch.
    ended = sum(
        kind._default_manager.filter(pk=key, epoch=epoch).update(lease_until=now)
        for kind, key, epoch in leased
    )
    for path in dead:
        path.unlink(missing_ok=True)
    return ended


def _may_end() -> bool:
    """Whether it was done seldom enough of late. Counts this time, too."""
    name, now = f"claims-ended:{THIS_HOST}", time.time()
    rounds = [at for at in cache.get(name, ()) if 0 <= now - at < PART_LEASE.total_seconds()]
    if len(rounds) >= MOST_ROUNDS:
        return False
    cache.set(name, [*rounds, now], PART_LEASE.total_seconds())
    return True


def _paths() -> list[Path]:
    """The files of this host. Those that nobody can need any more are removed."""
    paths: list[Path] = []
    try:
        for path in _folder().iterdir():
            if time.time() - path.stat().st_mtime > SECONDS_KEPT:
                path.unlink(missing_ok=True)
            elif path.name.endswith(f"@{THIS_HOST}"):
                paths.append(path)
    except FileNotFoundError:
        return paths  # nobody has claimed anything, or another process removes them just now
    except OSError as problem:
        _warn_once(UNREADABLE, problem.strerror)
    return paths


def _is_dead(path: Path) -> bool:
    """Whether the process of this file has ended."""
    try:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as problem:
        _warn_once(UNREADABLE, problem.strerror)
        return False
    return True


def _leased(path: Path) -> Iterator[tuple[type[Claimed], Any, int]]:
    """What stands in a file and has a lease still: its kind, key and epoch.

    None of a file that is too old: another row may have the same epoch by now, where the database
    was put back.
    """
    with suppress(OSError), path.open("rb") as file:
        if time.time() - os.fstat(file.fileno()).st_mtime > LONGEST_CLAIM.total_seconds():
            return
        for kind, epochs in _claims_in(file):
            for keys in _some_at_a_time(list(epochs)):
                rows = kind._default_manager.filter(pk__in=keys, lease_until__gt=timezone.now())
                found: Iterable[tuple[Any, int]] = rows.values_list("pk", "epoch")
                yield from ((kind, key, epoch) for key, epoch in found if epoch == epochs[key])


def _some_at_a_time(keys: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for at in range(0, len(keys), AT_ONCE):
        yield keys[at : at + AT_ONCE]


@functools.cache
def _warn_once(what: str, reason: str | None) -> None:
    """Once in a process, since it may be so for each claim."""
    logger.warning("%s: %s", what, reason)


def _folder() -> Path:
    return Path(settings.DATA, FOLDER)


def _new_file() -> int:
    """Make a file that is locked. Returns its descriptor."""
    _folder().mkdir(exist_ok=True)
    while True:
        path = _folder() / f"{os.getpid()}-{secrets.token_hex(8)}@{THIS_HOST}"
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:  # a folder that knows no locks
            os.close(file)
            path.unlink()
            raise
        if os.fstat(file).st_nlink:
            return file
        os.close(file)  # it was found before it was locked, and removed


def _claims_in(file: Iterable[bytes]) -> Iterator[tuple[type[Claimed], Epochs]]:
    """What was claimed last of each kind. What a full disk has cut off counts for nothing."""
    found: dict[type[Claimed], Epochs] = defaultdict(dict)
    for line in file:
        match line.decode(errors="replace").split():
            case [name, key, epoch] if name in KINDS and epoch.isdecimal():
                kind = KINDS[name]
                with suppress(ValidationError):
                    found[kind][kind._meta.pk.to_python(key)] = int(epoch)
    yield from found.items()
