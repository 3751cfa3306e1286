"""The sandbox as a whole: one request in, one response out."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable

from batchui.sandbox import listing, runs
from batchui.sandbox.calls import CallRecord, Calls
from batchui.sandbox.context import Context
from batchui.sandbox.control import control
from batchui.sandbox.errors import ApiError
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.options import Options
from batchui.sandbox.store import Store

_ACCOUNT = re.compile(r"/client/v4/accounts/(?P<account>[^/]+)/ai/(?P<rest>.+)")


class Sandbox:
    """`respond` answers a request. `close` it when done.

    `log` takes one line for each submission, finished poll and fault; never a token.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        clock: Callable[[], float] = time.time,
        log: Callable[[str], None] | None = None,
    ) -> None:
        """Raises sqlite3.Error or OSError when the file cannot be used."""
        options = options or Options()
        self.calls = Calls()
        self.context = Context(
            options=options,
            store=Store(options, clock=clock),
            clock=clock,
            timings=options.timings,
            log=log or (lambda line: None),
        )

    def close(self) -> None:
        self.context.stop.set()
        self.context.store.close()

    def respond(self, request: Request) -> Response:
        if request.path == "/control" or request.path.startswith("/control/"):
            return control(self.context, self.calls, request)
        record = CallRecord(method=request.method, kind="", time=self.context.clock())
        try:
            response = self._routed(request, record)
        except ApiError as exc:
            response = Response(status=exc.status, body=exc.body())
        except Exception:
            if self.context.stop.is_set():
                return Response(cut="close")
            traceback.print_exc(file=sys.stderr)
            response = Response(status=500, body=ApiError(5001).body())
        record.status = 0 if response.cut else response.status
        self._note(record, finished=not isinstance(response.body, bytes))
        return response

    def _routed(self, request: Request, record: CallRecord) -> Response:
        """Raises ApiError."""
        path = _ACCOUNT.fullmatch(request.path)
        if not path:
            raise ApiError(7003, f"Could not route to {request.path}, perhaps it is misspelt?")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ApiError(10000)
        rest = path["rest"]
        if rest.startswith("run/"):
            _only(request, "POST")
            name = rest.removeprefix("run/")
            return runs.run(
                self.context, request, account=path["account"], name=name, record=record
            )
        if rest in {"models/search", "models/schema"}:
            _only(request, "GET")
            return self._looked_up(request, record, what=rest.removeprefix("models/"))
        raise ApiError(7003, f"Could not route to {request.path}, perhaps it is misspelt?")

    def _looked_up(self, request: Request, record: CallRecord, *, what: str) -> Response:
        record.kind, record.model = what, request.query.get("model", "")
        plan = self.context.script.plan(
            "schema" if what == "schema" else "search", model=record.model
        )
        record.fault = plan.names

        def act() -> Response:
            if what == "schema":
                return Response(body=listing.schema(record.model))
            return Response(body=listing.search(request.query))

        return runs.distort(self.context, plan, act)

    def _note(self, record: CallRecord, *, finished: bool) -> None:
        """Keep the record, and log it where a person would want to see it."""
        if not record.kind:
            return
        self.calls.add(record)
        if not (record.kind in {"submit", "run"} or finished or record.fault):
            return
        came = f"HTTP {record.status}" if record.status else "no answer"
        if finished:
            came = "done"
        elif record.status == 200:
            came = "queued" if record.kind == "submit" else "answered"
        name = record.model if record.model.isprintable() else "?"
        told = [f"{record.kind:6}", name]
        if record.items is not None:
            told.append(f"{record.items:,} item{'' if record.items == 1 else 's'}")
        told += [record.request_id[:8], came, f"(fault: {record.fault})" if record.fault else ""]
        self.context.log(" ".join(word for word in told if word))


def _only(request: Request, method: str) -> None:
    if request.method != method:
        raise ApiError(7001, f"Method {request.method} not available for that URI.")
