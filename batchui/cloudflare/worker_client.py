"""The Batch API through a Worker of the team's own, which has the AI binding.

The Worker is `cloudflare-worker/worker.js`. It answers in the envelope of the REST API, marks every
reply, and has codes of its own for what it finds wrong itself.
"""

from typing import Any

import httpx

from batchui.cloudflare.caller import Network
from batchui.cloudflare.client import LONGEST_CALL_SECONDS, PATIENT, ApiClient
from batchui.cloudflare.endpoints import SECRET, Endpoint, address_problem, server_of
from batchui.cloudflare.worker_errors import WORKER

# As worker.js has it.
SHORTEST_SECRET = 32
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


class WorkerClient(ApiClient):
    """One Worker. `ApiClient` says what holds for both kinds of clients.

    address: of the Worker, without a path: https, or http on this machine. secret: its
    BATCHUI_SECRET. The other arguments are those of `RestClient`.
    """

    def __init__(
        self,
        *,
        address: str,
        secret: str,
        transport: httpx.BaseTransport | None = None,
        timeout: httpx.Timeout = PATIENT,
        max_connections: int = 8,
        proxy: str | None = None,
        seconds: float = LONGEST_CALL_SECONDS,
    ) -> None:
        super().__init__(
            worker(address, secret),
            token=secret,
            network=Network(transport, timeout, max_connections, proxy),
            seconds=seconds,
        )

    def schema(self, model: str) -> dict[str, Any]:
        """Nothing of any model: the binding has no call for schemas."""
        return {}


def worker(address: str, secret: str) -> Endpoint:
    """A Worker as people entered it, without the blanks around it. The secret is not kept."""
    base_url = address.strip().rstrip("/")
    server, wrong = server_of(base_url), worker_address_problem(base_url)
    return Endpoint(
        base_url=base_url,
        path="ai",
        name=f"your Worker ({server})",
        unreached=f"Your Worker could not be reached at {server}: nothing was sent. Check its "
        "address, and this server's internet connection.",
        problem=_problem(wrong, secret.strip()),
        wrong_address=bool(wrong),
        rulings=WORKER,
        marks=True,
    )


def _problem(wrong_address: str, secret: str) -> str:
    """Why no call can be made, and what to do; "" if calls can be made."""
    if wrong_address:
        return (
            f"The address of your Worker cannot be used: {wrong_address}. Nothing was sent. "
            "Correct it in the connection."
        )
    problem = worker_secret_problem(secret)
    return problem and (
        f"{problem} Nothing was sent. Enter in the connection what the Worker has as "
        "BATCHUI_SECRET."
    )


def worker_address_problem(base_url: str) -> str:
    """The end of a sentence on why an address cannot be that of a Worker, "" if it can."""
    if wrong := address_problem(base_url):
        return wrong
    url = httpx.URL(base_url)
    if url.scheme != "https" and url.host not in _THIS_MACHINE:
        return "it does not begin with https://, so others could read the secret on its way"
    if url.path != "/":
        return "it must end after the name of the server"
    return ""


def worker_secret_problem(secret: str) -> str:
    """Why a secret cannot be that of a Worker, in a sentence, "" if it can."""
    if not secret:
        return "The connection has no secret of your Worker."
    if not SECRET.fullmatch(secret):
        return "The secret of your Worker must have no blanks, line breaks or letters like é."
    if len(secret) < SHORTEST_SECRET:
        return f"The secret of your Worker is shorter than {SHORTEST_SECRET} characters."
    return ""
