"""An upstream that misbehaves costs no answer: what passes is waited for, what does not is said."""

import time
from collections.abc import Callable
from itertools import pairwise

import httpx
import pytest

from batchui.sandbox.upstream import http_calls
from batchui.sandbox.upstream.pauses import Patience
from tests.cloudflare.server import Act, after, cut, dripping, raw, reply, truncated, until_close
from tests.project.helpers import until
from tests.sandbox.upstream.conftest import (
    MODEL,
    Work,
    code,
    content,
    prompts,
    still,
    upstream_of,
    working,
)
from tests.sandbox.upstream.model_server import ModelServer, completion, model_server, told

# -- away: nothing fails --------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_upstream_is_asked_again(caller: Work, server: ModelServer, status: int) -> None:
    server.first("row", *[told(status)] * 5)
    entries = caller.entries(*prompts(4))
    assert [content(entry) for entry in entries] == [f"About row {n}" for n in range(4)]


def test_it_is_tried_with_one_item_at_a_time(caller: Work, server: ModelServer) -> None:
    server.every = told(503)
    request_id = caller.submit(MODEL, *prompts(20))
    until(lambda: len(server.asked) > 4)
    server.at_once = 0
    until(lambda: len(server.asked) > 8)
    assert server.at_once == 1
    server.every = None
    assert all(entry["success"] for entry in caller.reply(MODEL, request_id))


def test_the_pauses_grow(server: ModelServer) -> None:
    server.every = told(503)
    with working(upstream_of(server), patience=Patience(first=0.05, longest=0.3)) as caller:
        caller.submit(MODEL, {"prompt": "row"})
        until(lambda: len(server.asked) == 6)
    waits = [later - sooner for sooner, later in pairwise(server.moments)]
    for wait, least in zip(waits, (0.05, 0.1, 0.2, 0.3, 0.3), strict=True):
        assert wait >= least


def test_it_waits_as_long_as_it_is_asked_to(server: ModelServer) -> None:
    server.first("row", told(429, retry_after="1"))
    with working(upstream_of(server)) as caller:
        began = time.monotonic()
        request_id = caller.submit(MODEL, *prompts(3))

        def refused() -> httpx.Response | None:
            reply = caller.post(MODEL, {"prompt": "now"}, queue=False)
            return reply if reply.status_code != 200 else None

        reply = until(refused)
        assert code(reply) == (429, 990003)
        assert reply.headers["Retry-After"] == "1"
        assert all(entry["success"] for entry in caller.reply(MODEL, request_id))
        assert time.monotonic() - began >= 1


def test_a_request_waits_for_an_upstream_that_is_not_there() -> None:
    with model_server() as gone:
        upstream, port = upstream_of(gone), gone.server_address[1]
    with working(upstream) as caller:
        request_id = caller.submit(MODEL, *prompts(3))
        still(lambda: caller.status(MODEL, request_id) in {"queued", "running"})
        run = caller.post(MODEL, {"prompt": "now"}, queue=False)
        assert code(run) == (429, 990003)
        assert "Connection refused" in run.text
        with model_server(port):
            assert len(caller.reply(MODEL, request_id)) == 3


def test_after_long_enough_what_is_left_has_failed_and_says_why(server: ModelServer) -> None:
    patience = Patience(first=0.02, longest=0.05, give_up=0.5)
    with working(upstream_of(server, concurrency=1), patience=patience) as caller:
        caller.entry({"prompt": "first"})
        server.first("row 0", reply(200, completion("About row 0")))
        server.every = told(503, "Loading model")
        entries = caller.entries(*prompts(4))
        assert [entry["success"] for entry in entries] == [True, False, False, False]
        why = entries[3]["error"]
        assert why.endswith("answered HTTP 503: Loading model. It was tried for 0.5 seconds")
        assert entries[3]["index"] == 3
        server.every = None
        assert caller.entry({"prompt": "later"})["success"]


def test_a_newer_request_has_its_own_time(server: ModelServer) -> None:
    server.every = told(503)
    patience = Patience(first=0.02, longest=0.05, give_up=1.5)
    with working(upstream_of(server), patience=patience) as caller:
        old = caller.submit(MODEL, {"prompt": "old"})
        time.sleep(1)
        new = caller.submit(MODEL, {"prompt": "new"})
        assert not caller.reply(MODEL, old)[0]["success"]
        server.every = None
        assert caller.reply(MODEL, new)[0]["success"]


# -- refusing: a person is told -------------------------------------------------------------------


@pytest.mark.parametrize("act", [told(401), told(403), told(402), reply(307, b"", location="/x")])
def test_an_upstream_that_lets_nobody_in_is_told_with_each_poll(
    caller: Work, server: ModelServer, act: Act
) -> None:
    server.every = act
    request_id = caller.submit(MODEL, *prompts(3))
    until(lambda: caller.poll(MODEL, request_id).status_code != 200)
    reply = caller.poll(MODEL, request_id)
    assert code(reply) == (403, 990002)
    assert f"{server.url.removeprefix('http://')} answered HTTP" in reply.text
    assert code(caller.post(MODEL, {"prompt": "now"}, queue=False)) == (403, 990002)
    server.every = None
    until(lambda: caller.poll(MODEL, request_id).status_code == 200)
    assert all(entry["success"] for entry in caller.reply(MODEL, request_id))


