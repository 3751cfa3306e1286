"""What the API accepted, as far as it can be asked: the sandbox keeps what it was sent.

Cloudflare has no such list. Without one, the checks go by the database alone.
"""

import hashlib
import json
import sqlite3
import urllib.request
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from batchui.batches import part_pictures, references
from batchui.batches.compressed import DamagedFile, read_lines
from batchui.batches.models import Attempt
from batchui.prompts.payload import payload
from batchui.prompts.problems import BadInput
from batchui.teams.connections import cloudflare_is_configured, sandbox_token

SECONDS_TO_ANSWER = 10


class Accepted(NamedTuple):
    """A request that the API accepted. size: bytes. sha256: of its body; "" if it is not known."""

    request_id: str
    model: str
    items: int | None
    size: int
    at: datetime
    sha256: str = ""


@dataclass(frozen=True)
class Ledger:
    """The accepted requests, by id.

    is_whole: nobody else sends to this API, so that each of them must be on record here.
    """

    accepted: Mapping[str, Accepted] = field(default_factory=dict)
    is_whole: bool = False
    where: str = ""


NO_LEDGER = Ledger()


def find_ledger() -> Ledger:
    """The ledger of the sandbox that belongs to this data folder; else NO_LEDGER.

    A sandbox that runs elsewhere may have other callers, too: it is asked for its calls.
    """
    if cloudflare_is_configured():
        return NO_LEDGER
    store = Path(settings.DATA, "sandbox.sqlite3")
    if not settings.SANDBOX_IS_GIVEN and store.exists():
        return of_store(store)
    with suppress(OSError, ValueError):
        return of_calls(settings.SANDBOX_URL)
    return NO_LEDGER


def of_store(path: Path) -> Ledger:
    """The requests that a sandbox keeps in its file. Raises sqlite3.Error."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as store:
        found = {one.request_id: one for one in _stored(store)}
    return Ledger(found, is_whole=True, where=str(path))


def _stored(store: sqlite3.Connection) -> Iterator[Accepted]:
    for request_id, model, items, created, packed in store.execute(
        "SELECT id, model, items, created, body FROM requests"
    ):
        body = zlib.decompress(packed)
        at = datetime.fromtimestamp(created, UTC)
        digest = hashlib.sha256(body).hexdigest()
        yield Accepted(request_id, model, items, len(body), at, digest)


def of_calls(address: str, *, is_whole: bool = False) -> Ledger:
    """The submissions that a running sandbox remembers. Raises OSError, ValueError.

    address: of its API. It forgets them when it is started again. Its control address must be open
    (`--control`), and its token that of the settings.
    """
    url, calls = _calls(address, kind="submit")
    found = {
        call["request_id"]: Accepted(
            call["request_id"],
            call["model"],
            call["items"],
            call["bytes"],
            datetime.fromtimestamp(call["time"], UTC),
        )
        for call in calls
        if call["request_id"]
    }
    return Ledger(found, is_whole=is_whole, where=url)


def runs(address: str) -> list[str]:
    """The SHA-256 of the body of each synchronous run that a running sandbox remembers.

    Raises OSError, ValueError.
    """
    return [call["sha256"] for call in _calls(address, kind="run")[1]]


def _calls(address: str, *, kind: str) -> tuple[str, list[dict[str, Any]]]:
    """The calls of a kind that a sandbox remembers, and where it tells them."""
    server = urlsplit(address)
    url = f"{server.scheme}://{server.netloc}/control/calls?kind={kind}"
    request = urllib.request.Request(url)  # noqa: S310
    # Not on to where a server may send us.
    request.add_unredirected_header("Authorization", f"Bearer {sandbox_token()}")
    with urllib.request.urlopen(request, timeout=SECONDS_TO_ANSWER) as reply:  # noqa: S310
        return url, json.load(reply)


def together(first: Ledger, second: Ledger) -> Ledger:
    """Two ledgers of the same API in one; where both have a request, what the first one says."""
    accepted = {**second.accepted, **first.accepted}
    return Ledger(accepted, is_whole=first.is_whole or second.is_whole, where=first.where)


def sha256_of(attempt: Attempt) -> str:
    """The SHA-256 of the body of an attempt, made again from its rows; "" if they are lost."""
    part = attempt.part
    try:
        body = payload(
            read_lines(part.rows_file, lines=part.rows),
            attempt.positions,
            first_row=part.first_row,
            writer=references.item_writer(part.batch, longest=attempt.longest),
            picture_of=part_pictures.opened(part) if part.batch.ask.shows_pictures else None,
        )
    except (BadInput, DamagedFile, OSError, LookupError):
        return ""
    return hashlib.sha256(body).hexdigest()
