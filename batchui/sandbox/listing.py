"""What `ai/models/search` and `ai/models/schema` answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from batchui.sandbox.errors import ApiError, success
from batchui.sandbox.models import MODELS, Kind, Model

_STRING = {"type": "string", "minLength": 1}
_MESSAGES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"role": {"type": "string"}, "content": {}},
        "required": ["role", "content"],
    },
}
_CHOICES = {
    "max_tokens": {"type": "integer", "default": 256},
    "temperature": {"type": "number", "default": 0.6, "minimum": 0, "maximum": 5},
    "top_p": {"type": "number", "minimum": 0, "maximum": 2},
    "seed": {"type": "integer", "minimum": 1, "maximum": 9_999_999_999},
    "response_format": {"type": "object"},
}


def search(query: Mapping[str, str]) -> bytes:
    """One page of the catalogue: `search` in the name, `task` by name, `page` and `per_page`."""
    wanted, task = query.get("search", "").lower(), query.get("task", "").lower()
    found = [
        model
        for model in MODELS.values()
        if wanted in model.name.lower() and (not task or task == model.task.lower())
    ]
    page, size = _whole(query, "page", 1), _whole(query, "per_page", 50)
    shown = found[(page - 1) * size : page * size]
    info = {"count": len(shown), "page": page, "per_page": size, "total_count": len(found)}
    return success([_listed(model) for model in shown], result_info=info)


def schema(name: str) -> bytes:
    """The JSON Schemas of a model's input and output; 5007 unknown model, 6002 none published."""
    model = MODELS.get(name)
    if model is None:
        raise ApiError(5007, f"AiError: No such model {name} or task")
    if model.kind is Kind.OTHER:
        raise ApiError(6002)
    variants = _variants(model)
    if model.queues:
        item = {"oneOf": variants} if len(variants) > 1 else variants[0]
        requests = {"requests": {"type": "array", "items": item}}
        variants = [*variants, _object(requests, required=["requests"], title="Async Batch")]
    return success({"input": {"type": "object", "oneOf": variants}, "output": _output(model)})


def _whole(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return max(1, int(text)) if text.isascii() and text.isdigit() else default


def _listed(model: Model) -> dict[str, Any]:
    return {
        "id": model.id,
        "source": 1,
        "name": model.name,
        "description": f"{model.task} as the sandbox plays it; no AI model runs here.",
        "task": {
            "id": str(uuid5(NAMESPACE_URL, f"sandbox:{model.task}")),
            "name": model.task,
            "description": "",
        },
        "tags": [],
        "properties": [
            {"property_id": name, "value": value} for name, value in _properties(model).items()
        ],
    }


def _properties(model: Model) -> dict[str, Any]:
    prices = {"per M input tokens": model.usd_input, "per M output tokens": model.usd_output}
    values: dict[str, Any] = {
        "async_queue": "true" if model.flagged else None,
        "context_window": str(model.context) if model.context else None,
        "output_dimensions": str(model.width) if model.width else None,
        "require_workers_paid": "true" if model.paid else None,
        "reasoning": "true" if model.reasons else None,
        "price": [
            {"unit": unit, "price": price, "currency": "USD"}
            for unit, price in prices.items()
            if price is not None
        ],
    }
    return {name: value for name, value in values.items() if value}


def _object(properties: dict[str, Any], *, required: list[str], title: str = "") -> dict[str, Any]:
    made = {"type": "object", "properties": properties, "required": required}
    return {"title": title, **made} if title else made


def _variants(model: Model) -> list[dict[str, Any]]:
    """The shapes one item may have."""
    texts = {"oneOf": [_STRING, {"type": "array", "items": _STRING, "maxItems": 100}]}
    reference = {"external_reference": {"type": "string"}}
    match model.kind:
        case Kind.RESPONSES:
            asked = {"input": {"oneOf": [_STRING, {"type": "array"}]}}
            more = {"max_output_tokens": {"type": "integer"}, "reasoning": {"type": "object"}}
            return [_object({**asked, **more}, required=["input"])]
        case Kind.TRANSLATION:
            languages = {"source_lang": {"type": "string", "default": "en"}, "target_lang": _STRING}
            return [_object({"text": _STRING, **languages}, required=["text", "target_lang"])]
        case Kind.EMBEDDING:
            return [
                _object({"text": texts, "pooling": {"enum": ["mean", "cls"]}}, required=["text"])
            ]
        case Kind.RANKING:
            contexts = {"type": "array", "items": _object({"text": _STRING}, required=["text"])}
            ranked = {"query": _STRING, "contexts": contexts}
            return [
                _object(ranked, required=["contexts"]),
                _object({"text": texts}, required=["text"]),
            ]
        case _:
            return [
                _object({"prompt": _STRING, **_CHOICES, **reference}, required=["prompt"]),
                _object({"messages": _MESSAGES, **_CHOICES}, required=["messages"]),
            ]


def _output(model: Model) -> dict[str, Any]:
    fields: dict[str, Any]
    match model.kind:
        case Kind.CHAT:
            fields = {"response": {"type": "string"}}
        case Kind.COMPLETION:
            fields = {"choices": {"type": "array"}, "usage": {"type": "object"}}
        case Kind.RESPONSES:
            fields = {"output": {"type": "array"}, "usage": {"type": "object"}}
        case Kind.TRANSLATION:
            fields = {"translated_text": {"type": "string"}}
        case _:
            fields = {"data": {"type": "array"}, "shape": {"type": "array"}}
    return {"type": "object", "properties": fields}
