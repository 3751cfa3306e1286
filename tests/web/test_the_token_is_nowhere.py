"""A server says the API token back, in all ways and at every moment, and it is nowhere afterwards.

Some gateways repeat what they received, also the header with the token. Some 300 calls fail here,
or come back with the token in them. Then everything is searched that is stored, logged or shown.
"""

import base64
import gzip
import html
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
import zstandard
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import patience, polling, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import PartStatus
from batchui.cloudflare.bodies import SMALL
from batchui.teams import crypto
from batchui.teams.models import Connection as Account
from tests.batches.conftest import MakeBatch, api, let_odd_replies_age, rows
from tests.cloudflare.conftest import queued
from tests.cloudflare.server import Act, ScriptedServer, raw, reply, truncated
from tests.web.visiting import STREAMED

__all__ = ["api"]

pytestmark = pytest.mark.django_db

CANARY = "Canary-Token_7f3a9c1e5b2d8064AbCdEfGhIj"
HEADER = f"Authorization: Bearer {CANARY}"


def escaped(way: str, characters: str = CANARY) -> str:
    return "".join(way.format(ord(c)) if c in characters else c for c in CANARY)


# How it is written in a reply. A gateway that repeats the header in base64 has the words before it.
WRITTEN = {
    "plain": HEADER,
    "escaped": escaped("\\u{:04x}"),
    "one letter escaped": escaped("\\u{:04X}", "k"),
    "in an address": escaped("%{:02x}", "-_T"),
    "in HTML": escaped("&#{:d};"),
    "in base64": base64.b64encode(HEADER.encode()).decode(),
    "alone in base64": base64.urlsafe_b64encode(CANARY.encode()).decode(),
}
LARGE = "x" * 2 * SMALL
ROW = "x" * 3_000  # 25 of them are more than SMALL


def said(code: int, status: int, what: str, **headers: str) -> Act:
    """Cloudflare's error, with a message as it is written here."""
    body = f'{{"success": false, "errors": [{{"code": {code}, "message": "No: {what}"}}]}}'
    return reply(status, body.encode(), **headers)


def faults(what: str) -> list[Act]:
    """Replies to a submission and to a poll, none of which brings anything."""
    page = f"<pre>{what}</pre>".encode()
    long_page = f"<pre>{what} {LARGE} {what}</pre>".encode()
    return [
        said(8007, 400, what),
        said(10000, 401, what),
        said(99, 403, what),
        said(3040, 429, what),
        said(5001, 500, what),
        reply(404, page),
        reply(500, long_page),
        reply(503, page, retry_after=what),
        reply(302, b"", location=f"/?token={what}"),
        reply(200, page),
        reply(200, f'{{"result": {{"status": "{what}", "error": "{what}"}}}}'.encode()),
        reply(200, gzip.compress(page), content_encoding="gzip"),
        reply(200, page, content_encoding=what),
        truncated(long_page, keep=len(long_page) - 20),
        raw(f"HTTP/1.1 {what}\r\n\r\n".encode()),
    ]


def answers(what: str) -> list[tuple[Act, int]]:
    """Finished replies with it in them, and how often each is polled until it counts."""

    def finished(*items: str, more: str = "") -> Act:
        result = f'{{"responses": [{", ".join(items)}]{more}}}'
        return reply(200, f'{{"result": {result}, "success": true}}'.encode())

    def item(number: int, result: str, more: str = "") -> str:
        return f'{{"id": {number}, "result": {result}{more}, "success": true}}'

    def response(text: str) -> str:
        return f'{{"response": "{text}"}}'

    many = [item(number, response(f"You sent {what}.")) for number in range(25)]
    large = [item(number, response(f"{what} {ROW} {what}")) for number in range(25)]
    tokens = f'{{"response": "Yes", "usage": {{"{what}": 1}}}}'
    declined = f'{{"choices": [{{"message": {{"content": null, "refusal": "{what}"}}}}]}}'
    status = f'"result": {{"status": "failed", "error": "It said {what}."}}'
    return [
        (finished(*many), 1),
        (finished(*large), 1),
        (finished(*(item(n, tokens) for n in range(25))), 1),
        (finished(*(item(n, declined) for n in range(25))), 1),
        (finished(*(f'{{"id": {n}, "success": false, "error": "{what}"}}' for n in range(25))), 1),
        (finished(*many[:9], f'{{"id": 9, "result": tru, "error": "{what}"}}', *many[10:]), 2),
        (finished(item(0, response("Yes"), f', "external_reference": "{what}"')), 3),
        (finished(*large[:20], item(0, response("No"), f', "external_reference": "{what}"')), 3),
        (finished(item(0, response(what)), item(0, response(f"not {what}"))), 3),
        (finished(f'{{"id": "{what}", "result": {response(what)}}}'), 3),
        (reply(200, f'{{{status}, "success": true}}'.encode()), 1),
    ]


