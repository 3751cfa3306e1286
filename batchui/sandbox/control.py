"""The control address: script, calls, models and timings (the package's docstring lists it)."""

from typing import Any

import msgspec

from batchui.sandbox.calls import Calls
from batchui.sandbox.changed_models import changed_models, read_changes
from batchui.sandbox.context import Context
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.options import Timings
from batchui.sandbox.scripted_faults import Script, read_steps


def control(context: Context, calls: Calls, request: Request, *, allowed: bool) -> Response:
    """Answer a request whose path is /control or begins with /control/.

    allowed: whether it has the token.
    """
    if not context.options.control:
        return _error(404, "The control address is closed. Start the sandbox with --control.")
    if not request.host.startswith("127."):
        return _error(403, "The control address is for programs on this machine only.")
    if context.options.token is not None and not allowed:
        return _error(401, "The control address needs the token of this sandbox.")
    method, body = request.method, request.body or b""
    try:
        match request.path.removeprefix("/control/"):
            case "script":
                return _json(_script(context.script, method, body))
            case "calls":
                if method == "DELETE":
                    calls.clear()
                return _json(calls.shown(kind=request.query.get("kind", "")))
            case "models":
                return _json(_models(context, method, body))
            case "timings":
                return _json(_timings(context, method, body))
    except ValueError as exc:
        return _error(400, str(exc))
    return _error(404, f"Nothing is there for {method} {request.path}.")


def _script(script: Script, method: str, body: bytes) -> list[dict[str, Any]]:
    """Change the script as the method says. Returns it as it is then. Raises ValueError."""
    if method == "PUT":
        script.replace(read_steps(body))
    elif method == "POST":
        script.extend(read_steps(body))
    elif method == "DELETE":
        script.replace([])
    return script.shown()


def _models(context: Context, method: str, body: bytes) -> list[str]:
    """The names of the models, after the changes of a PUT. Raises ValueError."""
    if method in ("PUT", "DELETE"):
        context.models = changed_models(read_changes(body) if method == "PUT" else [])
    return list(context.models)


def _timings(context: Context, method: str, body: bytes) -> Timings:
    """The timings, after the changes of a PUT.

    A PUT without `apart` and `closer` sets them to 0, so that the other times are exact. Raises
    ValueError with a sentence.
    """
    schedule = context.schedule
    if method == "PUT":
        given = msgspec.json.decode(body, type=dict[str, Any])
        wanted = {**msgspec.to_builtins(schedule.timings), "apart": 0, "closer": 0, **given}
        schedule.timings = msgspec.convert(wanted, Timings)
    return schedule.timings


def _json(value: Any) -> Response:
    return Response(body=msgspec.json.encode(value))


def _error(status: int, sentence: str) -> Response:
    return Response(status=status, body=msgspec.json.encode({"error": sentence}))
