"""The Batch API over REST: the `protocol.BatchClient` of most teams."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self
from urllib.parse import urlencode

import httpx
import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare import event_queue, tolerant_json
from batchui.cloudflare.accounts import account, check_model
from batchui.cloudflare.caller import Caller, Network
from batchui.cloudflare.endpoints import Endpoint
from batchui.cloudflare.errors import (
    FOUND_INVALID,
    BadReply,
    CloudflareError,
    Refused,
    code_in,
)
from batchui.cloudflare.http_call import Call, HttpReply
from batchui.cloudflare.protocol import Receipt
from batchui.cloudflare.redaction import as_it_came, quote
from batchui.cloudflare.replies import FAILED, UNDER_WAY, State, check_request, state_of

# The timeouts are long: a late receipt is better than an unsure part.
PATIENT = httpx.Timeout(connect=10.0, read=90.0, write=90.0, pool=30.0)
# With what a tick does before, a call ends before its task must (see the settings).
LONGEST_CALL_SECONDS = 150.0
MAX_REPLY = 256 * 1024 * 1024
MAX_SHORT_REPLY = 16 * 1024 * 1024
_MOST_PAGES = 100
_NO_SCHEMA = 6002


class ApiClient:
    """A client of what answers in the envelope of Cloudflare's REST API.

    `RestClient` and `worker_client.WorkerClient` differ in what they call. They are safe to use
    from many threads; close them, or use them in `with`.

    No call is retried here, and no redirect is followed. Every submission and every run gets a new
    connection. The other side may close a kept one just when a request is sent, and that looks like
    a lost receipt. Polls and look-ups keep their connections for 5 s.

    The environment (proxies, certificates, .netrc) is ignored: an HTTP_PROXY for other programs
    would get the token of a plain-http address. A proxy is given as `proxy`. It is used only for
    https, where it sees only the server's name.

    A wrong address, token or account raises an error in the calls, not in the constructor.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        token: str,
        network: Network,
        seconds: float,
        behind: str = "",
    ) -> None:
        self._endpoint = endpoint
        self._seconds = seconds
        self._caller = Caller(endpoint, token=token, network=network, behind=behind)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._endpoint.server} {self._endpoint.path}>"

    def close(self) -> None:
        """Close every connection."""
        self._caller.close()

    def submit(self, model: str, body: bytes) -> Receipt:
        """Send `body` as it is to the queue of `model`, once.

        Any 2xx with a request_id is a receipt, from wherever it comes: without it, what was sent
        would be lost. Raises NotSent, Busy or Refused; and MaybeSent if the connection broke later,
        for 408 and 5xx, and for any other 2xx of what was called.
        """
        reply = self._caller.paid(self._post(self._run_url(model, queued=True), body))
        receipt = _receipt(reply) if reply.succeeded else None
        if receipt is None:
            raise self._caller.meaning(reply, submitting=True)
        return receipt

    def poll(
        self, model: str, request_id: str, spool: BinaryIO, *, max_bytes: int = MAX_REPLY
    ) -> str | None:
        """Ask how far a request is: "queued", "running", or None if the reply is in `spool`.

        At most 64 KiB are in memory. A longer body is a finished reply: only its first and last
        bytes are checked here, the rest by `replies.decode`. max_bytes: of the unpacked reply.

        Raises NotSent (any fault of the network), Busy, BadReply (5xx, garbage, cut short, about
        another request), Oversized (over max_bytes), Gone (5504), Refused (3030 and the like, or
        `"status": "failed"`), and the OSError of a spool that cannot be written. The spool has then
        what came of the reply.
        """
        asked = msgspec.json.encode({"request_id": request_id})
        call = self._post(self._run_url(model, queued=True), asked, max_bytes=max_bytes)
        spool.seek(0)
        spool.truncate()
        reply = self._caller.free(call, spool)
        if reply.body is None:
            _check_ends(spool, reply.ending)
        else:
            state = state_of(reply.body)
            check_request(state, asked=request_id)
            if not state.finished:
                return self._under_way(reply, state)
        spool.seek(0)
        return None

    def run(self, model: str, item: bytes) -> bytes:
        """Ask `model` a single item now. Returns its `result` as raw JSON.

        Raises what `submit` raises: a run may be charged although its answer was lost.
        """
        reply = self._caller.paid(self._post(self._run_url(model, queued=False), item))
        result = result_of(reply) if self._caller.is_answer(reply) else None
        if result is None:
            raise self._caller.meaning(reply, submitting=True)
        return result

    def test_connection(self) -> None:
        """Raise an error if address, token, account or permissions are wrong. Costs nothing.

        It searches for a model that does not exist, because `/user/tokens/verify` refuses tokens
        of an account.
        """
        self._models(search="batchui-connection-test", per_page="1")

    def models(self) -> Iterator[dict[str, Any]]:
        """The account's models as listed, each name once. `async_queue` marks those with a queue.

        The server may ignore `per_page`, so the last page is the first one without a new name.
        """
        seen: set[str] = set()
        for page in range(1, _MOST_PAGES + 1):
            known = len(seen)
            for entry in self._models(per_page="100", page=str(page), hide_experimental="false"):
                name = entry.get("name") if isinstance(entry, dict) else None
                if isinstance(name, str) and name not in seen:
                    seen.add(name)
                    yield entry
            if len(seen) == known:
                return

    def schema(self, model: str) -> dict[str, Any]:
        """The JSON Schemas of a model's `input` and `output`, {} if it has none (6002)."""
        try:
            _, found = self._look_up("models/schema", {"model": model})
        except CloudflareError as exc:
            if exc.code != _NO_SCHEMA:
                raise
            return {}
        return found if isinstance(found, dict) else {}

    def _run_url(self, model: str, *, queued: bool) -> str:
        url = self._endpoint.url(f"run/{check_model(model)}")
        return f"{url}?queueRequest=true" if queued else url

    def _post(self, url: str, content: bytes, *, max_bytes: int = MAX_SHORT_REPLY) -> Call:
        return Call("POST", url, content=content, max_bytes=max_bytes, seconds=self._seconds)

    def _under_way(self, reply: HttpReply, state: State) -> str:
        """The status of a request that is not finished. Raises if it has failed.

        One that failed as a whole was never asked, and has no code unless it was found invalid.
        """
        if state.status in UNDER_WAY:
            return str(state.status)
        if state.status in FAILED and code_in(reply.body or b"") != FOUND_INVALID:
            raise Refused(
                f"Cloudflare could not answer these rows.{quote(state.reason)} Send them again, or "
                "choose another model.",
                detail=f"the request's status is {state.status!r}: {state.reason or 'no reason'}",
                http_status=reply.status,
                raw=as_it_came(reply.body or b""),
            )
        raise self._caller.meaning(reply, submitting=False)

    def _models(self, **asked: str) -> list[Any]:
        reply, found = self._look_up("models/search", asked)
        if not isinstance(found, list):
            raise self._caller.meaning(reply, submitting=False)
        return found

    def _look_up(self, path: str, asked: dict[str, str]) -> tuple[HttpReply, Any]:
        """A GET below the account's `ai/`, and the `result` in its reply."""
        url = f"{self._endpoint.url(path)}?{urlencode(asked)}"
        reply = self._caller.free(
            Call("GET", url, max_bytes=MAX_SHORT_REPLY, seconds=self._seconds)
        )
        result = result_of(reply)
        if result is None:
            raise self._caller.meaning(reply, submitting=False)
        return reply, msgspec.json.decode(result)


