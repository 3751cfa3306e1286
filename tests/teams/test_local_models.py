"""Model servers of a team: which connection is one, and that none is mixed up with another."""

from contextlib import closing
from typing import Any

import pytest

from batchui.teams import connecting, crypto
from batchui.teams.connections import (
    client_for,
    ensure_connection,
    local_account,
    open_connections,
)
from batchui.teams.models import Connection, Team, User
from tests.teams.people import set_up

pytestmark = pytest.mark.django_db

URL, KEY = "http://127.0.0.1:11434", "a-key"


@pytest.fixture
def ana() -> User:
    return set_up()


@pytest.fixture
def team(ana: User) -> Team:
    return ana.membership.team


@pytest.fixture
def environment(settings: Any) -> Any:
    settings.SANDBOX_UPSTREAM_URL, settings.SANDBOX_UPSTREAM_MODEL = URL, "small"
    settings.SANDBOX_UPSTREAM_KEY = KEY
    return settings


def test_the_model_server_of_the_environment_answers_where_a_team_has_chosen_none(
    team: Team, environment: Any
) -> None:
    found = ensure_connection(team)
    assert (found.kind, found.base_url, found.from_environment) == ("local", URL, True)
    assert found.settings == {"model": "small", "concurrency": 4, "timeout_seconds": 600}
    assert crypto.decrypt(found.token_encrypted) == KEY
    assert (found.is_free, found.is_sandbox) == (True, False)
    assert ensure_connection(team) == found
    environment.SANDBOX_UPSTREAM_MODEL = "large"
    assert ensure_connection(team).settings["model"] == "large"
    assert Connection.objects.filter(team=team, kind="local").count() == 1


def test_an_account_of_the_environment_comes_before_its_model_server(
    team: Team, environment: Any
) -> None:
    environment.CLOUDFLARE_ACCOUNT_ID, environment.CLOUDFLARE_API_TOKEN = "0" * 32, "t" * 40
    assert ensure_connection(team).kind == "rest"


def test_a_model_server_that_the_environment_no_longer_names_gets_nothing_new(
    team: Team, environment: Any
) -> None:
    before = ensure_connection(team)
    environment.SANDBOX_UPSTREAM_URL = ""
    assert ensure_connection(team).kind == "sandbox"
    assert not open_connections(team).contains(before)


def test_each_team_has_an_account_of_its_own_for_a_server(team: Team) -> None:
    other = Team.objects.create(name="Other")
    names = {local_account(one, url) for one in (team, other) for url in (URL, f"{URL}/v1")}
    assert len(names) == 4
    assert all(name.startswith("local-") for name in names)


def test_its_client_names_the_server_and_never_the_key(team: Team, ana: User) -> None:
    settings = {"model": "small", "concurrency": 2, "timeout_seconds": 60}
    filled = connecting.unsaved(
        team,
        kind=Connection.Kind.LOCAL,
        account_id=local_account(team, URL),
        token=KEY,
        base_url=URL,
        settings=settings,
    )
    stored = connecting.connect(filled, by=ana)
    with closing(client_for(stored)) as client:
        assert "127.0.0.1:11434" in repr(client)
        assert KEY not in repr(client)
    assert ensure_connection(team) == stored