# -- failing --------------------------------------------------------------------------------------


def parts_of(batch: Batch) -> list[Part]:
    return list(batch.parts.select_related("batch__connection").order_by("number"))


def submissions_fail(api: ScriptedServer, batch: Batch, what: str) -> None:
    """Each part of the batch is sent, with another fault."""
    acts = [*faults(what), reply(200, queued(request_id="SAID"))]
    parts = parts_of(batch)
    assert len(parts) >= len(acts)
    for part, act in zip(parts, acts, strict=False):
        api.script(act)
        assert sending.send(part)


def polls_fail(api: ScriptedServer, batch: Batch, what: str) -> None:
    """One part is polled with every fault, and kept after hours; others get odd answers."""
    parts, endings = parts_of(batch), answers(what)
    assert len(parts) >= len(endings)
    api.script(reply(200, queued()))
    for part in parts:
        assert sending.send(part)
    failing = parts[-1]
    for act in faults(what):
        api.script(act)
        assert polling.poll(failing)
    hours_ago = timezone.now() - 7 * patience.UNREADABLE_AFTER
    Part.objects.filter(pk=failing.pk).update(failing_since=hours_ago)
    api.script(truncated(f"<pre>{what} {LARGE}</pre>".encode(), keep=2 * SMALL))
    assert polling.poll(parts_of(batch)[-1])
    for part, (act, polls) in zip(parts, endings, strict=False):
        api.script(act)
        for _ in range(polls):
            assert polling.poll(Part.objects.select_related("batch__connection").get(pk=part.pk))
            let_odd_replies_age()


# -- searching ------------------------------------------------------------------------------------

IN_BASE64 = [base64.b64encode(b"\0" * before + CANARY.encode())[4:-4] for before in range(3)]


ESCAPE = re.compile(rb"\\+u00([0-9a-fA-F]{2})")


def tells(data: bytes) -> bool:
    """Whether somebody who reads this can know the token."""
    readings = [data]
    if b"&#" in data:
        readings.append(html.unescape(data.decode("utf-8", "replace")).encode())
    if b"%" in data:
        readings.append(unquote_to_bytes(data))
    for _ in range(3):  # JSON within JSON
        if b"\\u00" in readings[-1]:
            readings.append(ESCAPE.sub(_unescaped, readings[-1]))
    return any(map(_tells, readings))


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())


def _tells(reading: bytes) -> bool:
    if CANARY.encode() in reading:
        return True
    plain = reading.translate(bytes.maketrans(b"-_", b"+/"))
    return any(coded in plain for coded in IN_BASE64)


