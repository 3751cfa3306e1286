"""Makes the calls of one account: paid ones, where a lost reply may cost money, and free ones."""

from dataclasses import dataclass, replace
from queue import Empty, LifoQueue
from typing import Any, BinaryIO

import httpx

from batchui.cloudflare.accounts import Account
from batchui.cloudflare.errors import BadReply, CloudflareError, MaybeSent, NotSent, error_for
from batchui.cloudflare.http_call import Call, HttpFault, HttpReply, certificates, make_call
from batchui.cloudflare.redaction import clean

# Short, because a server may close a kept connection at the moment it is used again.
KEPT_SECONDS = 5.0


@dataclass(frozen=True)
class Network:
    """How to reach the server. RestClient says what each field means."""

    transport: httpx.BaseTransport | None
    timeout: httpx.Timeout
    max_connections: int
    proxy: str | None


class _Lent(httpx.BaseTransport):
    """A transport that belongs to somebody else: it is used, but not closed."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._transport.handle_request(request)


class Caller:
    """The HTTP connections of one account. No other object has its token.

    Each call has its own httpx client. Threads that share a client share its pool, and the pool
    sometimes closes an idle connection that another thread has just begun to use (seen with
    httpcore 1.0.9 as EBADF after a 200, which would lose a receipt).
    """

    def __init__(self, account: Account, *, token: str, network: Network) -> None:
        self.account = account
        self._network = network
        self._headers = httpx.Headers(
            {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "batchui"}
        )
        if not account.problem:
            self._headers["Authorization"] = f"Bearer {token.strip()}"
        # One place for each connection; the last one put back is taken first. None: not made yet.
        self._places: LifoQueue[httpx.Client | None] = LifoQueue()
        for _ in range(network.max_connections):
            self._places.put(None)

    def close(self) -> None:
        """Close every connection. No call may be under way."""
        kept = [self._places.get() for _ in range(self._places.qsize())]
        for client in kept:
            self._places.put(None)
            if client:
                client.close()

    def paid(self, call: Call) -> HttpReply:
        """Make a call that may cost money. Returns the reply, whatever its HTTP status.

        Raises NotSent for a fault before the connection was made, MaybeSent for any later one.
        """
        result = self._make(call, fresh=True)
        if isinstance(result, HttpReply):
            return self._without_token(result)
        if result.kind in ("no place", "not sent"):
            raise self._unreached(result)
        raise MaybeSent(
            f"It is unclear whether Cloudflare ({self.account.server}) accepted these rows: the "
            "connection broke before it confirmed. It may have them: wait, send them again (they "
            "may then be charged twice), or leave them out.",
            **self._facts(result),
        )

    def free(self, call: Call, spool: BinaryIO | None = None) -> HttpReply:
        """Make a call that costs nothing and changes nothing. Returns the reply, which is a 2xx.

        Raises NotSent for a fault of the network, BadReply for a 2xx that is not whole, and for
        any other status the error that it means.
        """
        result = self._make(call, spool)
        if isinstance(result, HttpReply):
            result = self._without_token(result)
            if result.succeeded:
                return result
            raise self.meaning(result, submitting=False)
        if result.kind in ("no place", "not sent"):
            raise self._unreached(result)
        if result.kind == "broken":
            raise NotSent(
                f"The connection to Cloudflare ({self.account.server}) broke before an answer "
                "came. Nothing is lost. batchui asks again by itself.",
                **self._facts(result),
            )
        raise BadReply(
            f"The answer of Cloudflare ({self.account.server}) did not arrive whole. Nothing is "
            "lost. batchui asks again by itself.",
            **self._facts(result),
        )

    def _make(
        self, call: Call, spool: BinaryIO | None = None, *, fresh: bool = False
    ) -> HttpReply | HttpFault:
        """Make the call on a kept connection, if there is one, or on a `fresh` one.

        Waits for a free connection, but not longer than the `pool` timeout.
        """
        try:
            kept = self._places.get(timeout=self._network.timeout.pool)
        except Empty:
            return HttpFault("no place", "every connection is in use")
        try:
            if fresh:
                with self._client() as client:
                    return make_call(client, call, spool)
            kept = kept or self._client()
            return make_call(kept, call, spool)
        finally:
            self._places.put(kept)

    def _client(self) -> httpx.Client:
        network = self._network
        # A proxy can read all of plain http, even the token.
        proxy = network.proxy if self.account.base_url.startswith("https:") else None
        return httpx.Client(
            headers=self._headers,
            limits=httpx.Limits(max_connections=1, keepalive_expiry=KEPT_SECONDS),
            timeout=network.timeout,
            transport=_Lent(network.transport) if network.transport else None,
            verify=certificates(),
            proxy=proxy,
            follow_redirects=False,
            trust_env=False,
        )

    def _unreached(self, fault: HttpFault) -> NotSent:
        if fault.kind == "no place":
            return NotSent(
                "Nothing was sent: this server already makes as many calls as it may at one time. "
                "batchui tries again by itself.",
                **self._facts(fault),
            )
        return NotSent(
            f"Cloudflare could not be reached at {self.account.server}: nothing was sent. Check "
            "this server's internet connection. batchui tries again by itself.",
            **self._facts(fault),
        )

    def _facts(self, fault: HttpFault) -> dict[str, Any]:
        return {
            "detail": f"{fault.kind}: {clean(fault.detail, hide=self._token)}",
            "http_status": fault.status,
        }

    def meaning(self, reply: HttpReply, *, submitting: bool) -> CloudflareError:
        """The error that a reply means (see `errors.error_for`), without the token."""
        return error_for(
            reply.status,
            reply.body or b"",
            reply.retry_after,
            submitting=submitting,
            hide=self._token,
        )

    def _without_token(self, reply: HttpReply) -> HttpReply:
        """The reply without the token. Some servers repeat what they received, and replies are
        shown, stored and logged."""
        token = self._token.encode()
        if reply.body and token in reply.body:
            return replace(reply, body=reply.body.replace(token, b"[token]"))
        return reply

    @property
    def _token(self) -> str:
        return str(self._headers.get("Authorization", "")).removeprefix("Bearer ")
