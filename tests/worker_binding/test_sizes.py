"""Requests over 10 MB stop at the Worker, whatever they say of their length."""

import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from batchui.cloudflare.errors import TooLarge
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.testing import RunningSandbox
from tests.worker_binding.conftest import LLAMA, RUN, SECRET
from tests.worker_binding.workerd import Workerd

pytestmark = pytest.mark.processes

LIMIT = 10_000_000


def request_of(size: int) -> bytes:
    """A batch of one item that is so many bytes long."""
    frame = b'{"requests": [{"prompt": "%b"}]}'
    return frame % (b"x" * (size - len(frame % b"")))


def in_pieces(body: bytes) -> Iterator[bytes]:
    """A body that does not say how long it is."""
    for start in range(0, len(body), 500_000):
        yield body[start : start + 500_000]


def test_ten_megabytes_pass_and_a_byte_more_is_to_be_cut_smaller(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    assert client.submit(LLAMA, request_of(LIMIT)).request_id
    with pytest.raises(TooLarge) as caught:
        client.submit(LLAMA, request_of(LIMIT + 1))
    assert (caught.value.code, caught.value.http_status) == (3006, 413)
    assert [call.bytes for call in sandbox.calls()] == [LIMIT - 2]  # written without blanks


def test_a_body_without_a_length_is_counted_while_it_is_read(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    path = f"{RUN}?queueRequest=true"
    passed = http.post(path, content=in_pieces(request_of(LIMIT)))
    assert passed.json()["result"]["status"] == "queued"
    refused = http.post(path, content=in_pieces(request_of(LIMIT + 1)))
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (413, 3006)
    assert len(sandbox.calls()) == 1


def test_what_announces_too_much_is_refused_before_it_is_sent(
    workerd: Workerd, sandbox: RunningSandbox
) -> None:
    host, _, port = workerd.address().removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            f"POST {RUN} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {SECRET}\r\n"
            f"Content-Length: {LIMIT + 1}\r\n\r\n".encode()
        )
        assert b" 413 " in connection.makefile("rb").readline()
    assert sandbox.calls() == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'"text"', b"7", b'{"prompt": "\xff"}', b"{}{}"]
)
@pytest.mark.parametrize("pieces", [False, True])
def test_what_is_not_a_json_object_is_bad_input(
    http: httpx.Client, sandbox: RunningSandbox, body: bytes, pieces: bool
) -> None:
    reply = http.post(RUN, content=in_pieces(body) if pieces else body)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, 5006)
    assert sandbox.calls() == []


def test_a_body_in_pieces_is_put_together(http: httpx.Client) -> None:
    body = json.dumps({"prompt": "Grüße aus 日本"}, ensure_ascii=False).encode()
    reply = http.post(RUN, content=(body[n : n + 1] for n in range(len(body))))
    assert "Grüße aus 日本" in reply.json()["result"]["response"]
