"""The shapes of a result with a generated text, by kind of model."""

from dataclasses import dataclass
from typing import Any

from batchui.sandbox.items import Item
from batchui.sandbox.models import Kind, Model
from batchui.sandbox.texts import MARK

NOT_THOUGHT = f"{MARK} Nothing was thought."


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, counted roughly."""

    read: int
    written: int = 0

    def as_json(self, read: str = "prompt_tokens", written: str = "completion_tokens") -> Any:
        """The `usage` object; a Responses object has other names for the two counts."""
        return {read: self.read, written: self.written, "total_tokens": self.read + self.written}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedText:
    """A text that answers an item.

    value: the same as parsed JSON, if the reply has it parsed. was_cut: it reached the longest
    answer. key: 8 hexadecimal digits, different for each prompt. created: seconds since 1970.
    """

    text: str
    value: Any
    was_cut: bool
    key: str
    created: int
    usage: Usage


def result_of(model: Model, item: Item, generated: GeneratedText) -> dict[str, Any]:
    """The text in the shape of this model's answer to this item."""
    if model.kind is Kind.RESPONSES:
        return _responses_object(model, generated)
    if model.kind is Kind.CHAT:
        return {"response": generated.text if generated.value is None else generated.value}
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": "length" if generated.was_cut else "stop",
        "logprobs": None,
    }
    if model.text_completions and item.prompt is not None:
        choice["text"] = generated.text
        return _completion(model, generated, choice, name="text_completion", prefix="cmpl")
    choice["message"] = {
        "role": "assistant",
        "content": generated.text,
        "tool_calls": [],
        "reasoning_content": NOT_THOUGHT,
    }
    return _completion(model, generated, choice, name="chat.completion", prefix="chatcmpl")


def _completion(
    model: Model, generated: GeneratedText, choice: dict[str, Any], *, name: str, prefix: str
) -> dict[str, Any]:
    return {
        "id": f"{prefix}-{generated.key}",
        "object": name,
        "created": generated.created,
        "model": model.name,
        "choices": [choice],
        "usage": generated.usage.as_json(),
    }


def _responses_object(model: Model, generated: GeneratedText) -> dict[str, Any]:
    was_cut = generated.was_cut
    return {
        "id": f"resp_{generated.key}",
        "object": "response",
        "created_at": generated.created,
        "model": model.name,
        "status": "incomplete" if was_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if was_cut else None,
        "output": [thinking(), message(generated.text)],
        "usage": generated.usage.as_json("input_tokens", "output_tokens"),
    }


def thinking() -> dict[str, Any]:
    """The entry of a Responses object with the reasoning."""
    return {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": NOT_THOUGHT}],
    }


def message(text: str) -> dict[str, Any]:
    """The entry of a Responses object with the text."""
    return {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
