"""What the sandbox refuses: web pages, other tokens, and all at a closed control address."""

import socket
from collections.abc import Iterator

import pytest

from batchui.sandbox.testing import RunningSandbox, running_sandbox

TOKEN = "the token it was started with"
SEARCH = "/client/v4/accounts/a/ai/models/search"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox(token=TOKEN) as running:
        yield running


def status(
    sandbox: RunningSandbox, path: str, *lines: str, host: str = "Host: 127.0.0.1:%d"
) -> int:
    """The status of a GET with these header lines, and the token."""
    port = int(sandbox.root_url.rpartition(":")[2])
    authorization = f"Authorization: Bearer {TOKEN}"
    if any(line.startswith("Authorization") for line in lines):
        authorization = "X-None: 1"
    head = [f"GET {path} HTTP/1.1", host.replace("%d", str(port)), authorization, *lines]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join([*filter(None, head), "", ""]).encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("path", [SEARCH, "/control/calls"])
@pytest.mark.parametrize(
    "host",
    [
        "Host: 127.0.0.1:%d",
        "Host: 127.0.0.1",
        "Host: LOCALHOST:%d",
        "Host: [::1]:%d",
    ],
)
def test_the_names_of_this_machine_are_answered(
    sandbox: RunningSandbox, path: str, host: str
) -> None:
    assert status(sandbox, path, host=host) == 200


@pytest.mark.parametrize("path", [SEARCH, "/control/calls"])
@pytest.mark.parametrize(
    "host",
    [
        "Host: evil.example.com:%d",
        "Host: evil.example.com",
        "Host: 127.0.0.1.example.com:%d",
        "Host: localhost:80:%d",
        "Host: user@127.0.0.1:%d",
        "Host:",
        "",
        "Host: 127.0.0.1\r\nHost: evil.example.com",
    ],
)
def test_a_page_that_gives_this_machine_a_name_of_its_own_reads_nothing(
    sandbox: RunningSandbox, path: str, host: str
) -> None:
    assert status(sandbox, path, host=host) == 421


@pytest.mark.parametrize("path", [SEARCH, "/control/calls"])
@pytest.mark.parametrize("origin", ["https://example.com", "null", "http://127.0.0.1:8000"])
def test_a_web_page_is_refused(sandbox: RunningSandbox, path: str, origin: str) -> None:
    assert status(sandbox, path, f"Origin: {origin}") == 403


@pytest.mark.parametrize("path", [SEARCH, "/control/calls"])
@pytest.mark.parametrize("word", ["Bearer x", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer ", ""])
def test_another_token_is_refused(sandbox: RunningSandbox, path: str, word: str) -> None:
    assert status(sandbox, path, f"Authorization: {word}") == 401


def test_a_refused_call_is_not_recorded(sandbox: RunningSandbox) -> None:
    sandbox.sandbox.calls.clear()
    status(sandbox, SEARCH, host="Host: evil.example.com")
    status(sandbox, SEARCH, "Authorization: Bearer x")
    assert sandbox.calls() == []


def test_a_closed_control_address_is_not_there_even_with_the_token() -> None:
    with running_sandbox(token=TOKEN, control=False) as closed:
        assert status(closed, SEARCH) == 200
        assert status(closed, "/control/script") == 404
