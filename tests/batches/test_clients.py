"""A client is kept for its connection, until that is another one."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from batchui.batches.clients import close_all, shared_client
from batchui.teams import crypto
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(team: Team) -> Iterator[Connection]:
    yield ensure_connection(team)
    close_all()


def test_a_connection_has_one_client(connection: Connection) -> None:
    client = shared_client(connection)
    assert shared_client(Connection.objects.get(pk=connection.pk)) is client
    others = ensure_connection(Team.objects.create(name="Others"))
    assert shared_client(others) is not client
    assert shared_client(connection) is client


@pytest.mark.parametrize("field", ["token_encrypted", "base_url", "account_id"])
def test_a_connection_that_was_changed_has_a_new_client(connection: Connection, field: str) -> None:
    client = shared_client(connection)
    values = {
        "token_encrypted": crypto.encrypt("another"),
        "base_url": "http://127.0.0.1:9/client/v4",
        "account_id": "another",
    }
    setattr(connection, field, values[field])
    assert shared_client(connection) is not client


def test_all_clients_are_closed_at_once_and_made_anew_when_they_are_used(
    connection: Connection,
) -> None:
    others = ensure_connection(Team.objects.create(name="Others"))
    clients = [shared_client(one) for one in (connection, others)]
    close_all()
    new = [shared_client(one) for one in (connection, others)]
    assert not {id(client) for client in clients} & {id(client) for client in new}


def test_the_client_of_an_old_token_is_not_kept(connection: Connection) -> None:
    old = weakref.ref(shared_client(connection))
    connection.token_encrypted = crypto.encrypt("another")
    shared_client(connection)
    gc.collect()
    assert old() is None