def test_a_redirect_is_not_followed(caller: Work, server: ModelServer) -> None:
    with model_server() as other:
        server.every = reply(307, b"", location=f"{other.url}/v1/chat/completions")
        caller.submit(MODEL, {"prompt": "row"})
        until(lambda: len(server.asked) > 1)
        assert other.asked == []


def test_a_page_without_an_api_is_told_as_such(caller: Work, server: ModelServer) -> None:
    server.every = reply(404, b"<h1>Not Found</h1>")
    request_id = caller.submit(MODEL, {"prompt": "row"})
    until(lambda: caller.poll(MODEL, request_id).status_code != 200)
    assert "there is no API like OpenAI's at" in caller.poll(MODEL, request_id).text


# -- one item -------------------------------------------------------------------------------------

BROKEN: dict[str, Callable[[], Act]] = {
    "cut": cut,
    "reset": lambda: cut(reset=True),
    "garbage": lambda: reply(200, b"<html>"),
    "no choices": lambda: reply(200, {"choices": []}),
    "other json": lambda: reply(200, [1]),
    "an error": lambda: reply(200, {"error": {"message": "out of memory"}}),
    "truncated": lambda: truncated(b'{"choices": []}', keep=5),
    "half": lambda: until_close(b'{"choices": ['),
    "no http": lambda: raw(b"SSH-2.0-OpenSSH\r\n"),
    "500": lambda: told(500, "CUDA error"),
    "504": lambda: reply(504, b"<h1>Gateway Timeout</h1>"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_cannot_be_used_is_asked_for_again(
    caller: Work, server: ModelServer, name: str
) -> None:
    server.first("row 1", BROKEN[name](), BROKEN[name]())
    entries = caller.entries(*prompts(3))
    assert [content(entry) for entry in entries] == [f"About row {n}" for n in range(3)]
    assert server.asked.count("row 1") == 3


@pytest.mark.parametrize("name", BROKEN)
def test_three_such_answers_and_the_item_fails_alone(
    caller: Work, server: ModelServer, name: str
) -> None:
    server.first("row 1", *[BROKEN[name]() for _ in range(9)])
    entries = caller.entries(*prompts(3))
    assert [entry["success"] for entry in entries] == [True, False, True]
    assert entries[1]["error"].endswith(" (3 times)")
    assert server.asked.count("row 1") == 3


@pytest.mark.parametrize("status", [400, 413, 422, 501])
def test_an_item_that_is_refused_fails_at_once_with_the_words_of_the_upstream(
    caller: Work, server: ModelServer, status: int
) -> None:
    server.first("row 1", told(status, "This is\ntoo long"))
    entries = caller.entries(*prompts(3))
    assert [entry["success"] for entry in entries] == [True, False, True]
    host = server.url.removeprefix("http://")
    assert entries[1]["error"] == f"{host} answered HTTP {status}: This is too long"
    assert server.asked.count("row 1") == 1


def test_a_slow_answer_is_given_up_after_its_time(server: ModelServer) -> None:
    server.first("row 1", *[after(30, reply(200, completion("late")))] * 3)
    server.first("row 2", *[dripping(b'{"choices": []}' * 9, every=0.1)] * 3)
    with working(upstream_of(server, seconds=0.5, concurrency=4)) as caller:
        entries = caller.entries(*prompts(4))
        assert [entry["success"] for entry in entries] == [True, False, False, True]
        for entry in entries[1:3]:
            assert entry["error"].endswith("gave no answer within 0.5 s (3 times)")


def test_a_model_that_is_not_there_is_asked_for_once(server: ModelServer) -> None:
    with working(upstream_of(server, concurrency=1)) as caller:
        server.first("row 1", told(404, "model 'small' not found"))
        entries = caller.entries(*prompts(50))
        assert [entry["success"] for entry in entries] == [True] + [False] * 49
        assert entries[49]["error"].endswith("model 'small' not found")
        assert len(server.asked) == 2
        server.first("now", told(404, "model 'small' not found"))
        assert code(caller.post(MODEL, {"prompt": "now"}, queue=False)) == (400, 5007)


def test_an_item_over_which_the_upstream_breaks_down_stops_no_other(
    caller: Work, server: ModelServer
) -> None:
    server.first("row 3", *[told(503, "Loading model")] * 99)
    request_id = caller.submit(MODEL, *prompts(20))
    until(lambda: len(server.answered) == 19)
    # Others are answered meanwhile, so it is to blame, and not the upstream.
    for n in range(3):
        caller.entry({"prompt": f"other {n}"})
    entries = caller.reply(MODEL, request_id)
    assert [entry["index"] for entry in entries if not entry["success"]] == [3]
    assert server.asked.count("row 3") < 99


def test_a_reply_that_is_too_large_is_not_read(
    caller: Work, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_calls, "MAX_REPLY", 100_000)
    server.first("row 0", *[reply(200, completion("x" * 200_000))] * 3)
    entries = caller.entries(*prompts(2))
    assert "its reply is larger than 100,000 bytes" in entries[0]["error"]
    assert entries[1]["success"]


def test_proxies_of_the_environment_are_not_used(
    caller: Work, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert caller.entry({"prompt": "row"})["success"]
