"""Reads the entries of `ai/models/search`, and the schemas of `ai/models/schema`.

Booleans are texts there, a context window is a text or a number, a price is a list. The property
`planned_deprecation_date` has the day on which a model is to be withdrawn, as 2026-10-01 with or
without a time. What cannot be read is left out: a listing may say anything.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from typing import Any, Literal

from msgspec import Struct

from batchui.cloudflare.catalogue import Option

TASKS: Mapping[str, Literal["chat", "embedding", "translation"]] = {
    "Text Generation": "chat",
    "Text Embeddings": "embedding",
    "Translation": "translation",
}
# Of a description and a name, in characters: the table has room for so many.
LONGEST, LONGEST_NAME = 1_000, 200
# What a figure raises that is none.
NO_FIGURE = (TypeError, ValueError, OverflowError)
# Of nested schemas.
DEEPEST = 4


class ListedModel(Struct, frozen=True, kw_only=True):
    """What a listing says of one model. Prices are US dollars for a million tokens."""

    name: str
    task: Literal["chat", "embedding", "translation"]
    description: str
    takes_batches: bool
    usd_read: float | None
    usd_written: float | None
    context_window: int | None
    needs_paid_plan: bool
    reasons: bool
    sees: bool
    withdrawn_on: date | None


def listed(entry: Mapping[str, Any]) -> ListedModel | None:
    """The model of an entry; None for one that neither reads nor writes text."""
    task, name = entry.get("task"), entry.get("name")
    kind = TASKS.get(str(task.get("name"))) if isinstance(task, Mapping) else None
    if kind is None or not isinstance(name, str) or not _may_be_stored(name):
        return None
    values = _properties(entry.get("properties"))
    prices = _prices(values.get("price"))
    return ListedModel(
        name=name,
        task=kind,
        description=str(entry.get("description") or "").replace("\0", "")[:LONGEST],
        takes_batches=_is_true(values.get("async_queue")),
        usd_read=prices.get("per M input tokens"),
        usd_written=prices.get("per M output tokens"),
        context_window=_whole(values.get("context_window")),
        needs_paid_plan=_is_true(values.get("require_workers_paid")),
        reasons=_is_true(values.get("reasoning")),
        sees=_is_true(values.get("vision")),
        withdrawn_on=_day(values.get("planned_deprecation_date")),
    )


def _may_be_stored(name: str) -> bool:
    return name.isprintable() and len(name) <= LONGEST_NAME


def _properties(given: Any) -> dict[str, Any]:
    pairs = given if isinstance(given, list) else []
    return {
        str(pair.get("property_id")): pair.get("value") for pair in pairs if isinstance(pair, dict)
    }


def _prices(given: Any) -> dict[str, float]:
    """Prices by their unit, of those in US dollars."""
    found = {}
    for price in given if isinstance(given, list) else []:
        if isinstance(price, dict) and price.get("currency", "USD") == "USD":
            with suppress(*NO_FIGURE):
                found[str(price.get("unit"))] = float(price["price"])
    return {unit: usd for unit, usd in found.items() if 0 <= usd < 1e6}


def _is_true(value: Any) -> bool:
    return value is True or str(value).lower() == "true"


def _whole(value: Any) -> int | None:
    with suppress(*NO_FIGURE):
        number = int(value)
        return number if 0 < number < 2**31 else None
    return None


def _day(value: Any) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(str(value)[:10])
    return None


class SchemaFacts(Struct, frozen=True, kw_only=True):
    """What the schema of a model's input says. item_format: "" where it is none that is known."""

    item_format: str = ""
    options: tuple[Option, ...] = ()
    schema_nesting: Literal["", "plain", "named"] = ""


# The field that an item of each format must have, the better one of two first.
CARRIERS = {
    "messages": "messages",
    "prompt": "prompt",
    "input": "input",
    "contexts": "contexts",
    "text": "text",
}
KINDS: Mapping[str, Any] = {
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "string": "text",
    "array": "list",
    "object": "object",
}
NOT_OPTIONS = {*CARRIERS, "query", "requests", "stream", "model", "external_reference"}
NOT_OPTIONS |= {"source_lang", "target_lang", "audio", "image", "lora"}


def schema_facts(schema: Mapping[str, Any], task: str) -> SchemaFacts:
    """The facts in a reply of `ai/models/schema`; of items in `requests`, if it has them."""
    forms = list(_forms(schema.get("input"), DEEPEST))
    requests = [form["requests"] for form in forms if isinstance(form.get("requests"), dict)]
    inner = [form for one in requests for form in _forms(one.get("items"), DEEPEST)]
    forms = inner or forms
    if task == "translation":
        return SchemaFacts(item_format="translation")
    for item_format, carrier in CARRIERS.items():
        properties = next((form for form in forms if carrier in form), None)
        if properties is not None:
            options = [_option(name, part) for name, part in properties.items()]
            return SchemaFacts(
                item_format=item_format,
                options=tuple(option for option in options if option),
                schema_nesting=_nesting(properties.get("response_format")),
            )
    return SchemaFacts()


def _forms(schema: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The properties of each variant of a schema."""
    if not isinstance(schema, dict) or not depth:
        return
    if isinstance(schema.get("properties"), dict):
        yield schema["properties"]
    for word in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(word) or ():
            yield from _forms(one, depth - 1)


def _option(name: str, schema: Any) -> Option | None:
    """The option of a property. A schema of several types is any, unless the others are null."""
    if name in NOT_OPTIONS or not isinstance(schema, dict):
        return None
    variants = [one for one in schema.get("anyOf") or () if isinstance(one, dict)]
    kept = [one for one in variants if one.get("type") != "null"]
    found = kept[0] if len(kept) == 1 else schema
    kind = KINDS.get(str(found.get("type")), "any")
    numbers = kind in ("number", "integer")
    choices = found.get("enum") if kind == "text" else None
    return Option(
        name=name,
        kind=kind,
        least=_number(found.get("minimum")) if numbers else None,
        most=_number(found.get("maximum")) if numbers else None,
        choices=tuple(one for one in choices or () if isinstance(one, str)),
    )


def _number(value: Any) -> float | None:
    with suppress(*NO_FIGURE):
        return float(value) if isinstance(value, int | float) else None
    return None


def _nesting(schema: Any) -> Literal["", "plain", "named"]:
    """How a `response_format` has its schema: named, where one of its variants requires a name."""
    if not isinstance(schema, dict):
        return ""
    inner = [form.get("json_schema") for form in _forms(schema, DEEPEST)]
    named = any(isinstance(one, dict) and "name" in (one.get("required") or ()) for one in inner)
    return "named" if named else "plain"
