"""The run address: submit, poll and synchronous run are one POST, told apart by the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from batchui.sandbox import items
from batchui.sandbox.calls import CallRecord
from batchui.sandbox.context import Context
from batchui.sandbox.errors import ApiError, success
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.made_up_answers import ItemFailed, answer, emptied
from batchui.sandbox.models import MODELS, Kind, Model
from batchui.sandbox.replies import Reply
from batchui.sandbox.scripted_faults import Plan, Step
from batchui.sandbox.store import Stored


class _Body(msgspec.Struct):
    requests: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    request_id: str | msgspec.UnsetType = msgspec.UNSET


def run(
    context: Context, request: Request, *, account: str, name: str, record: CallRecord
) -> Response:
    """Answer a POST to `ai/run/{name}`, filling in the record of the call. Raises ApiError."""
    queue = request.query.get("queueRequest", "").lower() == "true"
    record.kind, record.model = "submit" if queue else "run", name
    if request.body is None:
        raise ApiError(3006)
    record.bytes = len(request.body)
    body = _parsed(request.body)
    if isinstance(body.request_id, str):
        record.kind, record.request_id = "poll", body.request_id
        return _poll(context, account=account, name=name, record=record)
    model = MODELS.get(name)
    if queue:
        return _submit(
            context, request.body, body=body, account=account, name=name, model=model, record=record
        )
    return _run(context, request.body, name=name, model=model, record=record)


def distort(context: Context, plan: Plan, act: Callable[[], Response]) -> Response:
    """Do what was asked as the plan's fault of the call has it. Raises ApiError."""
    step = plan.step
    if step is None:
        return act()
    if step.seconds and step.fault != "slow_start":
        context.stop.wait(step.seconds)
    if step.fault == "error":
        return _error(step)
    if step.fault == "cut_before":
        return Response(cut="reset" if step.reset else "close")
    response = act()
    match step.fault:
        case "cut_after":
            return Response(cut="reset" if step.reset else "close")
        case "garbage":
            return Response(status=step.status or 200, body=step.body.encode())
        case "truncated":
            response.truncated = True
        case "other_status":
            response.status = step.status or 202
    return response


def _error(step: Step) -> Response:
    headers = {"Retry-After": str(step.retry_after)} if step.retry_after != "" else {}
    if not step.code:
        page = f"<html><body><h1>{step.status or 502}</h1></body></html>".encode()
        headers["Content-Type"] = "text/html"
        return Response(status=step.status or 502, body=page, headers=headers)
    error = ApiError(step.code, step.message, status=step.status)
    return Response(status=error.status, body=error.body(), headers=headers)


def _parsed(body: bytes) -> _Body:
    if not body:
        raise ApiError(3003)
    try:
        return msgspec.json.decode(body, type=_Body)
    except msgspec.ValidationError as exc:
        raise ApiError(5006, f"AiError: Bad input: {exc}") from None
    except msgspec.DecodeError:
        raise ApiError(5006, "AiError: Bad input: the body is not JSON") from None


def _submit(
    context: Context,
    raw: bytes,
    *,
    body: _Body,
    account: str,
    name: str,
    model: Model | None,
    record: CallRecord,
) -> Response:
    """Take a batch in. Only the model is looked at: accepted is not validated."""
    count = _count(body.requests)
    record.items = count
    plan = context.script.plan("submit", model=name)
    record.fault = plan.names

    def accept() -> Response:
        if model is None:
            raise _unknown(name)
        if not model.queues:
            raise ApiError(8007)
        slow = plan.step.seconds if plan.step and plan.fault == "slow_start" else 0
        record.request_id = context.store.add(
            account=account,
            model=name,
            body=raw,
            items=count,
            moments=context.timings.moments(context.clock(), items=count or 0, slow_start=slow),
        )
        if plan.fault == "forgotten":
            context.store.drop(record.request_id)
        told = {"status": "queued", "request_id": record.request_id, "model": name}
        told.pop({"no_model": "model", "no_request_id": "request_id"}.get(plan.fault, ""), None)
        return Response(body=success(told))

    return distort(context, plan, accept)


def _count(requests: msgspec.Raw | msgspec.UnsetType) -> int | None:
    if isinstance(requests, msgspec.UnsetType):
        return None
    try:
        return len(msgspec.json.decode(requests, type=list[msgspec.Raw]))
    except msgspec.MsgspecError:
        return None


def _poll(context: Context, *, account: str, name: str, record: CallRecord) -> Response:
    """Say how far a request is, or bring its answers."""
    stored = context.store.find(record.request_id, account=account, model=name)
    state = stored.state(context.clock()) if stored else ""
    plan = context.script.plan("poll", model=name, state=state)
    record.fault, record.items = plan.names, stored.items if stored else None

    def look() -> Response:
        model = MODELS.get(name)
        if model is None:
            raise _unknown(name)
        if stored is None:
            raise ApiError(5504)
        told: dict[str, Any] = {"request_id": stored.id, "model": name}
        if plan.step and plan.fault == "batch_failed":
            return Response(body=success({"status": plan.step.form, **told}))
        shown = plan.fault if plan.fault in {"queued", "running"} else state
        if shown != "finished":
            return Response(body=success({"status": shown, **told}))
        return _finished(context, stored, model=model, plan=plan)

    return distort(context, plan, look)


def _finished(context: Context, stored: Stored, *, model: Model, plan: Plan) -> Response:
    body = context.store.body(stored.id)
    if body is None:
        raise ApiError(5504)
    reply = Reply(
        model=model,
        request_id=stored.id,
        created=stored.created,
        body=body,
        faults=plan.of_items,
    )
    return Response(body=reply.chunks())


def _run(
    context: Context, raw: bytes, *, name: str, model: Model | None, record: CallRecord
) -> Response:
    """Answer one item at once."""
    plan = context.script.plan("run", model=name)
    record.fault, record.items = plan.names, 1

    def act() -> Response:
        if model is None:
            raise _unknown(name)
        item = items.read(raw)
        wrong = items.problem(model, item, queued=False)
        if wrong or item is None:
            raise ApiError(5006, f"AiError: AiError: Bad input: Error: at '/': {wrong}")
        try:
            made = answer(model, item, created=context.clock())
        except ItemFailed as exc:
            raise ApiError(exc.code, exc.sentence) from None
        result = made.result
        if model.kind is Kind.CHAT:
            result = {**result, "tool_calls": [], "usage": made.usage}
        for step in plan.of_items:
            result = emptied(model, result, step.form)
        return Response(body=success(result))

    return distort(context, plan, act)


def _unknown(name: str) -> ApiError:
    return ApiError(5007, f"AiError: No such model {name} or task")
