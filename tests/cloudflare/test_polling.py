"""A poll tells how far a request is, or brings its reply; what cannot be used is polled again."""

import io
import tempfile
from typing import Any

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, Refused
from batchui.cloudflare.replies import decode
from tests.cloudflare.conftest import MODEL, REQUEST_ID, RUN_PATH, finished, queued
from tests.cloudflare.server import ScriptedServer, reply

ITEM = {"id": 0, "result": {"response": "Yes"}, "success": True, "external_reference": None}


def test_what_is_asked_is_what_the_documents_say(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, queued()))
    client.poll(MODEL, REQUEST_ID, io.BytesIO())
    [request] = server.received
    assert (request.method, request.path) == ("POST", RUN_PATH + "?queueRequest=true")
    assert request.json == {"request_id": REQUEST_ID}


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (queued(), "queued"),
        (queued(status="running"), "running"),
        (queued(status="Running"), "running"),
        ({"status": "queued", "request_id": REQUEST_ID}, "queued"),
        (finished(status="running", request_id=REQUEST_ID), "running"),
        (finished(ITEM, status="running"), "running"),
    ],
    ids=["queued", "running", "capital", "no envelope", "running, empty array", "running, part"],
)
@pytest.mark.parametrize("http_status", [200, 202])
def test_a_request_under_way_says_so(
    server: ScriptedServer, client: RestClient, answer: Any, status: str, http_status: int
) -> None:
    server.script(reply(http_status, answer))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == status


@pytest.mark.parametrize("container", ["responses", "results"])
@pytest.mark.parametrize("more", [{}, {"status": "completed"}, {"status": "failed"}])
def test_a_reply_with_its_array_is_finished_and_left_in_the_rewound_spool(
    server: ScriptedServer, client: RestClient, container: str, more: Any
) -> None:
    server.script(reply(200, finished(ITEM, container=container, **more)))
    with tempfile.TemporaryFile() as spool:
        spool.write(b"something of an earlier poll" * 1000)
        assert client.poll(MODEL, REQUEST_ID, spool) is None
        assert spool.tell() == 0
        [item] = decode(spool.read(), request_id=REQUEST_ID).items
    assert item.answer == b'"Yes"'


def test_an_array_without_items_is_a_finished_reply_too(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, finished()))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert decode(spool.getvalue()).items == []


@pytest.mark.parametrize("status", ["failed", "error", "FAILED"])
@pytest.mark.parametrize(
    "reason",
    [
        {"error": "The model fell over"},
        {"error": {"code": 5000, "message": "The model fell over"}},
        {"errors": [{"message": "The model fell over"}]},
        {"message": "The model fell over"},
    ],
)
def test_a_request_that_failed_as_a_whole_is_refused_with_its_reason(
    server: ScriptedServer, client: RestClient, status: str, reason: Any
) -> None:
    server.script(reply(200, queued(status=status, **reason)))
    with pytest.raises(Refused, match=r"'\w+': The model fell over \(HTTP 200\)$") as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert "“The model fell over”" in caught.value.user_message


def test_the_reason_of_a_failure_may_stand_in_the_envelope(
    server: ScriptedServer, client: RestClient
) -> None:
    envelope = queued(status="failed") | {"errors": [{"message": "The model fell over"}]}
    server.script(reply(200, envelope))
    with pytest.raises(Refused, match="The model fell over"):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())


def test_a_failure_without_a_reason_is_told_all_the_same(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, finished(status="failed")))
    with pytest.raises(Refused, match=r"status is 'failed': no reason \(HTTP 200\)$"):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\x01\x02",
        b"<html>Maintenance</html>",
        b'{"result": {"responses": [{"id": 0, "resu',
        b'"queued"',
        {},
        {"result": {}, "success": True},
        {"result": {"status": "pending", "request_id": REQUEST_ID}, "success": True},
        {"result": {"status": 7}, "success": True},
        {"result": {"responses": {"0": ITEM}}, "success": True},
        {"result": {"responses": None}, "success": True},
        {"result": None, "success": False, "errors": [{"code": 99, "message": "What?"}]},
    ],
)
def test_a_2xx_that_tells_nothing_is_asked_again(
    server: ScriptedServer, client: RestClient, answer: Any
) -> None:
    server.script(reply(200, answer))
    with pytest.raises(BadReply) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert "batchui" not in caught.value.user_message  # who polls says what comes next


@pytest.mark.parametrize(
    "answer", [queued(request_id="another"), finished(ITEM, request_id="another")]
)
def test_an_answer_about_another_request_is_not_taken(
    server: ScriptedServer, client: RestClient, answer: Any
) -> None:
    server.script(reply(200, answer))
    with pytest.raises(BadReply, match=f"asked for {REQUEST_ID}, was told about another"):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
