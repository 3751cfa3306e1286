from collections.abc import Iterator

import pytest

from batchui.pictures import fetching
from tests.cloudflare.server import ScriptedServer, scripted_server


@pytest.fixture(scope="session")
def running_server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


@pytest.fixture
def server(running_server: ScriptedServer) -> ScriptedServer:
    """A host that is not public, for `allowed`."""
    running_server.script()
    running_server.received.clear()
    running_server.connections = 0
    return running_server


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> tuple[float, ...]:
    """The real pauses between tries; those of a test are short."""
    real = fetching.PAUSES
    monkeypatch.setattr(fetching, "PAUSES", (0.01, 0.02))
    return real
