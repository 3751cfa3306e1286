"""One client per connection and process, so that its connections are kept and used again."""

import threading

from batchui.cloudflare.protocol import BatchClient
from batchui.teams.connections import client_for
from batchui.teams.models import Connection

_clients: dict[tuple[int, str, str, str], BatchClient] = {}
_lock = threading.Lock()


def shared_client(connection: Connection) -> BatchClient:
    """The client of a connection; a new one when its address, account or token changed."""
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
                del _clients[old]  # whoever still uses it finishes first; then it is collected
            client = _clients[key] = client_for(connection)
    return client
