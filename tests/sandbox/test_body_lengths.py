"""Request bodies whose announced length makes no sense, sent over a bare socket."""

import socket

import pytest

from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import LLAMA


def status_of(sandbox: RunningSandbox, header: str, body: bytes) -> str:
    """The status line for a POST that stays open after `body`; fails after 3 seconds without."""
    host, _, port = sandbox.root_url.removeprefix("http://").partition(":")
    head = (
        f"POST /client/v4/accounts/a/ai/run/{LLAMA}?queueRequest=true HTTP/1.1\r\n"
        f"Host: localhost\r\nAuthorization: Bearer x\r\n{header}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=3) as connection:
        connection.sendall(head.encode() + body)
        return connection.makefile("rb").readline().decode().strip()


@pytest.mark.parametrize("size", [b"-1", b"-ff", b"many", b""])
def test_a_chunk_with_an_impossible_size_is_refused_at_once(
    sandbox: RunningSandbox, size: bytes
) -> None:
    body = size + b"\r\n" + b"x" * 100
    assert status_of(sandbox, "Transfer-Encoding: chunked", body).startswith("HTTP/1.1 400")


@pytest.mark.parametrize("length", ["-1", "many"])
def test_an_impossible_content_length_is_refused_at_once(
    sandbox: RunningSandbox, length: str
) -> None:
    assert status_of(sandbox, f"Content-Length: {length}", b"x" * 100).startswith("HTTP/1.1 400")


def test_a_chunk_with_a_possible_size_is_read(sandbox: RunningSandbox) -> None:
    body = b'd;note=1\r\n{"requests": \r\n3\r\n[1]\r\n1\r\n}\r\n0\r\n\r\n'
    assert status_of(sandbox, "Transfer-Encoding: chunked", body) == "HTTP/1.1 200 OK"
