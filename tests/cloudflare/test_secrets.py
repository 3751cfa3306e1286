"""The API token goes to the server and nowhere else."""

import io
import json
import logging
import pickle
import pprint
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batchui.cloudflare.bodies import SMALL
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import CloudflareError, NotSent
from batchui.cloudflare.redaction import clean, error_text, quote
from tests.cloudflare.conftest import ACCOUNT, MODEL, QUICK, REQUEST_ID, TOKEN, finished, queued
from tests.cloudflare.server import (
    Act,
    ScriptedServer,
    cut,
    error,
    raw,
    reply,
    scripted_server,
    truncated,
)

TESTS = Path(__file__).parents[1]
ECHOES: dict[str, Act] = {
    "an error that quotes it": error(8007, 400, f"Bad header Authorization: Bearer {TOKEN}!"),
    "an error that spells it with escapes": reply(
        400,
        b'{"errors": [{"code": 8007, "message": "Not %b"}]}'
        % TOKEN.replace("_", "\\u005f").encode(),
    ),
    "an error that names it alone": error(10000, 401, f"No account for {TOKEN}"),
    "a page of it": reply(500, f"<pre>{TOKEN}</pre>".encode()),
    "a 2xx page of it": reply(200, f"<pre>{TOKEN}</pre>".encode()),
    "a redirect to it": reply(302, b"", location=f"/?token={TOKEN}"),
    "a failed status": reply(200, queued(status="failed", error=f"Bearer {TOKEN} or {TOKEN}")),
    "another request": reply(200, queued(request_id=TOKEN + "x")),
    "not HTTP": raw(f"{TOKEN} is what you sent\r\n\r\n".encode()),
    "a broken status line": raw(f"HTTP/1.1 {TOKEN}\r\n\r\n".encode()),
    "a broken connection": cut(reset=True),
    "half an answer": truncated(TOKEN.encode() * 3, keep=50),
}


def calls(client: RestClient) -> Iterator[Any]:
    yield lambda: client.submit(MODEL, b"{}")
    yield lambda: client.run(MODEL, b"{}")
    yield lambda: client.poll(MODEL, REQUEST_ID, io.BytesIO())
    yield client.test_connection
    yield lambda: list(client.models())
    yield lambda: client.schema(MODEL)


def everything_told_by(exc: BaseException) -> str:
    """All that a log or an error page could show of an exception: its whole chain, and the local
    variables of our functions on the way."""
    chain: list[BaseException] = [exc]
    for link in chain:
        chain += [next_ for next_ in (link.__cause__, link.__context__) if next_ is not None]
    frames = traceback.StackSummary.extract(
        traceback.walk_tb(exc.__traceback__), capture_locals=True
    )
    ours = [frame.locals for frame in frames if not Path(frame.filename).is_relative_to(TESTS)]
    assert ours
    copied = pickle.loads(pickle.dumps(exc))  # noqa: S301
    told = [f"{link!r} {link!s} {pprint.pformat(vars(link))}" for link in [*chain, copied]]
    return "\n".join([*traceback.format_exception(exc), *told, repr(ours)])


def error_of(call: Callable[[], object]) -> CloudflareError | None:
    try:
        call()
    except CloudflareError as exc:
        return exc
    return None


@pytest.mark.parametrize("act", ECHOES.values(), ids=ECHOES)
def test_no_error_tells_the_token(server: ScriptedServer, client: RestClient, act: Act) -> None:
    server.script(act)
    errors = list(filter(None, map(error_of, calls(client))))
    assert len(errors) >= 3
    for exc in errors:
        assert exc.__cause__ is None
        assert exc.__context__ is None
        assert TOKEN not in exc.user_message
        assert TOKEN not in everything_told_by(exc)


@pytest.mark.parametrize("rows", [1, 3_000], ids=["short", "long"])
@pytest.mark.parametrize(
    "written", [TOKEN, TOKEN.replace("T", "\\u0054")], ids=["plain", "escaped"]
)
def test_no_reply_that_is_kept_tells_the_token(
    server: ScriptedServer, client: RestClient, rows: int, written: str
) -> None:
    items = [{"id": row, "success": True, "result": {"response": "SECRET"}} for row in range(rows)]
    body = json.dumps(finished(*items)).replace("SECRET", f"You sent Bearer {written}.")
    server.script(reply(200, body.encode()))
    spool = io.BytesIO()
    client.poll(MODEL, REQUEST_ID, spool)
    assert (len(body) > SMALL) == (rows > 1)
    assert TOKEN not in json.dumps(json.loads(spool.getvalue()))
    assert spool.getvalue().count(b"You sent Bearer [token].") == rows


def test_a_reply_that_is_kept_says_where_the_token_was(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, finished({"id": 0, "success": True, "result": f"You sent {TOKEN}."})))
    spool = io.BytesIO()
    client.poll(MODEL, REQUEST_ID, spool)
    assert b'"You sent [token]."' in spool.getvalue()


