"""The answers of `ai/models/search` and `ai/models/schema`."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from batchui.sandbox.envelope import ENVELOPE
from batchui.sandbox.errors import ApiError
from batchui.sandbox.items import forms_of
from batchui.sandbox.models import Kind, Model


def search(
    query: Mapping[str, str],
    models: Collection[Model],
    *,
    description: str = "As the sandbox plays it; no AI model runs here.",
) -> bytes:
    """One page of a catalogue. query: `search` is a part of the name, `task` the name of one.

    description: of each model.
    """
    wanted, task = query.get("search", "").lower(), query.get("task", "").lower()
    found = [
        model
        for model in models
        if wanted in model.name.lower() and task in {"", model.task.lower()}
    ]
    page, size = _whole(query, "page", 1), _whole(query, "per_page", 50)
    shown = found[(page - 1) * size : page * size]
    info = {"count": len(shown), "page": page, "per_page": size, "total_count": len(found)}
    return ENVELOPE.success([_listed(model, description) for model in shown], result_info=info)


def schema(name: str, models: Mapping[str, Model]) -> bytes:
    """The JSON Schemas of a model's input and output, with little more than the required fields.

    Raises ApiError: 5007 for an unknown model, 6002 if no schema is published.
    """
    model = models.get(name)
    if model is None:
        raise ApiError(5007, f"AiError: No such model {name} or task")
    if model.kind is Kind.OTHER:
        raise ApiError(6002)
    forms = [_object({field: {} for field in form}) for form in forms_of(model)]
    if model.queues:
        forms.append(_object({"requests": {"type": "array", "items": {"oneOf": forms[:]}}}))
    return ENVELOPE.success(
        {"input": {"type": "object", "oneOf": forms}, "output": _object(_OUTPUTS[model.kind])}
    )


def _whole(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return max(1, int(text)) if text.isascii() and text.isdigit() else default


def _listed(model: Model, description: str) -> dict[str, Any]:
    return {
        "id": model.id,
        "source": 1,
        "name": model.name,
        "description": description,
        "task": {
            "id": str(uuid5(NAMESPACE_URL, f"sandbox:{model.task}")),
            "name": model.task,
            "description": "",
        },
        "tags": [],
        "properties": [
            {"property_id": name, "value": value}
            for name, value in _properties(model).items()
            if value
        ],
    }


def _properties(model: Model) -> dict[str, Any]:
    """A model's properties as in the real catalogue. Those without a value are not listed."""
    prices = {"per M input tokens": model.usd_input, "per M output tokens": model.usd_output}
    return {
        "async_queue": _true(model.flagged),
        "context_window": str(model.context or ""),
        "output_dimensions": str(model.width or ""),
        "require_workers_paid": _true(model.paid),
        "reasoning": _true(model.is_reasoning),
        "vision": _true(model.sees),
        "planned_deprecation_date": model.withdrawn_on,
        "price": [
            {"unit": unit, "price": price, "currency": "USD"}
            for unit, price in prices.items()
            if price is not None
        ],
    }


def _true(value: bool) -> str:
    """A boolean as the catalogue writes it: as text."""
    return "true" if value else ""


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_OUTPUTS: dict[Kind, dict[str, Any]] = {
    Kind.CHAT: {"response": {"type": "string"}},
    Kind.COMPLETION: {"choices": {"type": "array"}, "usage": {"type": "object"}},
    Kind.RESPONSES: {"output": {"type": "array"}, "usage": {"type": "object"}},
    Kind.EMBEDDING: {"data": {"type": "array"}, "shape": {"type": "array"}},
    Kind.TRANSLATION: {"translated_text": {"type": "string"}},
}
