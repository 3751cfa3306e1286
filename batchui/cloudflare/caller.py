"""Makes the calls to one endpoint: paid ones, where a lost reply may cost money, and free ones."""

from dataclasses import dataclass
from queue import Empty, LifoQueue
from typing import Any, BinaryIO

import httpx

from batchui.cloudflare.endpoints import Endpoint
from batchui.cloudflare.errors import (
    BadReply,
    CloudflareError,
    MaybeSent,
    NotSent,
    Oversized,
    error_for,
)
from batchui.cloudflare.http_call import (
    Call,
    CuttableClient,
    HttpFault,
    HttpReply,
    make_call,
    trusted_by,
)
from batchui.cloudflare.redaction import clean
from batchui.cloudflare.redactor import Redactor

# Short, because a server may close a kept connection at the moment it is used again.
KEPT_SECONDS = 5.0


@dataclass(frozen=True)
class Network:
    """How to reach the server. RestClient says what each field means."""

    transport: httpx.BaseTransport | None
    timeout: httpx.Timeout
    max_connections: int
    proxy: str | None


@dataclass
class _Place:
    """Room for one call. Its clients are made when they are first needed, which takes 6 ms.

    kept: the client that keeps its connection. fresh: one that makes a new one for each call.
    """

    kept: CuttableClient | None = None
    fresh: CuttableClient | None = None

    def close(self) -> None:
        """Close both clients. The next call makes new ones."""
        for client in (self.kept, self.fresh):
            if client is not None:
                client.close()
        self.kept = self.fresh = None


class _Lent(httpx.BaseTransport):
    """A transport that belongs to somebody else: it is used, but not closed."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._transport.handle_request(request)


class Caller:
    """The HTTP connections to one endpoint. No other object has the token.

    behind: another secret, of a server behind the endpoint, which is in no reply either.

    Each call has its own httpx client. Threads that share a client share its pool, and the pool
    sometimes closes an idle connection that another thread has just begun to use (seen with
    httpcore 1.0.9 as EBADF after a 200, which would lose a receipt).
    """

    def __init__(
        self, endpoint: Endpoint, *, token: str, network: Network, behind: str = ""
    ) -> None:
        self._endpoint = endpoint
        self._network = network
        self._headers = httpx.Headers(
            {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "batchui"}
        )
        if not endpoint.problem:
            self._headers["Authorization"] = f"Bearer {token.strip()}"
        self._redactor = Redactor("" if endpoint.problem else token.strip(), behind)
        # One place for each connection; the last one put back is taken first.
        self._places: LifoQueue[_Place] = LifoQueue()
        for _ in range(network.max_connections):
            self._places.put(_Place())

    def close(self) -> None:
        """Close every connection. No call may be under way."""
        for place in [self._places.get() for _ in range(self._places.qsize())]:
            place.close()
            self._places.put(place)

    def paid(self, call: Call) -> HttpReply:
        """Make a call that may cost money. Returns the reply, whatever its HTTP status.

        Raises NotSent for a fault before the connection was made, MaybeSent for any later one.
        """
        result = self._make(call, fresh=True)
        if isinstance(result, HttpReply):
            return result
        if result.kind in ("no place", "not sent"):
            raise self._unreached(result)
        raise MaybeSent(
            f"It is unclear whether {self._endpoint.name} accepted these rows: the connection "
            "broke before it confirmed. It may have them already.",
            **self._facts(result),
        )

    def free(self, call: Call, spool: BinaryIO | None = None) -> HttpReply:
        """Make a call that costs nothing and changes nothing. Returns the reply, which is a 2xx.

        The spool has the body, also that of a reply that raises an error. Raises NotSent for a
        fault of the network, BadReply for a 2xx that is not whole (Oversized for one that is too
        large), and for any other status the error that it means.
        """
        result = self._make(call, spool)
        if isinstance(result, HttpReply):
            if spool is not None and result.body:
                spool.write(result.body)
            if self.is_answer(result):
                return result
            raise self.meaning(result, submitting=False)
        if result.kind in ("no place", "not sent"):
            raise self._unreached(result)
        if result.kind == "broken":
            raise NotSent(
                f"The connection to {self._endpoint.name} broke before an answer came. Nothing is "
                "lost.",
                **self._facts(result),
            )
        if result.kind == "too large":
            raise Oversized(
                f"The answer of {self._endpoint.name} is larger than batchui can read "
                f"({call.max_bytes:,} bytes).",
                **self._facts(result),
            )
        raise BadReply(
            f"The answer of {self._endpoint.name} did not arrive whole. Nothing is lost.",
            **self._facts(result),
        )

    def _make(
        self, call: Call, spool: BinaryIO | None = None, *, fresh: bool = False
    ) -> HttpReply | HttpFault:
        """Make the call on a kept connection, if there is one, or on a `fresh` one.

        Waits for a free connection, but not longer than the `pool` timeout.
        """
        try:
            place = self._places.get(timeout=self._network.timeout.pool)
        except Empty:
            return HttpFault("no place", "every connection is in use")
        try:
            return make_call(self._client_at(place, fresh=fresh), call, self._redactor, spool)
        finally:
            self._places.put(place)

    def _client_at(self, place: _Place, *, fresh: bool) -> CuttableClient:
        if fresh:
            place.fresh = place.fresh or CuttableClient(self._client(connections_kept=0))
            return place.fresh
        place.kept = place.kept or CuttableClient(self._client(connections_kept=1))
        return place.kept

    def _client(self, *, connections_kept: int) -> httpx.Client:
        network = self._network
        # A proxy can read all of plain http, even the token.
        proxy = network.proxy if self._endpoint.base_url.startswith("https:") else None
        return httpx.Client(
            headers=self._headers,
            limits=httpx.Limits(
                max_connections=1,
                max_keepalive_connections=connections_kept,
                keepalive_expiry=KEPT_SECONDS,
            ),
            timeout=network.timeout,
            transport=_Lent(network.transport) if network.transport else None,
            verify=trusted_by(self._endpoint.base_url),
            proxy=proxy,
            follow_redirects=False,
            trust_env=False,
        )

    def _unreached(self, fault: HttpFault) -> NotSent:
        if fault.kind == "no place":
            return NotSent(
                "Nothing was sent: this server already makes as many calls as it may at one time.",
                **self._facts(fault),
            )
        return NotSent(self._endpoint.unreached, **self._facts(fault))

    def _facts(self, fault: HttpFault) -> dict[str, Any]:
        return {
            "detail": f"{fault.kind}: {clean(fault.detail)}",
            "http_status": fault.status,
        }

    def is_answer(self, reply: HttpReply) -> bool:
        """Whether the reply is a success of what was called, and not of something else."""
        return reply.succeeded and not self._is_strange(reply)

    def _is_strange(self, reply: HttpReply) -> bool:
        """Whether something else answered, instead of what marks its replies.

        What stands before a Worker may answer 5xx, 408, 413 or 429 for it, and redirects have
        their own meaning.
        """
        if reply.is_marked or not self._endpoint.marks:
            return False
        refused = 400 <= reply.status < 500 and reply.status not in (408, 413, 429)
        return reply.succeeded or refused

    def meaning(self, reply: HttpReply, *, submitting: bool) -> CloudflareError:
        """The error that a reply means (see `errors.error_for`)."""
        return error_for(
            reply.status,
            reply.body or b"",
            reply.retry_after,
            submitting=submitting,
            rulings=self._endpoint.rulings,
            server=self._endpoint.server,
            strange=self._is_strange(reply),
        )
