"""Gathers the static files, once for all who serve this copy of batchui.

They share the gathered files, each with a data folder of their own. A server sends of a file as
many bytes as it had when the server began: what is gathered beside it must not change a file that
pages link (`web/static_files.py`), and be whole when the next one begins.
"""

import fcntl
import hashlib
import os
import re
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

# What joins and compresses them, and the file that is written when all are there.
MADE_BY = ("static_files.py", "minifying.py")
MANIFEST = "staticfiles.json"
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{16}")


def gather_static_files() -> None:
    """Run collectstatic, unless the files are the same as the last time.

    One process gathers, and the others wait for it.
    """
    root = Path(settings.STATIC_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    stamp = root / ".gathered"
    with (root / ".gathering").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fingerprint = static_fingerprint()
        is_there = stamp.exists() and (root / MANIFEST).exists()
        if is_there and stamp.read_text() == fingerprint:
            return
        _remove_unfinished(root)
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(fingerprint)


def _remove_unfinished(root: Path) -> None:
    """Remove the new files of a process that was killed before they took their places."""
    for path in root.rglob(".*"):
        if _UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)


def static_fingerprint() -> str:
    """A digest of every static file's path, size and time of change, and of what makes them."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for name in MADE_BY:
        digest.update(Path(__file__).with_name("web").joinpath(name).read_bytes())
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = os.stat(storage.path(path))
            digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
