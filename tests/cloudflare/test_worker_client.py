"""A Worker of the team's own is called as the API is, and sentences speak of it."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    MaybeSent,
    NotSent,
    Refused,
    TooLarge,
)
from batchui.cloudflare.replies import decode
from batchui.cloudflare.worker_client import WorkerClient, worker
from tests.cloudflare.conftest import MODEL, QUICK, REQUEST_ID, finished, queued
from tests.cloudflare.server import Act, ScriptedServer, after, cut, error, raw, reply, truncated

SECRET = "Secret-of-the-Worker_0123456789ab"
MARKED = {"batchui_worker": "1"}
BODY = b'{"requests": [{"prompt": "Yes?"}]}'
PAGE = b"<!doctype html><title>Bakery</title><h1>Fresh bread</h1>"


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[WorkerClient]:
    with WorkerClient(address=f"http://{server.address}", secret=SECRET) as client:
        yield client


def submit(client: WorkerClient) -> Any:
    return client.submit(MODEL, BODY)


def run(client: WorkerClient) -> Any:
    return client.run(MODEL, b'{"prompt": "Yes?"}')


def poll(client: WorkerClient) -> Any:
    return client.poll(MODEL, REQUEST_ID, io.BytesIO())


def search(client: WorkerClient) -> Any:
    return client.test_connection()


Call = Callable[[WorkerClient], Any]
EVERY = pytest.mark.parametrize("call", [submit, run, poll, search])
BOTH = pytest.mark.parametrize("call", [submit, poll])


def failure(client: WorkerClient, call: Call) -> CloudflareError:
    with pytest.raises(CloudflareError) as caught:
        call(client)
    return caught.value


def marked(status: int, body: Any) -> Act:
    return reply(status, body, **MARKED)


# -- the calls ------------------------------------------------------------------------------------


def test_a_batch_is_sent_with_the_secret_and_polled_by_its_id(
    server: ScriptedServer, client: WorkerClient
) -> None:
    item = {"id": 0, "result": {"response": "Yes."}, "success": True}
    server.script(marked(200, queued()), marked(200, queued()), marked(200, finished(item)))
    assert client.submit(MODEL, BODY).request_id == REQUEST_ID
    assert poll(client) == "queued"
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert decode(spool.read(), request_id=REQUEST_ID).items[0].answer == b'"Yes."'
    sent, *polls = server.received
    assert (sent.method, sent.path) == ("POST", f"/ai/run/{MODEL}?queueRequest=true")
    assert sent.headers["authorization"] == f"Bearer {SECRET}"
    assert sent.body == BODY
    assert [poll.json for poll in polls] == [{"request_id": REQUEST_ID}] * 2


def test_one_item_is_answered_at_once(server: ScriptedServer, client: WorkerClient) -> None:
    server.script(marked(200, {"result": {"response": "Yes."}, "success": True, "errors": []}))
    assert json.loads(run(client)) == {"response": "Yes."}
    assert server.received[0].path == f"/ai/run/{MODEL}"


def test_models_are_searched_and_schemas_are_none(
    server: ScriptedServer, client: WorkerClient
) -> None:
    server.script(marked(200, {"result": [{"name": MODEL}], "success": True, "errors": []}))
    assert [model["name"] for model in client.models()] == [MODEL]
    assert server.received[0].path.startswith("/ai/models/search?per_page=100&page=1")
    calls = len(server.received)
    assert client.schema(MODEL) == {}
    assert len(server.received) == calls


# -- the Worker refuses ---------------------------------------------------------------------------

OWN = {
    990401: (401, "does not accept the secret of this connection"),
    990403: (503, "has no secret, or one of less than 32 characters"),
    990404: (404, "does not know this call"),
    990424: (503, "is not connected to Workers AI"),
}


@EVERY
@pytest.mark.parametrize("code", OWN)
def test_what_the_worker_finds_wrong_itself_waits_for_a_person(
    server: ScriptedServer, client: WorkerClient, call: Call, code: int
) -> None:
    status, said = OWN[code]
    server.script(error(code, status, **MARKED))
    exc = failure(client, call)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert exc.code == code
    assert exc.user_message.startswith(f"Your Worker ({server.address}) {said}")
    assert "BATCHUI_SECRET" in exc.user_message or code in (990404, 990424)


def test_a_reply_is_kept_as_it_came_unless_its_code_is_known(
    server: ScriptedServer, client: WorkerClient
) -> None:
    server.script(error(990401, 401, **MARKED), error(4711, 400, "Odd", **MARKED), reply(404, PAGE))
    kept = [failure(client, submit).raw for _ in range(3)]
    assert kept[0] == ""
    assert '"Odd"' in kept[1]
    assert kept[2] == PAGE.decode()


@BOTH
@pytest.mark.parametrize("code", [10000, 9109, 7003, 1000])
def test_an_account_that_is_refused_behind_the_worker_is_not_a_wrong_secret(
    server: ScriptedServer, client: WorkerClient, call: Call, code: int
) -> None:
    server.script(error(code, 403, "Not you", **MARKED))
    exc = failure(client, call)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert exc.user_message.startswith("Cloudflare does not let your Worker")
    assert "“Not you”" in exc.user_message


def test_of_several_errors_that_of_the_worker_counts(
    server: ScriptedServer, client: WorkerClient
) -> None:
    server.script(marked(401, {"errors": [{"code": 1, "message": "Huh"}, {"code": 990401}]}))
    assert failure(client, submit).code == 990401


def test_codes_of_workers_ai_mean_what_they_mean_elsewhere(
    server: ScriptedServer, client: WorkerClient
) -> None:
    for code, status, kind in (
        (5007, 400, Refused),
        (3006, 413, TooLarge),
        (3040, 429, Busy),
        (5001, 500, MaybeSent),
    ):
        server.script(error(code, status, **MARKED))
        assert type(failure(client, submit)) is kind


@BOTH
@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_without_a_reason_is_the_bindings(
    server: ScriptedServer, client: WorkerClient, call: Call, status: int
) -> None:
    server.script(marked(status, {"success": False, "errors": [], "messages": ["<html>"]}))
    exc = failure(client, call)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert f"was refused without a reason (HTTP {status})" in exc.user_message
    server.script(error(None, status, "Not today", **MARKED))
    assert failure(client, call).user_message.startswith("Cloudflare does not let your Worker")


def test_a_page_behind_the_binding_refuses_no_row_for_good(
    server: ScriptedServer, client: WorkerClient
) -> None:
    server.script(marked(404, {"success": False, "errors": [], "messages": ["<html>"]}))
    exc = failure(client, submit)
    assert isinstance(exc, Busy)
    assert "was refused without a reason (HTTP 404)" in exc.user_message
    server.script(error(None, 404, "Not today", **MARKED))
    assert type(failure(client, submit)) is Refused


# -- something else answers -----------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize(
    "act",
    [
        reply(200, PAGE),
        reply(200, {"result": [], "success": True, "errors": []}),
        reply(200, {"result": {"response": "Bread."}, "success": True}),
        reply(200, b"x" * 100_000),
        reply(404, PAGE),
        reply(403, PAGE),
        error(10000, 401, "Who are you?"),
        error(3040, 400),
    ],
)
def test_what_has_no_mark_is_not_from_the_worker(
    server: ScriptedServer, client: WorkerClient, call: Call, act: Act
) -> None:
    server.script(act)
    exc = failure(client, call)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert exc.code is None
    assert f"Something other than your Worker answered at {server.address}" in exc.user_message


def test_a_receipt_is_kept_wherever_it_comes_from(
    server: ScriptedServer, client: WorkerClient
) -> None:
    server.script(reply(200, queued()))
    assert client.submit(MODEL, BODY).request_id == REQUEST_ID


@EVERY
def test_another_address_is_not_followed_with_the_secret(
    server: ScriptedServer, client: WorkerClient, call: Call
) -> None:
    server.script(reply(302, b"", location="https://bakery.example/"))
    exc = failure(client, call)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert f"address of your Worker ({server.address}) redirects" in exc.user_message
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [408, 500, 503, 524])
def test_a_page_in_place_of_a_worker_that_died_is_unclear(
    server: ScriptedServer, client: WorkerClient, status: int
) -> None:
    server.script(reply(status, b"<h1>Worker exceeded resource limits</h1>"))
    assert type(failure(client, submit)) is MaybeSent
    assert type(failure(client, poll)) is BadReply


def test_limits_before_the_worker_are_limits(server: ScriptedServer, client: WorkerClient) -> None:
    server.script(reply(413, b"<h1>Too large</h1>"))
    assert type(failure(client, submit)) is TooLarge
    server.script(reply(429, b"<h1>error code: 1027</h1>", retry_after="7"))
    for call in (submit, poll):
        exc = failure(client, call)
        assert isinstance(exc, Busy)
        assert not exc.needs_person
        assert exc.wait == 7


# -- the connection breaks ------------------------------------------------------------------------


def test_a_broken_connection_names_the_worker(server: ScriptedServer, client: WorkerClient) -> None:
    server.script(cut(), cut(), truncated(b"{" * 100, keep=50), raw(b"Not HTTP\r\n\r\n"))
    named = f"your Worker ({server.address})"
    for call, kind in ((submit, MaybeSent), (poll, NotSent), (poll, BadReply), (run, MaybeSent)):
        exc = failure(client, call)
        assert type(exc) is kind
        assert named in exc.user_message


@EVERY
def test_a_worker_that_cannot_be_reached_is_named_with_its_address(call: Call) -> None:
    with WorkerClient(address="http://127.0.0.1:1", secret=SECRET, timeout=QUICK) as client:
        exc = failure(client, call)
    assert type(exc) is NotSent
    assert exc.user_message.startswith("Your Worker could not be reached at 127.0.0.1:1: nothing")


def test_a_worker_is_called_by_a_proxy_and_for_no_longer_than_is_said(
    server: ScriptedServer,
) -> None:
    server.script(after(0.4, marked(200, queued())))
    here, soon = f"http://{server.address}", httpx.Timeout(5, read=0.1)
    for limits in ({"timeout": soon}, {"seconds": 0.1}):
        with WorkerClient(address=here, secret=SECRET, **limits) as client:  # type: ignore[arg-type]
            assert type(failure(client, submit)) is MaybeSent
    server.script(reply(502, b""))
    with WorkerClient(address="https://me.example", secret=SECRET, proxy=here) as client:
        assert "ProxyError: 501" in str(failure(client, submit))


def test_a_transport_takes_the_place_of_the_network() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"nobody at {request.url.host}")

    transport = httpx.MockTransport(refuse)
    with WorkerClient(address="https://me.dev", secret=SECRET, transport=transport) as client:
        assert "nobody at me.dev" in str(failure(client, submit))


# -- address and secret ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("batchui.me.workers.dev", "does not begin with https:// or http://"),
        ("http://batchui.me.workers.dev", "does not begin with https://, so others could read"),
        ("http://127.0.0.1.me.dev", "does not begin with https://, so others could read"),
        ("https://me.dev/ai", "must end after the name of the server"),
        ("https://me:hunter7@me.dev", "must not contain a user name"),
        ("https://me.dev?x=1", "anything after ? or #"),
        ("", "does not begin with https:// or http://"),
    ],
)
def test_an_address_that_cannot_be_a_workers_is_refused_before_anything_is_sent(
    address: str, sentence: str
) -> None:
    with WorkerClient(address=address, secret=SECRET) as client:
        exc = failure(client, submit)
    assert type(exc) is NotSent
    assert exc.user_message.startswith("The address of your Worker cannot be used: ")
    assert sentence in exc.user_message
    assert "hunter7" not in f"{exc.user_message}{client!r}"


@pytest.mark.parametrize(
    ("address", "called"),
    [
        ("https://me.workers.dev", "https://me.workers.dev"),
        (" https://me.workers.dev/ \n", "https://me.workers.dev"),
        ("https://me.dev:8443", "https://me.dev:8443"),
        ("http://localhost:8787", "http://localhost:8787"),
        ("http://[::1]:8787/", "http://[::1]:8787"),
    ],
)
def test_an_address_that_can_be_a_workers_is_called(address: str, called: str) -> None:
    assert worker(address, SECRET).url("run") == f"{called}/ai/run"


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ("", "has no secret of your Worker"),
        (" \n", "has no secret of your Worker"),
        ("two words " * 5, "must have no blanks"),
        ("é" * 40, "must have no blanks, line breaks or letters like é"),
        ("x" * 31, "is shorter than 32 characters"),
    ],
)
def test_a_secret_that_cannot_be_one_waits_for_a_person(
    server: ScriptedServer, secret: str, sentence: str
) -> None:
    with WorkerClient(address=f"http://{server.address}", secret=secret) as client:
        exc = failure(client, submit)
    assert isinstance(exc, Busy)
    assert exc.needs_person
    assert sentence in exc.user_message
    assert "BATCHUI_SECRET" in exc.user_message
    assert server.received == []


def test_a_secret_of_thirty_two_characters_is_long_enough(server: ScriptedServer) -> None:
    server.script(marked(200, queued()))
    with WorkerClient(address=f"http://{server.address}", secret=f" {'x' * 32}\n") as client:
        assert submit(client).request_id == REQUEST_ID
    assert server.received[0].headers["authorization"] == f"Bearer {'x' * 32}"


@EVERY
@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_secret_that_is_sent_back_is_in_no_error(
    server: ScriptedServer, client: WorkerClient, call: Call, status: int
) -> None:
    server.script(error(8007, status, f"You sent {SECRET}", **MARKED))
    exc = failure(client, call)
    assert SECRET not in f"{exc.user_message}{exc}{exc!r}{client!r}"