def stored(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            yield f"file {path.name}", data


def in_the_database() -> Iterator[tuple[str, bytes]]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            for row in cursor.fetchall():
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    yield f"table {table}", data


def shown(web: Client, batch: Batch) -> Iterator[tuple[str, bytes]]:
    """Every page about a batch, and every download."""
    named = ("batch", "live", "timeline", "parts", "asked", "attention", "source")
    addresses = [reverse(name, args=[batch.pk]) for name in named]
    addresses += [reverse("batch", args=[batch.pk]) + f"?page={page}" for page in (2, 9)]
    addresses += [reverse("row", args=[batch.pk, row]) for row in range(2, batch.rows + 1, 75)]
    addresses += [reverse("download", args=[batch.pk, kind]) for kind in STREAMED]
    details = []
    for part in batch.parts.all():
        details.append(reverse("part", args=[batch.pk, part.number]))
        for attempt in part.attempts.exclude(reply_file=""):
            addresses.append(reverse("raw_reply", args=[batch.pk, part.number, attempt.number]))
    around = [reverse(name) for name in ("batches", "connections")]
    for address in [*around, *addresses, *details]:
        htmx = {"HX-Request": "true"} if address in details else {}
        response = web.get(address, headers=htmx)
        assert response.status_code in (200, 204), address
        yield f"page {address}", response.getvalue()


# -- the test -------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_search_finds_a_token_that_is_there(written: str) -> None:
    assert tells(f"<p>“{written}” &amp; 100%".encode())
    assert tells(json.dumps({"message": f"é {written}"}).encode())
    assert not tells(written.replace("7", "8").replace("N", "O").encode()[:-9])


def test_after_300_failures_the_token_is_nowhere(
    api: ScriptedServer,
    start: MakeBatch,
    web: Client,
    files_in: Path,
    settings: object,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.CLOUDFLARE_API_TOKEN = CANARY  # type: ignore[attr-defined]
    caplog.set_level(logging.DEBUG)
    batches = []
    for what in WRITTEN.values():
        for fail in (submissions_fail, polls_fail):
            batch = start(rows(25 * 16))
            fail(api, batch, what)
            batches.append(batch)
    assert {call.headers["authorization"] for call in api.received} == {f"Bearer {CANARY}"}
    calls = len(api.received)
    marks = 0
    hits = set()
    everything: list[Callable[[], Iterator[tuple[str, bytes]]]] = [
        lambda: stored(files_in),
        in_the_database,
        lambda: iter([("log", caplog.text.encode())]),
        # What is shown comes from what is stored: two of the ways in which it was written.
        *(lambda batch=batch: shown(web, batch) for batch in batches[:4]),  # type: ignore[misc]
    ]
    for search in everything:
        for place, data in search():
            marks += data.count(b"[token]")
            if tells(data):
                hits.add(place)
    assert hits == set()
    assert (calls >= 300, marks >= 300) == (True, True), (calls, marks)
    assert {"accepted", "answered", "busy", "refused", "unsure", "quarantined"} <= {
        *Attempt.objects.values_list("status", flat=True)
    }
    assert Part.objects.filter(status=PartStatus.UNSURE).exclude(attempts__reply_file="").exists()


def test_a_token_that_is_typed_on_the_page_is_nowhere_but_encrypted(
    api: ScriptedServer,
    web: Client,
    files_in: Path,
    settings: object,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = settings.CLOUDFLARE_API_TOKEN = ""  # type: ignore[attr-defined]
    caplog.set_level(logging.DEBUG)
    address = reverse("connect", args=["rest"])
    typed = {"account_id": "0123456789abcdef" * 2, "token": f"Bearer {CANARY}", "does": "test"}
    pages = []
    for what in (WRITTEN["plain"], WRITTEN["escaped"], WRITTEN["in base64"]):
        for act in faults(what):
            api.script(act)
            pages.append(web.post(address, typed))
    api.script(reply(200, b'{"result": [], "success": true}'))
    pages.append(web.post(address, typed | {"does": "save"}, follow=True))
    api.script(reply(200, b'{"result": [], "success": true}'))
    again = reverse(
        "replace_token", args=[Account.objects.get(from_environment=False, kind="rest").pk]
    )
    pages.append(web.post(again, typed | {"does": "save"}, follow=True))
    pages += [web.get(one) for one in (reverse("connections"), again, address)]
    assert {page.status_code for page in pages} == {200, 422}
    assert {call.headers["authorization"] for call in api.received} == {f"Bearer {CANARY}"}
    found = [page.content for page in pages]
    found += [data for _, data in [*stored(files_in), *in_the_database()]]
    assert not any(map(tells, [*found, caplog.text.encode()]))
    assert (
        crypto.decrypt(Account.objects.get(from_environment=False, kind="rest").token_encrypted)
        == CANARY
    )
