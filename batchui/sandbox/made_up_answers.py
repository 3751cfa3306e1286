"""The result of one item, in the shape its model answers in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import msgspec

from batchui.sandbox import schemas, texts, vectors
from batchui.sandbox.items import REJECTED_LANGUAGES, Item
from batchui.sandbox.models import Kind, Model


class ItemFailed(Exception):
    """This item fails alone: `success` is false and `code` and the sentence are its error."""

    def __init__(self, code: int, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(f"{code}: {sentence}")


@dataclass(frozen=True, slots=True)
class MadeUpAnswer:
    """`result` is any JSON; tokens are counted roughly."""

    result: Any
    prompt_tokens: int
    completion_tokens: int = 0

    @property
    def usage(self) -> dict[str, int]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


def answer(model: Model, item: Item, *, created: float, variant: int = 0) -> MadeUpAnswer:
    """Answer an item that `items.problem` finds nothing wrong with; the same item, the same answer.

    `created` is when the request came (seconds since 1970). Another `variant` gives another
    answer. Raises ItemFailed.
    """
    match model.kind:
        case Kind.EMBEDDING:
            return _embedded(model, item.texts)
        case Kind.RANKING:
            return _ranked(model, item)
        case Kind.TRANSLATION:
            return _translated(item, variant)
        case Kind.OTHER:
            raise ItemFailed(8007, "AiError: The sandbox plays models for text only.")
    return _talk(model, item, created=created, variant=variant)


def emptied(model: Model, result: Any, form: str) -> Any:
    """The result with nothing in it: null, blank, list, object, empties, or no result at all.

    Where a model only ever answers in text, list, object and empties become null.
    """
    if form == "result":
        return None
    values: dict[str, Any] = {
        "null": None,
        "blank": "  ",
        "list": [],
        "object": {},
        "empties": {"names": [], "note": "", "more": {"left": None}},
    }
    value = values[form]
    text = value if isinstance(value, str) else None
    match model.kind:
        case Kind.CHAT:
            return {**result, "response": value}
        case Kind.COMPLETION if "message" in result["choices"][0]:
            message = {**result["choices"][0]["message"], "content": text}
            return {**result, "choices": [{**result["choices"][0], "message": message}]}
        case Kind.COMPLETION:
            return {**result, "choices": [{**result["choices"][0], "text": text}]}
        case Kind.RESPONSES:
            return {**result, "output": _output(text) if text else []}
        case Kind.TRANSLATION:
            return {"translated_text": text}
    return {**result, "data" if "data" in result else "response": []}


def _embedded(model: Model, given: list[str]) -> MadeUpAnswer:
    data = [vectors.vector(text, model.width) for text in given]
    result = {"shape": [len(data), model.width], "data": data, "pooling": "mean"}
    return MadeUpAnswer(result, sum(map(texts.tokens, given)))


def _ranked(model: Model, item: Item) -> MadeUpAnswer:
    if item.contexts is None:
        return _embedded(model, item.texts)
    contexts = [context["text"] for context in item.contexts]
    read = sum(map(texts.tokens, contexts))
    if not isinstance(item.query, str):
        data = [vectors.vector(text, model.width) for text in contexts]
        shape = [len(data), model.width]
        return MadeUpAnswer({"response": data, "shape": shape, "pooling": "cls"}, read)
    ranked = [{"id": n, "score": score} for n, score in vectors.scores(item.query, contexts)]
    return MadeUpAnswer({"response": ranked}, read + texts.tokens(item.query))


def _translated(item: Item, variant: int) -> MadeUpAnswer:
    language = str(item.target_lang)
    if language.lower() in REJECTED_LANGUAGES:
        raise ItemFailed(8007, f"AiError: Unsupported language: {language}")
    text = f"{texts.MARK} [{language}] {item.text}{_other(variant)}"
    return MadeUpAnswer({"translated_text": text}, texts.tokens(item.text), texts.tokens(text))


def _talk(model: Model, item: Item, *, created: float, variant: int) -> MadeUpAnswer:
    prompt, instruction = item.asked()
    read = texts.tokens(prompt) + texts.tokens(instruction)
    if model.context and read + item.longest > model.context:
        raise ItemFailed(
            8007,
            f"AiError: The estimated number of input and maximum output tokens "
            f"({read + item.longest}) exceeded this model context window limit ({model.context}).",
        )
    value = _structured(item, prompt)
    if value is None:
        text = texts.answer(prompt, instruction=instruction) + _other(variant)
    else:
        text = msgspec.json.encode({**value, "variant": variant} if variant else value).decode()
    text, was_cut = texts.cut(text, item.longest)
    spoken = _Spoken(
        text=text,
        was_cut=was_cut,
        value=None if was_cut else value,
        key=f"{crc32(prompt.encode()):08x}",
        created=int(created),
        read=read,
    )
    return MadeUpAnswer(spoken.shaped(model, item), read, texts.tokens(text))


def _structured(item: Item, prompt: str) -> Any:
    """An instance of the schema the item asks for; None when it asks for text."""
    try:
        schema = item.schema()
        if schema is None:
            return None
        if not schema:
            return {
                "sandbox": "No AI model ran.",
                "characters": len(prompt),
                "words": texts.salient(texts.subject(prompt), 5),
            }
        return schemas.instance(schema, prompt)
    # Strange schemas break in many ways; nobody is served by telling them apart.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise ItemFailed(5025, "AiError: JSON Mode couldn't be met") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spoken:
    """A text, cut to its limit, on its way into a model's shape."""

    text: str
    was_cut: bool
    value: Any
    key: str
    created: int
    read: int

    def shaped(self, model: Model, item: Item) -> dict[str, Any]:
        if model.kind is Kind.RESPONSES:
            return self._responses(model)
        if model.kind is Kind.COMPLETION:
            return self._completion(model, chat=item.prompt is None or not model.text_completions)
        # The real API mixes parsed and unparsed JSON in one reply.
        parsed = self.value is not None and int(self.key, 16) % 2 == 0
        return {"response": self.value if parsed else self.text}

    def _completion(self, model: Model, *, chat: bool) -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "length" if self.was_cut else "stop",
            "logprobs": None,
        }
        if chat:
            message = {"role": "assistant", "content": self.text, "tool_calls": []}
            if model.reasons:
                message["reasoning_content"] = f"{texts.MARK} Nothing was thought."
            choice["message"] = message
        else:
            choice["text"] = self.text
        return {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{self.key}",
            "object": "chat.completion" if chat else "text_completion",
            "created": self.created,
            "model": model.name,
            "choices": [choice],
            "usage": MadeUpAnswer(None, self.read, texts.tokens(self.text)).usage,
        }

    def _responses(self, model: Model) -> dict[str, Any]:
        written = texts.tokens(self.text)
        return {
            "id": f"resp_{self.key}",
            "object": "response",
            "created_at": self.created,
            "model": model.name,
            "status": "incomplete" if self.was_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if self.was_cut else None,
            "output": _output(self.text),
            "usage": {
                "input_tokens": self.read,
                "output_tokens": written,
                "total_tokens": self.read + written,
            },
        }


def _output(text: str) -> list[dict[str, Any]]:
    thought = {"type": "reasoning_text", "text": f"{texts.MARK} Nothing was thought."}
    return [
        {"type": "reasoning", "summary": [], "content": [thought]},
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        },
    ]


def _other(variant: int) -> str:
    return f" (variant {variant})" if variant else ""
