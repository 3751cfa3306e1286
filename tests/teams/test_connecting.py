"""What administrators change about connections, and where new batches go then."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction

from batchui.teams import connecting, crypto
from batchui.teams.connections import ensure_connection, open_connections
from batchui.teams.models import Connection, Team, User
from batchui.teams.problems import TeamProblem
from batchui.teams.testing import FINE
from tests.teams.people import join, outsider, set_up

pytestmark = pytest.mark.django_db

ACCOUNT = "0123456789abcdef0123456789abcdef"
OTHER = "f" * 32
TOKEN = "Xk7_zP-2mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO"
ADDRESS = "https://api.example.com/client/v4"


@pytest.fixture
def ana() -> User:
    return set_up()


@pytest.fixture
def team(ana: User) -> Team:
    return ana.membership.team


def filled(team: Team, account: str = ACCOUNT, token: str = TOKEN, **more: Any) -> Connection:
    return connecting.unsaved(
        team,
        kind=Connection.Kind.REST,
        account_id=account,
        token=token,
        base_url=ADDRESS,
        **more,
    )


def connected(ana: User, account: str = ACCOUNT, **more: Any) -> Connection:
    return connecting.connect(filled(ana.membership.team, account, **more), by=ana, tested=FINE)


def test_the_first_account_gets_new_batches_and_a_second_one_does_not(
    ana: User, team: Team
) -> None:
    first = connected(ana, name="Care")
    assert ensure_connection(team) == first
    second = connected(ana, OTHER)
    assert ensure_connection(team) == first
    assert list(open_connections(team))[:2] == [first, second]


def test_the_token_is_stored_encrypted_with_its_end_beside_it(ana: User) -> None:
    connection = Connection.objects.get(pk=connected(ana).pk)
    assert TOKEN not in connection.token_encrypted
    assert crypto.decrypt(connection.token_encrypted) == TOKEN
    assert connection.token_hint == TOKEN[-4:]
    assert connection.created_by == ana
    assert connection.tested_at is not None


def test_the_end_of_a_short_secret_would_be_too_much_of_it(ana: User) -> None:
    assert connected(ana, token="short-secret").token_hint == ""


def test_a_chosen_account_comes_before_that_of_the_environment(
    ana: User, team: Team, settings: Any
) -> None:
    ours = connected(ana)
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = OTHER, "of-the-environment"
    assert ensure_connection(team) == ours
    theirs = Connection.objects.get(account_id=OTHER)  # it is there to be chosen
    connecting.make_default(theirs, by=ana)
    assert ensure_connection(team) == theirs
    connecting.make_default(ours, by=ana)
    assert ensure_connection(team) == ours


def test_with_the_environments_account_another_one_must_be_chosen(
    ana: User, team: Team, settings: Any
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = OTHER, "of-the-environment"
    connected(ana)
    assert ensure_connection(team).account_id == OTHER


def test_the_environments_account_is_changed_only_there(
    ana: User, team: Team, settings: Any
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = ACCOUNT, "of-the-environment"
    connection = ensure_connection(team)
    for change in (
        lambda: connected(ana),
        lambda: connecting.replace_token(connection, filled(team), by=ana),
        lambda: connecting.remove(connection, by=ana),
    ):
        with pytest.raises(TeamProblem, match="environment"):
            change()
    connecting.rename(connection, "Ours", by=ana)
    assert ensure_connection(team).name == "Ours"


def test_an_account_that_the_environment_no_longer_names_gets_nothing_new(
    ana: User, team: Team, settings: Any
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = ACCOUNT, "of-the-environment"
    connecting.make_default(ensure_connection(team), by=ana)
    settings.CLOUDFLARE_API_TOKEN = ""
    assert ensure_connection(team).is_sandbox
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    assert ensure_connection(team).is_sandbox
    ours = connected(ana)  # until somebody connects it in the page
    assert ensure_connection(team) == ours
    assert not Connection.objects.get(account_id=ACCOUNT).from_environment


def test_the_same_account_is_connected_once(ana: User, team: Team) -> None:
    connected(ana, name="Care")
    with pytest.raises(TeamProblem, match="connected already, as “Care”"):
        connected(ana)


def test_a_new_token_replaces_the_old_one_in_the_same_connection(ana: User, team: Team) -> None:
    connection = connected(ana)
    Connection.objects.update(calls_left=7)
    new = "".join(reversed(TOKEN))
    connecting.replace_token(connection, filled(team, token=new), by=ana, tested=FINE)
    stored = Connection.objects.get(account_id=ACCOUNT)
    assert (stored.pk, crypto.decrypt(stored.token_encrypted)) == (connection.pk, new)
    assert (stored.token_hint, stored.calls_left) == (new[-4:], 7)


def test_when_the_chosen_one_is_removed_another_account_takes_its_place(
    ana: User, team: Team
) -> None:
    first, second = connected(ana), connected(ana, OTHER)
    assert connecting.next_default(first) == second
    assert connecting.next_default(second) is None
    assert connecting.remove(first, by=ana) == second
    assert connecting.remove(second, by=ana).is_sandbox
    assert [one.kind for one in open_connections(team)] == ["sandbox"]
    with pytest.raises(TeamProblem, match="cannot go to"):
        connecting.make_default(first, by=ana)
    with pytest.raises(TeamProblem, match="removed a moment ago"):
        connecting.rename(first, "Gone", by=ana)


def test_a_removed_account_comes_back_as_the_same_connection(ana: User, team: Team) -> None:
    first = connected(ana)
    connecting.remove(first, by=ana)
    again = connected(ana, name="Back")
    assert (again.pk, again.removed_at, again.name) == (first.pk, None, "Back")
    assert ensure_connection(team) == first


def test_the_sandbox_can_be_chosen_and_not_removed(ana: User, team: Team) -> None:
    sandbox = ensure_connection(team)
    connected(ana)
    connecting.make_default(sandbox, by=ana)
    assert ensure_connection(team) == sandbox
    with pytest.raises(TeamProblem, match="sandbox"):
        connecting.remove(sandbox, by=ana)


def test_a_team_has_one_default(ana: User, team: Team) -> None:
    connected(ana)
    second = connected(ana, OTHER)
    with pytest.raises(IntegrityError), transaction.atomic():
        Connection.objects.filter(pk=second.pk).update(is_default=True)


def test_only_administrators_of_the_team_change_anything(ana: User, team: Team) -> None:
    connection, sandbox = connected(ana), Connection.objects.get(kind="sandbox")
    for somebody in (join(ana), outsider()):
        for change in (
            lambda by: connecting.connect(filled(team, OTHER), by=by),
            lambda by: connecting.replace_token(connection, filled(team), by=by),
            lambda by: connecting.rename(connection, "Mine", by=by),
            lambda by: connecting.make_default(sandbox, by=by),
            lambda by: connecting.remove(connection, by=by),
        ):
            with pytest.raises(PermissionDenied):
                change(somebody)
    assert ensure_connection(team) == connection