def test_no_error_tells_the_token_when_nobody_answers() -> None:
    with scripted_server() as server:
        base_url = server.base_url
    with RestClient(account_id=ACCOUNT, token=TOKEN, base_url=base_url, timeout=QUICK) as client:
        for call in calls(client):
            with pytest.raises(CloudflareError) as caught:
                call()
            assert TOKEN not in everything_told_by(caught.value)


@pytest.mark.parametrize("token", [TOKEN + "\r\nX: y", TOKEN + "é", TOKEN + " " + TOKEN])
def test_no_error_tells_a_token_that_cannot_be_one(server: ScriptedServer, token: str) -> None:
    with RestClient(account_id=ACCOUNT, token=token, base_url=server.base_url) as client:
        for call in calls(client):
            with pytest.raises(CloudflareError) as caught:
                call()
            assert TOKEN not in everything_told_by(caught.value)


def test_no_log_tells_the_token(
    server: ScriptedServer, client: RestClient, caplog: pytest.LogCaptureFixture
) -> None:
    # httpcore logs the heads of answers as they come; no server puts a token there.
    in_heads = {"a redirect to it", "a broken status line", "not HTTP"}
    acts = [act for name, act in ECHOES.items() if name not in in_heads]
    server.script(*acts, *acts, reply(200, queued()))
    # The settings keep httpcore quiet. Here it tells all it can.
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="httpcore"):
        for call in [*calls(client), *calls(client), *calls(client), *calls(client)]:
            if exc := error_of(call):
                logging.getLogger("test").warning("%s", exc, exc_info=exc)
    assert "send_request_headers" in caplog.text
    assert "WARNING" in caplog.text
    assert TOKEN not in caplog.text


def test_the_client_does_not_show_the_token(client: RestClient) -> None:
    shown = f"{client!r} {client!s} {pprint.pformat(vars(client))}"
    for value in vars(client).values():
        shown += pprint.pformat(getattr(value, "__dict__", {}))
    assert TOKEN not in shown
    assert ACCOUNT in repr(client)


def test_proxies_of_the_environment_never_see_a_call(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(reply(200, queued()))
    with scripted_server() as spy:
        spy.script(reply(200, queued()))
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{spy.address}")
        with RestClient(account_id=ACCOUNT, token=TOKEN, base_url=server.base_url) as client:
            client.submit(MODEL, b"{}")
        assert spy.received == []
    assert len(server.received) == 1


def test_a_proxy_that_is_given_is_not_used_for_plain_http(server: ScriptedServer) -> None:
    server.script(reply(200, queued()))
    with scripted_server() as proxy:
        with RestClient(
            account_id=ACCOUNT,
            token=TOKEN,
            base_url=server.base_url,
            proxy=f"http://{proxy.address}",
        ) as client:
            client.submit(MODEL, b"{}")
        assert proxy.connections == 0


def test_a_proxy_that_is_given_is_asked_for_a_tunnel_to_a_server_of_https() -> None:
    with scripted_server() as proxy:
        with (
            RestClient(
                account_id=ACCOUNT,
                token=TOKEN,
                base_url="https://api.invalid/client/v4",
                proxy=f"http://{proxy.address}",
            ) as client,
            pytest.raises(NotSent, match="ProxyError: 501"),
        ):
            client.submit(MODEL, b"{}")
        assert proxy.connections == 1


def test_a_long_text_is_cut_and_one_that_just_fits_is_not() -> None:
    assert clean("x" * 240) == "x" * 240
    assert clean("x" * 241) == "x" * 239 + "…"
    assert clean("four words are here", longest=10) == "four word…"
    assert clean("four words", longest=6) == "four…"


def test_a_reason_is_quoted_without_the_full_stop_at_its_end() -> None:
    assert quote("Choose model X.") == " Cloudflare says: “Choose model X”."
    assert quote("Choose model X") == " Cloudflare says: “Choose model X”."
    assert quote("") == ""


@pytest.mark.parametrize("name", ["message", "error", "detail", "reason", "description", "errors"])
def test_the_words_of_an_error_are_found_by_any_usual_name(name: str) -> None:
    assert error_text({"id": 7, name: "Because"}) == "Because"


@pytest.mark.parametrize(
    "text",
    [f"Authorization: Bearer {TOKEN}", f"bearer  {TOKEN}, please", "cfut_0123456789abcdefABCDEF"],
)
def test_what_looks_like_a_token_is_never_quoted(text: str) -> None:
    assert "0123456789abcdef" not in clean(text)
    # The words before a token, if any, stay; no other sign of it is left.
    assert re.fullmatch(r"(Authorization: )?([Bb]earer +)?\[token\](, please)?", clean(text))
