"""How a team comes to its connection, and what its client says to the other side."""

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from cryptography.fernet import Fernet
from django.utils import timezone
from pytest_django import Settings

from batchui.teams import crypto
from batchui.teams.connections import client_for, ensure_connection
from batchui.teams.models import Connection, Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Care")


@pytest.fixture
def account(settings: Settings) -> Settings:
    settings.CLOUDFLARE_ACCOUNT_ID = "a" * 32
    settings.CLOUDFLARE_API_TOKEN = "first-token"
    return settings


def test_without_an_account_the_sandbox_is_used(team: Team, settings: Settings) -> None:
    connection = ensure_connection(team)
    assert (connection.kind, connection.name) == ("sandbox", "Sandbox")
    assert connection.base_url == settings.SANDBOX_URL


def test_the_sandboxs_token_is_no_word_that_an_answer_may_hold(team: Team) -> None:
    """The client blots out its own token in every reply."""
    token = crypto.decrypt(ensure_connection(team).token_encrypted)
    assert len(token) > 20
    assert token not in "[sandbox] No AI model ran. The sandbox has no secret."


def test_the_sandboxs_token_is_made_from_the_key_or_chosen(team: Team, settings: Settings) -> None:
    made = crypto.decrypt(ensure_connection(team).token_encrypted)
    assert settings.SECRET_KEY not in made
    settings.SECRET_KEY = "another key, and long enough " * 3
    assert crypto.decrypt(ensure_connection(team).token_encrypted) != made
    settings.SANDBOX_TOKEN = "chosen"
    assert crypto.decrypt(ensure_connection(team).token_encrypted) == "chosen"


def test_the_sandbox_follows_its_address(team: Team, settings: Settings) -> None:
    first = ensure_connection(team)
    settings.SANDBOX_URL = "http://127.0.0.1:9999/client/v4"
    second = ensure_connection(team)
    assert second.pk == first.pk
    assert Connection.objects.get().base_url == "http://127.0.0.1:9999/client/v4"


def test_an_account_in_the_environment_becomes_the_teams_connection(
    team: Team, account: Settings
) -> None:
    connection = ensure_connection(team)
    assert (connection.kind, connection.account_id) == ("rest", "a" * 32)
    assert connection.base_url == account.CLOUDFLARE_API_URL
    assert "first-token" not in connection.token_encrypted
    assert crypto.decrypt(connection.token_encrypted) == "first-token"


def test_asking_again_changes_nothing(team: Team, account: Settings) -> None:
    first = ensure_connection(team)
    second = ensure_connection(team)
    assert second.pk == first.pk
    assert second.token_encrypted == first.token_encrypted


def test_each_team_has_a_connection_of_its_own(team: Team, account: Settings) -> None:
    others = Team.objects.create(name="Others")
    ours, theirs = ensure_connection(team), ensure_connection(others)
    assert ours != theirs
    assert (ours.team, theirs.team) == (team, others)


def test_the_token_is_in_no_name_of_a_connection_or_client_and_in_no_log(
    team: Team, account: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    connection = ensure_connection(team)
    client = client_for(connection)
    shown = f"{connection} {connection!r} {client} {client!r} {caplog.text}"
    assert account.CLOUDFLARE_API_TOKEN not in shown
    assert connection.token_encrypted not in shown


def test_a_new_token_is_stored_and_lifts_the_pause(team: Team, account: Settings) -> None:
    connection = ensure_connection(team)
    Connection.objects.update(
        paused_until=timezone.now() + timedelta(hours=1), pause_reason="The token was refused."
    )
    account.CLOUDFLARE_API_TOKEN = "second-token"
    ensure_connection(team)
    connection.refresh_from_db()
    assert crypto.decrypt(connection.token_encrypted) == "second-token"
    assert (connection.paused_until, connection.pause_reason) == (None, "")


def test_a_pause_stays_while_nothing_changes(team: Team, account: Settings) -> None:
    ensure_connection(team)
    Connection.objects.update(pause_reason="Too many calls.")
    ensure_connection(team)
    assert Connection.objects.get().pause_reason == "Too many calls."


def test_another_account_is_another_connection(team: Team, account: Settings) -> None:
    first = ensure_connection(team)
    account.CLOUDFLARE_ACCOUNT_ID = "b" * 32
    second = ensure_connection(team)
    assert second.pk != first.pk
    first.refresh_from_db()
    assert first.account_id == "a" * 32


def test_a_token_that_cannot_be_read_any_more_is_replaced(team: Team, account: Settings) -> None:
    ensure_connection(team)
    account.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert crypto.decrypt(ensure_connection(team).token_encrypted) == "first-token"


class Listener(BaseHTTPRequestHandler):
    heard: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.heard.append((self.path, self.headers["Authorization"]))
        body = b'{"result": [], "success": true, "errors": [], "messages": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing: the tests' output is for the tests."""


@pytest.fixture
def listener() -> Iterator[HTTPServer]:
    Listener.heard = []
    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_client_speaks_to_the_connections_address_with_its_token(
    team: Team, account: Settings, listener: HTTPServer
) -> None:
    account.CLOUDFLARE_API_URL = f"http://127.0.0.1:{listener.server_port}/client/v4"
    with closing(client_for(ensure_connection(team))) as client:
        client.test_connection()
    path, authorization = Listener.heard[0]
    assert path.startswith(f"/client/v4/accounts/{'a' * 32}/ai/models/search")
    assert authorization == "Bearer first-token"
