"""The body of a reply: its envelope, its layout, its letters, and what is none."""

import io
import json
from typing import Any

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import decode
from tests.cloudflare.conftest import MODEL, REQUEST_ID, finished, queued
from tests.cloudflare.server import ScriptedServer, reply
from tests.cloudflare.shapes import VECTORS, chat


def test_a_reply_through_a_workers_binding_has_no_envelope() -> None:
    inner = finished({"id": 0, "result": {"response": "Yes"}, "success": True})["result"]
    [item] = decode(json.dumps(inner).encode()).items
    assert item.answer == b'"Yes"'


def test_of_two_containers_the_one_with_items_counts(polled: Any) -> None:
    item = {"index": 0, "result": chat("Yes"), "success": True}
    assert len(polled(results=[item]).items) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_answer_is_one_line_whatever_the_layout_of_the_reply(end: str) -> None:
    item = {"id": 0, "result": {"response": {"a": [1, {"b": "x\ny"}]}}, "success": True}
    body = json.dumps(finished(item), indent=2).replace("\n", end).encode()
    [read] = decode(body).items
    assert read.answer == b'{"a":[1,{"b":"x\\ny"}]}'


def test_a_vector_is_found_in_its_list_whatever_the_layout_of_the_reply() -> None:
    item = {"id": 0, "result": {"response": VECTORS[:1], "shape": [1, 3]}, "success": True}
    [read] = decode(json.dumps(finished(item), indent=2).encode()).items
    assert json.loads(read.answer or b"") == VECTORS[0]


def test_half_an_emoji_costs_its_character_and_not_the_reply(
    server: ScriptedServer, client: RestClient
) -> None:
    body = (
        rb'{"result":{"responses":[{"id":0,"result":{"response":"cut \ud83d"},"success":true},'
        rb'{"id":1,"result":{"response":"\udc4b \\ud83d \ud83d\udc4b"},"success":true}]}}'
    )
    server.script(reply(200, body))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    answers = [json.loads(item.answer or b"") for item in decode(spool.read()).items]
    assert answers == ["cut \ufffd", "\ufffd \\ud83d 👋"]


def test_bytes_that_are_not_utf8_cost_their_character_and_not_the_reply() -> None:
    body = b'{"result":{"responses":[{"id":0,"result":{"response":"a\xffb"},"success":true}]}}'
    [item] = decode(body).items
    assert json.loads(item.answer or b"") == "a\ufffdb"


def test_numbers_no_computer_holds_are_kept_as_they_are() -> None:
    body = b'{"result":{"responses":[{"id":0,"result":{"response":{"n":1e999}},"success":true}]}}'
    [item] = decode(body).items
    assert (item.status, item.answer) == ("answered", b'{"n":1e999}')


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "truncated"),
        (b"<html>", "malformed"),
        (b'{"result": {"responses": [', "truncated"),
        (b'{"result": {"responses": []}} {}', "trailing"),
        (b'{"result":{"x":' + b"[" * 100_000, "recursion"),
        (b"[]", "Expected `object`"),
        (json.dumps(queued()).encode(), "status 'queued'"),
        (json.dumps(finished(status="running")).encode(), "status 'running'"),
        (b'{"success":false,"errors":[{"message":"Oh"}],"result":null}', "reason 'Oh'"),
    ],
)
def test_what_is_not_a_finished_reply_says_why(body: bytes, why: str) -> None:
    with pytest.raises(BadReply, match=why) as caught:
        decode(body)
    assert caught.value.__context__ is None


def test_a_reply_that_names_another_request_is_not_taken() -> None:
    body = json.dumps(finished(request_id="another")).encode()
    assert decode(body).items == []
    with pytest.raises(BadReply, match=f"^asked for {REQUEST_ID}, was told about another$"):
        decode(body, request_id=REQUEST_ID)
