"""The control address: faults, timings and calls (the package's docstring lists it)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import msgspec

from batchui.sandbox.calls import Calls
from batchui.sandbox.context import Context
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.options import Timings
from batchui.sandbox.scripted_faults import Script, read_steps


def control(context: Context, calls: Calls, request: Request) -> Response:
    """Answer a request whose path is /control or begins with /control/."""
    # A browser adds Origin when a page of another site calls: no page may write the script.
    if not _is_local(request.host) or "origin" in request.headers:
        return _said(403, "The control address is for programs on this machine only.")
    try:
        return _answer(context, calls, request)
    except ValueError as exc:
        return _said(400, str(exc))


def _answer(context: Context, calls: Calls, request: Request) -> Response:
    """Raises ValueError, in a sentence, for a body that cannot be used."""
    method, body = request.method, request.body or b""
    match request.path.split("/")[2:]:
        case [] | [""] if method == "GET":
            return _json(_state(context))
        case ["script"]:
            return _json(_script(context.script, method, body))
        case ["calls"]:
            if method == "DELETE":
                calls.clear()
            wanted = {k: v for k, v in request.query.items() if k in {"kind", "model"}}
            return _json(calls.shown(**wanted))
        case ["timings"]:
            if method == "PUT":
                context.timings = _changed(context.timings, body)
            return _json(context.timings)
        case ["requests", request_id] if method == "DELETE" and context.store.drop(request_id):
            return _json({"dropped": request_id})
    return _said(404, f"Nothing is there for {method} {request.path}.")


def _script(script: Script, method: str, body: bytes) -> list[dict[str, Any]]:
    """The script as it is now, after what the method does to it."""
    if method == "PUT":
        script.replace(read_steps(body))
    elif method == "POST":
        script.extend(read_steps(body))
    elif method == "DELETE":
        script.replace([])
    return script.shown()


def _state(context: Context) -> dict[str, Any]:
    return {
        "name": "batchui sandbox",
        "about": "A local Batch API for trying and testing. No AI model runs here.",
        "requests": context.store.count(),
        "timings": context.timings,
        "steps": len(context.script.shown()),
    }


def _changed(timings: Timings, body: bytes) -> Timings:
    """Raises ValueError with a sentence."""
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
        return msgspec.convert({**msgspec.to_builtins(timings), **given}, Timings)
    except msgspec.MsgspecError as exc:
        raise ValueError(str(exc)) from None


def _is_local(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _json(value: Any) -> Response:
    return Response(body=msgspec.json.encode(value))


def _said(status: int, sentence: str) -> Response:
    return Response(status=status, body=msgspec.json.encode({"error": sentence}))
