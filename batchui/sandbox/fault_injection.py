"""Scripted faults of a whole call: another answer, a late one, or none."""

from collections.abc import Callable

from batchui.sandbox.context import Context
from batchui.sandbox.envelope import Envelope
from batchui.sandbox.errors import ApiError
from batchui.sandbox.http_messages import Response
from batchui.sandbox.scripted_faults import Plan, Step


def injected(
    context: Context, plan: Plan, act: Callable[[], Response], envelope: Envelope
) -> Response:
    """The response to a call, with the fault of the plan. act: does what the call asks for.

    Raises what `act` raises (ApiError).
    """
    step = plan.step
    if step is None:
        return act()
    context.stop.wait(step.seconds)
    if step.fault == "error":
        return _error(step, envelope)
    if step.fault == "cut_before":
        return _cut(step)
    return _spoilt(act(), step)


def _spoilt(response: Response, step: Step) -> Response:
    """The response to a call that was done, changed by the fault."""
    match step.fault:
        case "cut_after":
            return _cut(step)
        case "garbage":
            return Response(status=step.status or 200, body=step.body.encode())
        case "truncated":
            response.truncated = True
        case "other_status":
            response.status = step.status or 202
    return response


def _cut(step: Step) -> Response:
    return Response(cut="reset" if step.reset else "close")


def _error(step: Step, envelope: Envelope) -> Response:
    headers = {"Retry-After": str(step.retry_after)} if step.retry_after != "" else {}
    if not step.code:
        page = f"<html><body><h1>{step.status or 502}</h1></body></html>".encode()
        headers["Content-Type"] = "text/html"
        return Response(status=step.status or 502, body=page, headers=headers)
    error = ApiError(step.code, step.message, status=step.status)
    return Response(status=error.status, body=envelope.failure(error), headers=headers)
