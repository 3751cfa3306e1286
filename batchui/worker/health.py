"""Two addresses for machines that monitor the product.

`/healthz` shows only that the process answers. `/readyz` tries everything that a batch needs and
answers with JSON: 200 if all of it works, else 503.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from batchui.batches.phrases import counted
from batchui.worker import full_disk
from batchui.worker.checks import files_are_shared
from batchui.worker.database import migrations_waiting
from batchui.worker.heartbeat import SILENCE, latest_beat, problem_of_workers

logger = logging.getLogger(__name__)

HEALTHZ = "/healthz"
# More frequent requests get the last answer again, because trying the storage writes a file.
ANSWER_KEPT_SECONDS = 2.0

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class NotReady(Exception):
    """Something does not work. The text says what, and what to do."""


def healthz(request: HttpRequest) -> HttpResponse:
    """Always `ok` (see also `with_healthz`)."""
    return HttpResponse("ok", content_type="text/plain")


def with_healthz(application: WsgiApplication) -> WsgiApplication:
    """`application`, but with an answer to `/healthz` before Django sees the request.

    No middleware runs, so the host's name, https and the database make no difference.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != HEALTHZ:
            return application(environ, start_response)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
        return [b"ok"]

    return answer


def readyz(request: HttpRequest) -> HttpResponse:
    """What works and what does not, with a sentence for each."""
    found = _recent.get()
    ready = all(entry["ok"] for entry in found.values())
    response = JsonResponse({"ready": ready, "checks": found}, status=200 if ready else 503)
    response["Cache-Control"] = "no-store"
    return response


def report() -> dict[str, dict[str, Any]]:
    """Run all probes. Returns `{"database": {"ok": true, "says": "…"}, …}`."""
    probes = {
        "database": database,
        "migrations": migrations,
        "storage": storage,
        "keys": keys,
        "worker": worker,
    }
    return {name: _try(name, probe) for name, probe in probes.items()}


def database() -> str:
    """The probe that a query is answered."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return f"{settings.DATABASE_KIND} answers."


def migrations() -> str:
    """The probe that every migration is applied."""
    if waiting := migrations_waiting():
        wait = "waits" if waiting == 1 else "wait"
        raise NotReady(f"{counted(waiting, 'migration')} {wait}. Run: python manage.py migrate")
    return "The tables are up to date."


def storage() -> str:
    """The probe that a small file can be written, read and deleted."""
    content = secrets.token_bytes(16)
    name = default_storage.save(f"ready/{secrets.token_hex(8)}", ContentFile(content))
    try:
        with default_storage.open(name) as file:
            if file.read() != content:
                raise NotReady("A small file did not come back as it was written.")
    finally:
        default_storage.delete(name)
    return "A small file was written, read and deleted."


def keys() -> str:
    """The probe that the newest encryption key can encrypt and decrypt."""
    fernet = MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
    if fernet.decrypt(fernet.encrypt(b"ready")) != b"ready":
        raise NotReady("An encrypted secret could not be decrypted.")
    return "A secret was encrypted and decrypted."


def worker() -> str:
    """The probe that background work is alive and uses the same files as this process."""
    at = latest_beat()
    if at is None:
        raise NotReady("Background work has never run. Start it with: python manage.py worker")
    age = max(0, round((timezone.now() - at).total_seconds()))
    if age > SILENCE.total_seconds():
        if full_disk.is_full_anywhere():  # then it may run, and cannot show it
            raise NotReady(full_disk.SENTENCE)
        raise NotReady(
            f"Background work last showed a sign of life {age} s ago. Is "
            "`python manage.py worker` running?"
        )
    if problem := problem_of_workers():
        raise NotReady(f"Background work fails. {problem} The log says more.")
    elsewhere = files_are_shared(databases=["default"])
    if elsewhere:
        raise NotReady(elsewhere[0].msg)
    return f"Background work showed a sign of life {age} s ago."


def _try(name: str, probe: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"ok": True, "says": probe()}
    except NotReady as reason:
        return {"ok": False, "says": str(reason)}
    except Exception as error:
        logger.exception("readyz: %s", name)
        return {"ok": False, "says": _in_words(error)}


def _in_words(error: Exception) -> str:
    if full_disk.is_reason_for(error):
        return full_disk.SENTENCE
    if isinstance(error, DatabaseError):
        return "The database does not answer. The log says more."
    return f"This did not work ({type(error).__name__}). The log says more."


class _Recent:
    """The last report. It is made again when it is older than ANSWER_KEPT_SECONDS."""

    def __init__(self) -> None:
        self.made = -ANSWER_KEPT_SECONDS
        self._report: dict[str, dict[str, Any]] = {}
        self._one_at_a_time = threading.Lock()

    def get(self) -> dict[str, dict[str, Any]]:
        with self._one_at_a_time:
            if time.monotonic() - self.made >= ANSWER_KEPT_SECONDS:
                self._report = report()
                self.made = time.monotonic()
            return self._report


_recent = _Recent()


def forget() -> None:
    """Let the next `readyz` run all probes again."""
    _recent.made = -ANSWER_KEPT_SECONDS
