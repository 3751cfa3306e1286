"""A client is kept for its connection, until that is another one."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from batchui.batches.clients import shared_client
from batchui.teams import crypto
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team
from tests.batches.conftest import close_clients

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(team: Team) -> Iterator[Connection]:
    yield ensure_connection(team)
    close_clients()


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


def test_the_client_of_an_old_token_is_not_kept(connection: Connection) -> None:
    old = weakref.ref(shared_client(connection))
    connection.token_encrypted = crypto.encrypt("another")
    shared_client(connection)
    gc.collect()
    assert old() is None
