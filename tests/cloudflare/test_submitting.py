"""A submission ends in a receipt, or in an error that says whether it may be sent again."""

import json
from typing import Any

import pytest

from batchui.cloudflare.accounts import account, check_model
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import Busy, MaybeSent, NotSent, Refused
from batchui.cloudflare.protocol import Receipt
from tests.cloudflare.conftest import ACCOUNT, MODEL, REQUEST_ID, RUN_PATH, TOKEN, queued
from tests.cloudflare.server import ScriptedServer, error, reply

BODY = json.dumps({"requests": [{"prompt": "Naïve?"}]}, ensure_ascii=False).encode()


def test_what_is_sent_is_what_the_documents_say(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, queued()))
    client.submit(MODEL, BODY)
    [request] = server.received
    assert (request.method, request.path) == ("POST", RUN_PATH + "?queueRequest=true")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "gzip"
    assert request.headers["accept"] == "application/json"
    assert request.headers["user-agent"] == "batchui"
    assert request.body == BODY


@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_2xx_with_a_request_id_is_a_receipt(
    server: ScriptedServer, client: RestClient, status: int
) -> None:
    server.script(reply(status, queued()))
    assert client.submit(MODEL, BODY) == Receipt(request_id=REQUEST_ID, status="queued")


@pytest.mark.parametrize(
    "acknowledgement",
    [
        {"result": {"status": "queued", "request_id": REQUEST_ID}, "success": True},
        {"result": {"request_id": REQUEST_ID}},
        {"status": "queued", "request_id": REQUEST_ID, "model": MODEL},
        queued() | {"success": False},
        queued() | {"success": False, "errors": [{"code": 3040, "message": "No room"}]},
    ],
    ids=["no model", "no status", "no envelope", "success false", "errors beside the id"],
)
def test_a_request_id_is_kept_whatever_else_the_acknowledgement_says(
    server: ScriptedServer, client: RestClient, acknowledgement: Any
) -> None:
    server.script(reply(200, acknowledgement))
    assert client.submit(MODEL, BODY) == Receipt(request_id=REQUEST_ID, status="queued")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>Welcome</html>",
        b'{"result": {"status": "queued", "request_id": "6f1d',
        b"[]",
        b"null",
        {"result": None, "success": True, "errors": []},
        {"result": {"status": "queued"}, "success": True},
        queued(request_id=None),
        queued(request_id=17),
        queued(request_id=""),
        queued(request_id=" "),
        queued(request_id={"id": REQUEST_ID}),
        {"result": {"response": "The answer at once"}, "success": True},
        {"result": None, "success": False, "errors": [{"code": 99, "message": "What?"}]},
    ],
)
def test_a_2xx_without_a_request_id_may_have_been_sent(
    server: ScriptedServer, client: RestClient, answer: Any
) -> None:
    server.script(reply(200, answer))
    with pytest.raises(MaybeSent, match=r"HTTP 200") as caught:
        client.submit(MODEL, BODY)
    assert "It may have them already." in caught.value.user_message


def test_a_2xx_whose_error_code_is_known_means_what_the_code_says(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(3040, 200))
    with pytest.raises(Busy):
        client.submit(MODEL, BODY)


@pytest.mark.parametrize("status", [500, 502, 408])
def test_a_request_id_in_an_error_is_no_receipt(
    server: ScriptedServer, client: RestClient, status: int
) -> None:
    server.script(reply(status, queued()))
    with pytest.raises(MaybeSent, match=f"HTTP {status}"):
        client.submit(MODEL, BODY)


def test_a_submission_is_made_once_and_never_again_by_itself(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(5001, 500))
    with pytest.raises(MaybeSent):
        client.submit(MODEL, BODY)
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308, 399])
def test_a_redirect_is_never_followed_and_waits_for_an_administrator(
    server: ScriptedServer, client: RestClient, status: int
) -> None:
    server.script(reply(status, b"", location=f"{server.base_url}/elsewhere"))
    with pytest.raises(Busy, match=f"HTTP {status}") as caught:
        client.submit(MODEL, BODY)
    assert caught.value.needs_person
    assert "another address" in caught.value.user_message
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 407])
def test_a_4xx_page_that_is_not_the_api_waits_for_an_administrator(
    server: ScriptedServer, client: RestClient, status: int
) -> None:
    server.script(reply(status, b"<html>nginx</html>"))
    with pytest.raises(Busy) as caught:
        client.submit(MODEL, BODY)
    assert caught.value.needs_person
    assert "other than Cloudflare's API" in caught.value.user_message


