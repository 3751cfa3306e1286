"""One client for each connection and process, so that its HTTP connections are used again."""

import threading

from batchui.cloudflare.protocol import BatchClient
from batchui.teams.connections import client_for
from batchui.teams.models import Connection

_clients: dict[tuple[int, str, str, str], BatchClient] = {}
_lock = threading.Lock()


def shared_client(connection: Connection) -> BatchClient:
    """The client of a connection; a new one if its address, account or token has changed."""
    key = (
        connection.pk,
        connection.base_url,
        connection.account_id,
        connection.token_encrypted,
    )
    with _lock:
        client = _clients.get(key)
        if client is None:
            for old in [known for known in _clients if known[0] == connection.pk]:
                del _clients[old]  # a thread that still uses it finishes; then it is freed
            client = _clients[key] = client_for(connection)
    return client


def close_all() -> None:
    """Close every client of this process. The next use makes a new one."""
    with _lock:
        while _clients:
            _clients.popitem()[1].close()
