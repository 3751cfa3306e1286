"""The run address: submit, poll and synchronous run are one POST; the body shows which it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from batchui.sandbox import items
from batchui.sandbox.calls import CallRecord
from batchui.sandbox.context import Context
from batchui.sandbox.envelope import Envelope
from batchui.sandbox.errors import ApiError
from batchui.sandbox.fault_injection import injected
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.made_up_answers import ItemFailed, answer
from batchui.sandbox.models import Kind, Model
from batchui.sandbox.odd_answers import made_odd
from batchui.sandbox.replies import Reply
from batchui.sandbox.scripted_faults import Plan
from batchui.sandbox.store import Stored
from batchui.sandbox.upstream import worked
from batchui.sandbox.upstream.crew import Crew


class _Fields(msgspec.Struct):
    requests: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    request_id: str | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One POST: account and model name from its address, its body, and its record.

    envelope: what its answer stands in. crew: works off the requests of the account; None if its
    answers are made up.
    """

    account: str
    name: str
    body: bytes
    fields: _Fields
    record: CallRecord
    envelope: Envelope
    models: Mapping[str, Model]
    crew: Crew | None

    def model(self) -> Model:
        """The model. Raises ApiError 5007 if there is no such model."""
        if self.name not in self.models:
            raise ApiError(5007, f"AiError: No such model {self.name} or task")
        return self.models[self.name]


def run(
    context: Context,
    request: Request,
    *,
    account: str,
    name: str,
    record: CallRecord,
    envelope: Envelope,
) -> Response:
    """Answer a POST to `ai/run/{name}` and fill in the record of the call. Raises ApiError."""
    is_queued = request.query.get("queueRequest", "").lower() == "true"
    record.kind, record.model = "submit" if is_queued else "run", name
    if request.body is None:
        raise ApiError(3006)
    record.bytes = len(request.body)
    fields = _parsed(request.body)
    if isinstance(fields.request_id, str):
        record.kind, record.request_id = "poll", fields.request_id
    call = _Call(
        account=account,
        name=name,
        body=request.body,
        fields=fields,
        record=record,
        envelope=envelope,
        models=context.models,
        crew=context.crews.of(account),
    )
    if record.kind == "poll":
        return _poll(context, call)
    return _submit(context, call) if is_queued else _run_one(context, call)


def _parsed(body: bytes) -> _Fields:
    if not body:
        raise ApiError(3003)
    try:
        return msgspec.json.decode(body, type=_Fields)
    except msgspec.ValidationError as exc:
        raise ApiError(5006, f"AiError: Bad input: {exc}") from None
    except msgspec.DecodeError:
        raise ApiError(5006, "AiError: Bad input: the body is not JSON") from None


def _submit(context: Context, call: _Call) -> Response:
    """Accept a batch. Only the model is checked: accepted does not mean valid."""
    record = call.record
    record.items = _count(call.fields.requests)
    plan = context.script.plan("submit", model=call.name, body=call.body)
    record.fault = plan.names

    def accept() -> Response:
        record.request_id = _accepted(context, call)
        if plan.fault == "forgotten":
            context.store.drop(record.request_id)
        acknowledged = {"status": "queued", "request_id": record.request_id, "model": call.name}
        if plan.fault in {"no_model", "no_request_id"}:
            del acknowledged[plan.fault.removeprefix("no_")]
        return Response(body=call.envelope.success(acknowledged))

    return injected(context, plan, accept, call.envelope)


def _accepted(context: Context, call: _Call) -> str:
    """Store a batch, and have it worked off or set its moments. Returns its id."""
    items, requests = call.record.items, call.fields.requests
    if call.crew and items and isinstance(requests, msgspec.Raw):
        return worked.submit(
            call.crew, account=call.account, model=call.name, body=call.body, requests=requests
        )
    if not (call.crew or call.model().queues):
        raise ApiError(8007)
    return context.store.add(
        account=call.account,
        model=call.name,
        body=call.body,
        items=items,
        moments=context.schedule.add(context.clock(), items=items or 0),
    )


def _count(requests: msgspec.Raw | msgspec.UnsetType) -> int | None:
    if isinstance(requests, msgspec.UnsetType):
        return None
    try:
        return len(msgspec.json.decode(requests, type=list[msgspec.Raw]))
    except msgspec.MsgspecError:
        return None


def _poll(context: Context, call: _Call) -> Response:
    """The status of a request, or its answers."""
    record = call.record
    stored = context.store.find(record.request_id, account=call.account, model=call.name)
    state = stored.state(context.clock()) if stored else ""
    plan = context.script.plan("poll", model=call.name, state=state, body=call.body)
    record.fault, record.items = plan.names, stored.items if stored else None

    def reply() -> Response:
        if not call.crew and not (stored and stored.is_worked):
            call.model()
        if stored is None:
            raise ApiError(5504)
        if plan.step and plan.fault == "batch_failed":
            error = ApiError(plan.step.code or 8008, plan.step.message)
            form = plan.step.form
            failed = call.envelope.failed_as_a_whole(stored.id, call.name, form, error)
            return Response(body=failed)
        status = plan.fault if plan.fault in {"queued", "running"} else state
        if status == "finished":
            return _finished(context, call, stored, plan=plan)
        if stored.is_worked:
            worked.check_under_way(call.crew, account=call.account)
        under_way = {"status": status, "request_id": stored.id, "model": call.name}
        return Response(body=call.envelope.success(under_way))

    return injected(context, plan, reply, call.envelope)


def _finished(context: Context, call: _Call, stored: Stored, *, plan: Plan) -> Response:
    if stored.is_worked:
        return Response(body=call.envelope.success_in_chunks(context.crews.store.reply(stored.id)))
    if call.crew and not stored.items:
        raise ApiError(3030, "AiError: Batch validation failed: 'requests' must hold items")
    body = context.store.body(stored.id)
    if body is None:
        raise ApiError(5504)
    reply = Reply(
        model=call.model(),
        request_id=stored.id,
        created=stored.created,
        body=body,
        faults=plan.of_items,
    )
    return Response(body=call.envelope.success_in_chunks(reply.chunks()))


def _run_one(context: Context, call: _Call) -> Response:
    """Answer one item at once."""
    plan = context.script.plan("run", model=call.name, body=call.body)
    call.record.fault, call.record.items = plan.names, 1
    call.record.sha256 = sha256(call.body).hexdigest()

    def act() -> Response:
        if call.crew:
            result = worked.run(call.crew, call.body, model=call.name)
            return Response(body=call.envelope.success(result))
        model, item = call.model(), items.read(call.body)
        result = _result(model, item, created=context.clock())
        for step in plan.of_items:
            longest = item.longest if item else 0
            result = made_odd(model, result, fault=step.fault, form=step.form, longest=longest)
        return Response(body=call.envelope.success(result))

    return injected(context, plan, act, call.envelope)


def _result(model: Model, item: items.Item | None, *, created: float) -> Any:
    """The result of a body that is one item. Raises ApiError."""
    wrong = items.problem(model, item)
    if wrong or item is None:
        raise ApiError(5006, f"AiError: AiError: Bad input: Error: at '/': {wrong}")
    try:
        made = answer(model, item, created=created)
    except ItemFailed as exc:
        raise ApiError(exc.code, exc.sentence) from None
    if model.kind is Kind.CHAT:
        return {**made.result, "tool_calls": [], "usage": made.usage.as_json()}
    return made.result
