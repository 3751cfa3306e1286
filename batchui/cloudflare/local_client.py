"""A model server of the team (Ollama, llama.cpp, vLLM, …): a `protocol.BatchClient` for it.

The sandbox stands between: it takes batches on Cloudflare's wire, and asks the server row by row
(`batchui/sandbox/upstream/`). It keeps the server's address and key in memory alone, so it is told
them at this client's first call, and again when it was started anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from batchui.cloudflare.client import MAX_REPLY, MAX_SHORT_REPLY, RestClient, result_of
from batchui.cloudflare.errors import Busy, CloudflareError, NotSent, Refused
from batchui.cloudflare.http_call import Call
from batchui.cloudflare.local_errors import UNKNOWN_UPSTREAM, Trial, found, in_words
from batchui.cloudflare.protocol import Receipt
from batchui.cloudflare.redaction import clean

# The answer to a single item comes when the model has written it.
PATIENT = httpx.Timeout(connect=10.0, read=140.0, write=90.0, pool=30.0)
LONGEST_MODEL = 200
# A shorter key, such as “ollama”, is a word that answers may have in them.
SHORTEST_SECRET = 12
_TRIAL = msgspec.json.Decoder(Trial)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ModelServer:
    """A server that speaks OpenAI's wire, as people entered it.

    url: of the server or of its API, with or without /v1. model: of a request that names none of
    the server's own. key: "" for none. concurrency: rows asked at once. timeout_seconds: for one.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    concurrency: int = 4
    timeout_seconds: float = 600.0

    @property
    def called(self) -> str:
        """ "your local model (localhost:11434)", for sentences; never a user name or password."""
        try:
            server = urlsplit(self.url.strip()).netloc.rpartition("@")[2]
        except ValueError:
            server = ""
        return f"your local model ({clean(server, longest=80)})" if server else "your local model"


class LocalClient(RestClient):
    """One model server, through an account of the sandbox. Safe to use from many threads.

    account_id: begins with “local-”; no other server may have it. token, base_url: of the sandbox.
    """

    def __init__(
        self,
        server: ModelServer,
        *,
        account_id: str,
        token: str,
        base_url: str,
        timeout: httpx.Timeout = PATIENT,
        **options: Any,
    ) -> None:
        super().__init__(
            account_id=account_id,
            token=token,
            base_url=base_url,
            timeout=timeout,
            called="the sandbox",
            behind=server.key if len(server.key) >= SHORTEST_SECRET else "",
            **options,
        )
        self._server = server
        self._told = msgspec.json.encode(
            {
                "url": server.url,
                "model": server.model,
                "key": str(server.key),  # a text that hides itself cannot be encoded
                "concurrency": server.concurrency,
                "timeout_seconds": server.timeout_seconds,
            }
        )
        self._is_registered = False

    def __repr__(self) -> str:
        return f"<LocalClient {self._server.called}, {self._endpoint.path}>"

    def submit(self, model: str, body: bytes) -> Receipt:
        """Put a request into the sandbox's queue for the server, which need not be there now."""
        _check_name(model)
        submit = super().submit
        return self._made(lambda: submit(model, body))

    def poll(
        self, model: str, request_id: str, spool: BinaryIO, *, max_bytes: int = MAX_REPLY
    ) -> str | None:
        """Ask how far a request is. Raises Busy with `needs_person` if the server refuses its key.

        Where the server is away it is queued or running still.
        """
        _check_name(model)
        poll = super().poll
        return self._made(lambda: poll(model, request_id, spool, max_bytes=max_bytes))

    def run(self, model: str, item: bytes) -> bytes:
        """Ask the server a single item now."""
        _check_name(model)
        run = super().run
        return self._made(lambda: run(model, item))

    def models(self) -> Iterator[dict[str, Any]]:
        """The models of the server, listed as Cloudflare lists models, without prices."""
        models = super().models
        yield from self._made(lambda: list(models()))

    def schema(self, model: str) -> dict[str, Any]:
        """{}: no server tells one."""
        return {}

    def test_connection(self) -> None:
        """Raise an error if sandbox, server, key or model are wrong, which says what. It is free.

        Nothing of it is registered, so that it can be asked before a connection is stored.
        """
        error: CloudflareError | None
        try:
            trial = self._tried()
        except CloudflareError as exc:
            error = in_words(exc, called=self._server.called)
        else:
            server = self._server
            error = found(trial, called=server.called, model=server.model, has_key=bool(server.key))
        if error:
            raise error

    def _tried(self) -> Trial:
        """What the sandbox finds when it asks the server. Raises errors of the sandbox."""
        reply = self._caller.free(self._call("POST", "upstream/test"))
        try:
            return _TRIAL.decode(result_of(reply) or b"")
        except msgspec.MsgspecError:
            pass
        raise self._caller.meaning(reply, submitting=False)

    def _run_url(self, model: str, *, queued: bool) -> str:
        # A name may be the path of a file, as that of llama.cpp is.
        url = self._endpoint.url(f"run/{quote(model, safe='@')}")
        return f"{url}?queueRequest=true" if queued else url

    def _call(self, method: Literal["POST", "PUT"], path: str) -> Call:
        return Call(
            method,
            self._endpoint.url(path),
            content=self._told,
            max_bytes=MAX_SHORT_REPLY,
            seconds=self._seconds,
        )

    def _made(self, call: Callable[[], T]) -> T:
        """What `call` returns, once the sandbox knows the server.

        A sandbox that has forgotten it accepts nothing, so the call is made again then.
        """
        if not self._is_registered:
            self._register()
        for _ in range(2):
            try:
                return call()
            except CloudflareError as exc:
                error = exc
            if error.code != UNKNOWN_UPSTREAM:
                break
            self._register()
        raise in_words(error, called=self._server.called)

    def _register(self) -> None:
        """Tell the sandbox the server. Raises NotSent or Busy: nothing else was begun."""
        try:
            self._caller.free(self._call("PUT", "upstream"))
        except CloudflareError as exc:
            error = in_words(exc, called=self._server.called)
        else:
            self._is_registered = True
            return
        if isinstance(error, NotSent | Busy):
            raise error
        raise NotSent(error.user_message, detail=error.detail, code=error.code)


def _check_name(model: str) -> None:
    """Raise Refused for what is no name of a model."""
    if not model.strip() or len(model) > LONGEST_MODEL or not model.isprintable():
        raise Refused(
            f"“{clean(model, longest=80)}” is not the name of a model. Choose a model from the "
            "list, then send the rows again."
        )
