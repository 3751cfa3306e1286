"""The whole sandbox: it answers one HTTP request with one response."""

import hmac
import re
import sys
import time
import traceback
from collections.abc import Callable
from math import ceil
from typing import Literal

from batchui.sandbox import binding, listing, runs
from batchui.sandbox.calls import CallRecord, Calls
from batchui.sandbox.context import Context
from batchui.sandbox.control import control
from batchui.sandbox.envelope import BARE, ENVELOPE, Envelope
from batchui.sandbox.errors import ApiError
from batchui.sandbox.event_queue import EventQueues
from batchui.sandbox.fault_injection import injected
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.options import Options
from batchui.sandbox.schedule import Schedule
from batchui.sandbox.store import Store
from batchui.sandbox.upstream import doors
from batchui.sandbox.upstream.crews import Crews
from batchui.sandbox.upstream.work_store import WorkStore

_QUEUE = re.compile(
    r"/client/v4/accounts/(?P<account>[^/]+)/queues/(?P<queue>[^/]+)/messages/(?P<what>pull|ack)"
)
_ACCOUNT = re.compile(r"/client/v4/accounts/(?P<account>[^/]+)/ai/(?P<rest>.+)")


class Sandbox:
    """A sandbox. `respond` answers a request; call `close` in the end."""

    def __init__(
        self, options: Options | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Raises sqlite3.Error or OSError if the file cannot be used."""
        options = options or Options()
        self.calls = Calls()
        store = Store(options, clock=clock)
        self.queues = EventQueues(store)
        work = WorkStore(store, clock=clock)
        self.context = Context(
            options=options,
            store=store,
            clock=clock,
            schedule=Schedule(options.timings),
            crews=Crews(work, upstream=options.upstream, patience=options.patience),
        )

    def close(self) -> None:
        """End every wait and all work, and close the store."""
        self.context.stop.set()
        self.context.crews.close()
        self.context.store.close()

    def respond(self, request: Request) -> Response:
        """Answer a request, and record it if it is a call of the API."""
        if request.path == "/control" or request.path.startswith("/control/"):
            return control(self.context, self.calls, request, allowed=self._is_allowed(request))
        record = CallRecord(method=request.method, kind="", time=self.context.clock())
        envelope = self._envelope(request)
        try:
            response = self._routed(request, record)
        except ApiError as exc:
            headers = {} if exc.wait is None else {"Retry-After": str(ceil(exc.wait))}
            response = Response(status=exc.status, body=envelope.failure(exc), headers=headers)
        except Exception:
            if self.context.stop.is_set():
                return Response(cut="close")
            traceback.print_exc(file=sys.stderr)
            response = Response(status=500, body=envelope.failure(ApiError(5001)))
        record.status = 0 if response.cut else response.status
        if record.kind:
            self.calls.add(record)
        return response

    def _routed(self, request: Request, record: CallRecord) -> Response:
        """The response to a call of the API. Raises ApiError."""
        if self._is_of_binding(request):
            return self._bound(request, record)
        if queue := _QUEUE.fullmatch(request.path):
            return self._queue(request, record, **queue.groupdict())
        path = _ACCOUNT.fullmatch(request.path)
        if not path:
            raise _no_route(request)
        if not self._is_allowed(request):
            raise ApiError(10000)
        account, crews = path["account"], self.context.crews
        match path["rest"].split("/", 1):
            case ["run", name]:
                _only(request, "POST")
                return self._run(request, record, account=account, name=name, envelope=ENVELOPE)
            case ["models", "search" | "schema" as what]:
                _only(request, "GET")
                return self._looked_up(request, record, account=account, what=what)
            case ["upstream"]:
                _only(request, "PUT")
                record.kind = "register"
                return doors.register(crews, request, account=account)
            case ["upstream", "test"]:
                _only(request, "POST")
                record.kind = "test"
                return doors.test(request)
        raise _no_route(request)

    def _queue(
        self, request: Request, record: CallRecord, *, account: str, queue: str, what: str
    ) -> Response:
        """The response to a call about events. Raises ApiError."""
        _only(request, "POST")
        if not self._is_allowed(request):
            raise ApiError(10000)
        call: Literal["pull", "ack"] = "ack" if what == "ack" else "pull"
        record.kind = call
        plan = self.context.script.plan(call)
        record.fault = plan.names

        def carry_out() -> Response:
            if what == "ack":
                return self.queues.acknowledge(request)
            now = self.context.clock()
            return self.queues.pull(request, account=account, queue=queue, now=now)

        return injected(self.context, plan, carry_out, ENVELOPE)

    def _run(
        self, request: Request, record: CallRecord, *, account: str, name: str, envelope: Envelope
    ) -> Response:
        return runs.run(
            self.context, request, account=account, name=name, record=record, envelope=envelope
        )

    def _bound(self, request: Request, record: CallRecord) -> Response:
        """The response to a call that a Worker's binding makes. Raises ApiError."""
        if not request.host.startswith("127."):
            raise ApiError(9109, "The address for bindings is for programs on this machine only.")
        if request.path == binding.SEARCH:
            _only(request, "GET")
            return self._looked_up(request, record, account=binding.ACCOUNT, what="search")
        _only(request, "POST")
        return self._run(
            binding.unwrapped(request),
            record,
            account=binding.ACCOUNT,
            name=binding.model_of(request),
            envelope=BARE,
        )

    def _is_of_binding(self, request: Request) -> bool:
        is_open = self.context.options.binding
        return is_open and request.path in {binding.RUN, binding.SEARCH}

    def _envelope(self, request: Request) -> Envelope:
        """What errors stand in."""
        is_bare = self._is_of_binding(request) and request.path == binding.RUN
        return BARE if is_bare else ENVELOPE

    def _is_allowed(self, request: Request) -> bool:
        """Whether the request has the token of this sandbox."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return False
        wanted = self.context.options.token
        return wanted is None or hmac.compare_digest(token.strip().encode(), wanted.encode())

    def _looked_up(
        self,
        request: Request,
        record: CallRecord,
        *,
        account: str,
        what: Literal["search", "schema"],
    ) -> Response:
        record.kind, record.model = what, request.query.get("model", "")
        plan = self.context.script.plan(what, model=record.model)
        record.fault = plan.names

        def look_up() -> Response:
            crew = self.context.crews.of(account)
            if crew and what == "search":
                return doors.search(crew, request)
            if crew:
                raise ApiError(6002)
            if what == "schema":
                return Response(body=listing.schema(record.model, self.context.models))
            return Response(body=listing.search(request.query, self.context.models.values()))

        return injected(self.context, plan, look_up, ENVELOPE)


def _only(request: Request, method: str) -> None:
    if request.method != method:
        raise ApiError(7001, f"Method {request.method} not available for that URI.")


def _no_route(request: Request) -> ApiError:
    return ApiError(7003, f"Could not route to {request.path}, perhaps it is misspelt?")