class RestClient(ApiClient):
    """One account's Batch API, and the queues that tell of its events (`EventClient`).

    transport: replaces the network, in tests; it is not closed here.
    timeout: seconds for connecting, for each read and for each write. Its `pool`: how long a call
    waits while max_connections others are under way.
    seconds: for one call, from its connection to the end of its reply.
    called: what sentences call the other side; "" for Cloudflare. behind: as `Caller` has it.
    """

    def __init__(
        self,
        *,
        account_id: str,
        token: str,
        base_url: str,
        transport: httpx.BaseTransport | None = None,
        timeout: httpx.Timeout = PATIENT,
        max_connections: int = 8,
        proxy: str | None = None,
        seconds: float = LONGEST_CALL_SECONDS,
        called: str = "",
        behind: str = "",
    ) -> None:
        super().__init__(
            account(base_url=base_url, account_id=account_id, token=token, called=called),
            token=token,
            network=Network(transport, timeout, max_connections, proxy),
            seconds=seconds,
            behind=behind,
        )

    def pull_events(self, queue_id: str) -> event_queue.Pulled:
        """Some batch events that wait in a queue of the account (`event_queue.EventClient`)."""
        asked = {
            "batch_size": event_queue.MOST_EVENTS,
            "visibility_timeout_ms": event_queue.HIDDEN_FOR,
        }
        return event_queue.read(self._of_queue(queue_id, "pull", asked))

    def acknowledge(self, queue_id: str, leases: list[str]) -> None:
        """Let messages of a queue not come again."""
        self._of_queue(queue_id, "ack", {"acks": [{"lease_id": lease} for lease in leases]})

    def _of_queue(self, queue_id: str, what: str, asked: dict[str, Any]) -> bytes:
        """The result of a call about a queue, which stands beside the account's `ai/`."""
        account = self._endpoint.url("").removesuffix("/ai/")
        url = f"{account}/queues/{queue_id}/messages/{what}"
        reply = self._caller.free(self._post(url, msgspec.json.encode(asked)))
        result = result_of(reply)
        if result is None:
            raise self._caller.meaning(reply, submitting=False)
        return result


class _Envelope(Struct):
    success: Any = None
    errors: Any = None
    result: Raw = Raw()


_ENVELOPE = msgspec.json.Decoder(_Envelope)


def result_of(reply: HttpReply) -> bytes | None:
    """The raw `result` in the envelope of a success, None if the reply is not one."""
    try:
        envelope = tolerant_json.decode(_ENVELOPE, reply.body or b"")
    except tolerant_json.DAMAGED:
        return None
    result = tolerant_json.one_line(envelope.result)
    failed = envelope.success is False or (envelope.errors and result == b"null")
    return None if failed or not result else result


def _receipt(reply: HttpReply) -> Receipt | None:
    """The receipt in an acknowledgement, None if it has no request_id that is a text."""
    try:
        state = state_of(reply.body or b"")
    except BadReply:
        return None
    if not (state.request_id and state.request_id.strip()):
        return None
    return Receipt(request_id=state.request_id, status=state.status or "queued")


def _check_ends(spool: BinaryIO, ending: bytes) -> None:
    """Raise BadReply if a long reply does not begin and end as a JSON object."""
    spool.seek(0)
    if spool.read(64).lstrip()[:1] != b"{" or ending.rstrip()[-1:] != b"}":
        raise BadReply(
            "Cloudflare's reply is damaged, or not from Cloudflare. Nothing is lost.",
            detail="a long reply that is not one JSON object",
        )
