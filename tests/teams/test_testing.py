"""What a test of a connection finds: which of token, account and permission is wrong."""

import time
from typing import Any

import pytest
from cryptography.fernet import Fernet

from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams import connecting, testing
from batchui.teams.models import Connection, Team
from batchui.teams.testing import FINE, Wrong
from tests.batches.conftest import sandbox, shared_sandbox

__all__ = ["sandbox", "shared_sandbox"]
pytestmark = pytest.mark.django_db

ACCOUNT = "0123456789abcdef0123456789abcdef"
TOKEN = "Xk7_zP-2mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO"


def filled(base_url: str, *, token: str = TOKEN) -> Connection:
    return connecting.unsaved(
        Team(pk=1),
        kind=Connection.Kind.REST,
        account_id=ACCOUNT,
        token=token,
        base_url=base_url,
    )


def test_a_connection_that_works_is_fine(sandbox: RunningSandbox) -> None:
    assert testing.test(filled(sandbox.base_url)) == FINE
    assert [call.kind for call in sandbox.calls()] == ["search"]  # which is free


@pytest.mark.parametrize(
    ("code", "message", "wrong"),
    [
        (10000, "Authentication error", Wrong.TOKEN),
        (9109, "Invalid access token", Wrong.TOKEN),
        (6003, "Invalid request headers", Wrong.TOKEN),
        (1000, "Invalid API Token", Wrong.TOKEN),
        (7003, "Could not route to /accounts/x", Wrong.ACCOUNT),
        (1000, "Not found", Wrong.ACCOUNT),
        (3023, "This account is blocked", Wrong.PERMISSION),
        (5018, "Not allowed", Wrong.PERMISSION),
    ],
)
def test_the_code_says_what_is_wrong(
    sandbox: RunningSandbox, code: int, message: str, wrong: Wrong
) -> None:
    sandbox.script({"fault": "error", "code": code, "message": message, "call": "search"})
    found = testing.test(filled(sandbox.base_url))
    assert found.wrong is wrong, found
    assert message in found.sentence
    assert TOKEN not in found.sentence


def test_a_wrong_token_is_told_from_a_right_one() -> None:
    with running_sandbox(token=TOKEN) as cloudflare:
        assert testing.test(filled(cloudflare.base_url)) == FINE
        found = testing.test(filled(cloudflare.base_url, token=TOKEN[::-1]))
    assert found.wrong is Wrong.TOKEN
    assert found.sentence.startswith("The API token is not accepted.")


def test_a_token_that_cannot_be_one_is_not_sent(sandbox: RunningSandbox) -> None:
    found = testing.test(filled(sandbox.base_url, token="é" * 40))
    assert found.wrong is Wrong.TOKEN
    assert "characters that a token never has" in found.sentence
    assert sandbox.calls() == []


def test_where_nobody_answers_nothing_is_said_of_the_token() -> None:
    found = testing.test(filled("http://127.0.0.1:9/client/v4"))
    assert found.is_away
    assert "could not be reached" in found.sentence


def test_another_server_at_the_address_is_not_taken_for_a_wrong_token(
    sandbox: RunningSandbox,
) -> None:
    found = testing.test(filled(f"{sandbox.root_url}/nowhere"))
    assert found.wrong in (Wrong.AWAY, Wrong.ACCOUNT)


def test_a_server_that_is_silent_is_waited_for_only_some_seconds(
    sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = testing.FOR_A_TEST._replace(seconds=0.3)
    assert testing.FOR_A_TEST.seconds <= 8
    monkeypatch.setattr(testing, "FOR_A_TEST", quick)
    sandbox.script({"fault": "delay", "seconds": 4, "call": "search"})
    began = time.monotonic()
    assert testing.test(filled(sandbox.base_url)).is_away
    assert time.monotonic() - began < 3


def test_a_token_that_cannot_be_read_any_more_is_said(settings: Any) -> None:
    connection = filled("http://127.0.0.1:9/client/v4")
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    found = testing.test(connection)
    assert found.wrong is Wrong.TOKEN
    assert "cannot be read" in found.sentence
