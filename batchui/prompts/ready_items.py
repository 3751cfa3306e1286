"""Recognises objects that are ready-made items of the Batch API, and what they ask for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["chat", "input", "text", "contexts", "translation"]
# The item formats (see `items.py`) of models that take items of a kind, the usual ones first.
FORMATS: dict[Kind, tuple[str, ...]] = {
    "chat": ("prompt", "messages"),
    "input": ("input",),
    "text": ("text", "contexts", "translation"),
    "contexts": ("contexts",),
    "translation": ("translation",),
}
# The fields of items of the Batch API, and those of them that can hold the question.
ITEM_CARRIERS = frozenset({"prompt", "messages", "input", "text", "contexts"})
ITEM_FIELDS = ITEM_CARRIERS | {
    "query",
    "external_reference",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "response_format",
    "stream",
    "raw",
    "lora",
    "tools",
    "tool_choice",
    "functions",
    "guided_json",
    "stop",
    "n",
    "reasoning",
    "reasoning_effort",
    "chat_template_kwargs",
    "source_lang",
    "target_lang",
    "pooling",
    "truncate_inputs",
}


class Shape(NamedTuple):
    """What the value of a field has to be: in words, and whether one is that."""

    words: str
    fits: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(one) and one.strip() for one in value)


def _are_contexts(value: Any) -> bool:
    return _are_objects(value) and all(_is_text(one.get("text")) for one in value)


# Of the fields that can hold the question, as the models publish it. One item of another shape
# fails the whole request that it is in.
SHAPES = {
    "prompt": Shape("a text", _is_text),
    "messages": Shape("a list of messages", _are_objects),
    "input": Shape(
        "a text or a list of messages", lambda value: _is_text(value) or _are_objects(value)
    ),
    "text": Shape(
        "a text, or a list of texts with something in each",
        lambda value: _is_text(value) or _are_texts(value),
    ),
    "contexts": Shape("a list of objects that have a “text” each", _are_contexts),
}
ONE_TEXT = SHAPES["prompt"]


def reference_in_contexts(item: Mapping[str, Any]) -> str:
    """The references that stand inside `contexts`, joined with commas; "" if there is none.

    Two older documents of Cloudflare show them there, where its reply has null.
    """
    contexts = item.get("contexts")
    if not _are_objects(contexts):
        return ""
    found = (one.get("external_reference") for one in contexts or ())
    return ", ".join(str(one) for one in found if one not in (None, ""))


def with_moved_reference(item: dict[str, Any]) -> dict[str, Any]:
    """The item with the references of its contexts as its own, unless it has one already."""
    reference = reference_in_contexts(item)
    if not reference or item.get("external_reference"):
        return item
    contexts = [
        {name: value for name, value in one.items() if name != "external_reference"}
        for one in item["contexts"]
    ]
    return item | {"contexts": contexts, "external_reference": reference}


def are_items(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether all of them are; False if there is none."""
    return bool(objects) and all(
        ITEM_FIELDS.issuperset(item) and not ITEM_CARRIERS.isdisjoint(item) for item in objects
    )


def kind_of(items: Iterable[Mapping[str, Any]]) -> Kind | None:
    """What these items ask for; None where they ask for different things, or there is none."""
    kinds = {_kind(item) for item in items}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(item: Mapping[str, Any]) -> Kind:
    if "contexts" in item:
        return "contexts"
    if "prompt" in item or "messages" in item:
        return "chat"
    if "input" in item:  # before `text`, which is an option of the Responses shape
        return "input"
    return "translation" if "target_lang" in item else "text"
