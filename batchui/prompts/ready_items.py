"""Recognises objects that are ready-made items of the Batch API."""

from collections.abc import Sequence
from typing import Any

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


def are_items(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether all of them are; False if there is none."""
    return bool(objects) and all(
        ITEM_FIELDS.issuperset(item) and not ITEM_CARRIERS.isdisjoint(item) for item in objects
    )
