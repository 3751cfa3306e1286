"""The shapes of a result, by kind of model: with a generated text, or with nothing in it."""

from dataclasses import dataclass
from typing import Any

import msgspec

from batchui.sandbox.items import Item
from batchui.sandbox.models import Kind, Model
from batchui.sandbox.texts import MARK

_NOT_THOUGHT = f"{MARK} Nothing was thought."
_NOTHING: dict[str, Any] = {
    "null": None,
    "blank": "  ",
    "list": [],
    "object": {},
    "empties": {"names": [], "note": "", "more": {"left": None}},
    "text": '```json\n{"names": [], "note": "", "more": {"left": null}}\n```',
}
_NOT_ASKED_FOR = {
    "words": f"{MARK} I would rather say it in words.",
    "other": '{"something else": "that nobody asked for"}',
    "cut": '```json\n{"something": "that does not en',
}


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
        "reasoning_content": _NOT_THOUGHT,
    }
    return _completion(model, generated, choice, name="chat.completion", prefix="chatcmpl")


def emptied(model: Model, result: Any, form: str) -> Any:
    """The result with nothing in it: null, blank, list, object, empties, or no result at all.

    For a model that always answers with text, list, object and empties become null. The form text
    is empties as the text of JSON.
    """
    return None if form == "result" else _with(model, result, _NOTHING[form])


def unfit(model: Model, result: Any, form: str) -> Any:
    """The result with something that nobody asked for; `fenced`: with the same in a code fence."""
    if form != "fenced":
        return _with(model, result, _NOT_ASKED_FOR[form])
    text = _text_of(model, result)
    if not isinstance(text, str):
        text = msgspec.json.encode(text).decode()
    return _with(model, result, f"Here it is:\n```json\n{text}\n```\nI hope this helps.")


def _text_of(model: Model, result: Any) -> Any:
    """What the model wrote, in a result of a model that writes; else the result."""
    match model.kind:
        case Kind.CHAT:
            return result["response"]
        case Kind.COMPLETION:
            choice = result["choices"][0]
            return choice["text"] if "text" in choice else choice["message"]["content"]
        case Kind.RESPONSES:
            return result["output"][-1]["content"][0]["text"]
    return result


def _with(model: Model, result: Any, value: Any) -> Any:
    """The result with this value in the place of what the model wrote."""
    text = value if isinstance(value, str) else None
    match model.kind:
        case Kind.CHAT:
            return {**result, "response": value}
        case Kind.COMPLETION:
            return {**result, "choices": [_emptied_choice(result["choices"][0], text)]}
        case Kind.RESPONSES:
            return {**result, "output": [] if text is None else _output(text)}
        case Kind.TRANSLATION:
            return {"translated_text": text}
    return {**result, "data" if "data" in result else "response": []}


def _emptied_choice(choice: dict[str, Any], text: str | None) -> dict[str, Any]:
    if "text" in choice:
        return {**choice, "text": text}
    return {**choice, "message": {**choice["message"], "content": text}}


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
        "output": _output(generated.text),
        "usage": generated.usage.as_json("input_tokens", "output_tokens"),
    }


def _output(text: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": _NOT_THOUGHT}],
        },
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        },
    ]