def test_a_name_that_cannot_be_a_model_is_refused_before_anything_is_sent(
    server: ScriptedServer, client: RestClient
) -> None:
    for name in ("", "@cf/../../user", "@cf/meta/llama?x=1", "@cf//llama", "Modell Ä", "a" * 201):
        with pytest.raises(Refused, match="not the name of a model"):
            client.submit(name, BODY)
    assert server.received == []


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "api.cloudflare.com",
        "ftp://api.cloudflare.com",
        "file:///etc/passwd",
        "https://",
        "https://user:word@api.cloudflare.com",
        "https://api.cloudflare.com/client/v4?x=1",
        "https://api.cloudflare.com/client/v4#x",
        "http://127.0.0.1:65536",
        "http://127.0.0.1:0",
        "http://a..b",
        "http://127.0.0.1:port",
        "http://" + "a" * 64 + ".com",
        "http://exa mple.com\x00",
    ],
)
def test_an_address_that_cannot_be_called_is_told_as_not_sent(base_url: str) -> None:
    with (
        RestClient(account_id=ACCOUNT, token=TOKEN, base_url=base_url) as client,
        pytest.raises(NotSent, match="The address set for Cloudflare's API"),
    ):
        client.submit(MODEL, BODY)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:65535",
        "http://127.0.0.1:1",
        "https://" + "a" * 63 + ".com/client/v4",
        "https://api.cloudflare.com./client/v4",
    ],
)
def test_an_address_at_the_edge_of_what_can_be_called_is_called(base_url: str) -> None:
    endpoint = account(base_url=base_url, account_id=ACCOUNT, token=TOKEN)
    assert endpoint.url("run") == f"{base_url}/accounts/{ACCOUNT}/ai/run"


def test_the_name_of_a_model_may_have_two_hundred_characters() -> None:
    assert check_model("a" * 200) == "a" * 200


@pytest.mark.parametrize("ending", ["", "/", "//", "/ "])
def test_an_address_is_taken_without_the_slashes_at_its_end(ending: str) -> None:
    given = f" https://api.example.com/client/X{ending}"
    endpoint = account(base_url=given, account_id=ACCOUNT, token=TOKEN)
    assert endpoint.base_url == "https://api.example.com/client/X"


@pytest.mark.parametrize(
    ("account_id", "token", "sentence"),
    [
        (ACCOUNT, "", "has no API token"),
        (ACCOUNT, "two words", "API token contains blanks"),
        (ACCOUNT, "line\r\nX-Evil: 1", "API token contains blanks"),
        (ACCOUNT, "tökén", "characters that a token never has"),
        ("", TOKEN, "has no account id"),
        ("../../user", TOKEN, "account id contains characters"),
    ],
)
def test_a_token_or_account_id_that_cannot_be_one_waits_for_an_administrator(
    server: ScriptedServer, account_id: str, token: str, sentence: str
) -> None:
    with (
        RestClient(account_id=account_id, token=token, base_url=server.base_url) as client,
        pytest.raises(Busy, match=sentence) as caught,
    ):
        client.submit(MODEL, BODY)
    assert caught.value.needs_person
    assert server.received == []


def test_blanks_around_what_was_pasted_do_no_harm(server: ScriptedServer) -> None:
    server.script(reply(200, queued()))
    with RestClient(
        account_id=f" {ACCOUNT}\n", token=f"{TOKEN}\n", base_url=f" {server.base_url}/ "
    ) as client:
        client.submit(MODEL, BODY)
    assert server.received[0].path.startswith(RUN_PATH)
    assert server.received[0].headers["authorization"] == f"Bearer {TOKEN}"
