"""What this process has claimed, written where it outlives the process.

A killed process leaves claims whose leases last for minutes. So each keeps a file with its claims,
and locks it as long as it lives: the kernel ends the lock, whatever ended the process. Who finds
such a file without a lock knows that nobody has these claims any more, and ends their leases. What
follows is what would have followed later.

This is a hint, no promise. Where no file can be written, and for what was killed on another host,
leases end when their time is over.
"""

import fcntl
import logging
import os
import secrets
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from batchui.batches.models import LookUp, Part, TriedRow

logger = logging.getLogger(__name__)

Claimed = Part | TriedRow | LookUp
KINDS: dict[str, type[Claimed]] = {"part": Part, "triedrow": TriedRow, "lookup": LookUp}
# The epoch that each has since it was claimed, by its key.
Epochs = dict[Any, int]
FOLDER = "claims"
THIS_HOST = socket.gethostname()
# The files of hosts that are gone. Their leases ended long ago.
SECONDS_KEPT = 24 * 60 * 60
# So many rows are asked for in one query.
AT_ONCE = 500


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
                self._file, self._process = _new_file(), os.getpid()
            self._is_empty = False
            os.write(self._file, text.encode())

    def empty(self) -> None:
        """Raises OSError."""
        with self._lock:
            if self._process == os.getpid() and not self._is_empty:
                os.ftruncate(self._file, 0)
                self._is_empty = True


_own_file = _OwnFile()


def note(one: Claimed, *, epoch: int) -> None:
    """Write down that this process has claimed something, which has this epoch since then."""
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
    """End the leases of processes of this host that were killed. Returns how many."""
    ended = 0
    for path in _folder().glob("*"):
        try:
            if not path.name.endswith(f"@{THIS_HOST}"):
                # Whether a lock of another host is seen here depends on how the folder is shared.
                if time.time() - path.stat().st_mtime > SECONDS_KEPT:
                    path.unlink()
                continue
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for kind, epochs in _claims_in(file):
                    ended += _end(kind, epochs)
                path.unlink()
        except FileNotFoundError:
            continue  # another process was faster
        except BlockingIOError:
            continue  # its process lives
        except OSError as problem:
            _warn_once("What was claimed by others cannot be read", problem.strerror)
    return ended


@cache
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
    """What was claimed last of each kind. A line that a full disk has cut off is left out."""
    found: dict[type[Claimed], Epochs] = defaultdict(dict)
    for line in file:
        match line.decode(errors="replace").split():
            case [name, key, epoch] if name in KINDS and epoch.isdecimal():
                kind = KINDS[name]
                with suppress(ValidationError):
                    found[kind][kind._meta.pk.to_python(key)] = int(epoch)
    yield from found.items()


def _end(kind: type[Claimed], epochs: Epochs) -> int:
    """End the leases of those that have these epochs still: whoever claims one raises it."""
    now, keys, ended = timezone.now(), list(epochs), 0
    for at in range(0, len(keys), AT_ONCE):
        some = keys[at : at + AT_ONCE]
        leased = kind._default_manager.filter(pk__in=some, lease_until__gt=now)
        found: Iterable[tuple[Any, int]] = leased.values_list("pk", "epoch")
        for key, epoch in found:
            mine = kind._default_manager.filter(pk=key, epoch=epochs[key])
            ended += mine.update(lease_until=now) if epoch == epochs[key] else 0
    return ended
