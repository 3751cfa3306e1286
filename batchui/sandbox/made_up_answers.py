"""Made-up answers to items: texts, JSON and vectors that clearly come from no model."""

from dataclasses import dataclass
from hashlib import shake_128
from math import sqrt
from typing import Any
from zlib import crc32

import msgspec

from batchui.sandbox import schemas, texts, worded_fields
from batchui.sandbox.items import Item
from batchui.sandbox.models import Kind, Model
from batchui.sandbox.shapes import GeneratedText, Usage, result_of


class ItemFailed(Exception):
    """Only this item fails: `success` is false, and its error has the code and the sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(f"{code}: {sentence}")


@dataclass(frozen=True, slots=True)
class MadeUpAnswer:
    """An answer. result: JSON, in the shape of the model."""

    result: Any
    usage: Usage


def answer(model: Model, item: Item, *, created: float, variant: int = 0) -> MadeUpAnswer:
    """The answer to an item that has no `items.problem`.

    The same item always has the same answer. variant: another number gives another answer.
    created: when the request came (seconds since 1970). Raises ItemFailed.
    """
    match model.kind:
        case Kind.EMBEDDING:
            return _embedded(model, item)
        case Kind.TRANSLATION:
            return _translated(item, variant)
        case Kind.OTHER:
            raise ItemFailed(8007, "AiError: The sandbox plays models for text only.")
    generated = _generated(model, item, created=created, variant=variant)
    return MadeUpAnswer(result_of(model, item, generated), generated.usage)


def _embedded(model: Model, item: Item) -> MadeUpAnswer:
    usage = Usage(sum(map(texts.tokens, item.texts)))
    if item.text is None and isinstance(item.query, str):
        scores = [
            {"id": position, "score": texts.likeness(item.query, text)}
            for position, text in enumerate(item.texts)
        ]
        scores.sort(key=lambda one: -one["score"])
        return MadeUpAnswer({"response": scores}, usage)
    data = [_vector(text, model.width) for text in item.texts]
    name, pooling = ("response", "cls") if item.text is None else ("data", "mean")
    shape = [len(data), model.width]
    return MadeUpAnswer({name: data, "shape": shape, "pooling": pooling}, usage)


# As Gemma counts one, whatever its size.
TOKENS_OF_PICTURE = 280


def _vector(text: str, width: int) -> list[float]:
    """A vector of length one, always the same for the same text, and with no meaning."""
    noise = [byte - 127.5 for byte in shake_128(text.encode()).digest(width)]
    length = sqrt(sum(number * number for number in noise))
    return [round(number / length, 8) for number in noise]


def _translated(item: Item, variant: int) -> MadeUpAnswer:
    text = f"{texts.MARK} [{item.target_lang}] {item.text}{_other(variant)}"
    usage = Usage(texts.tokens(item.text), texts.tokens(text))
    return MadeUpAnswer({"translated_text": text}, usage)


def _generated(model: Model, item: Item, *, created: float, variant: int) -> GeneratedText:
    prompt, instruction = item.asked()
    pictures = item.pictures
    read = texts.tokens(prompt) + texts.tokens(instruction) + TOKENS_OF_PICTURE * len(pictures)
    _check_window(model, read + item.longest)
    value = _structured(item, prompt, instruction, variant)
    if value is None:
        text = texts.answer(prompt, instruction=instruction) + _other(variant)
        text += "".join(f" A picture of {size:,} bytes came with it." for size in pictures)
    else:
        text = msgspec.json.encode(value).decode()
    text, was_cut = texts.cut(text, item.longest)
    key = crc32(prompt.encode())
    # The real API mixes parsed and unparsed JSON in one reply.
    is_parsed = not was_cut and key % 2 == 0
    return GeneratedText(
        text=text,
        value=value if is_parsed else None,
        was_cut=was_cut,
        key=f"{key:08x}",
        created=int(created),
        usage=Usage(read, texts.tokens(text)),
    )


def _check_window(model: Model, tokens: int) -> None:
    """Raise ItemFailed if prompt and longest answer together do not fit into the context."""
    if model.context and tokens > model.context:
        raise ItemFailed(
            8007,
            f"AiError: The estimated number of input and maximum output tokens "
            f"({tokens}) exceeded this model context window limit ({model.context}).",
        )


def _structured(item: Item, prompt: str, instruction: str, variant: int) -> Any:
    """An instance of the schema that the item asks for; None if it asks for text."""
    try:
        schema = item.schema()
        if schema is None:
            schema = worded_fields.schema_of(instruction or prompt)
        if schema is None:
            return None
        asked = worded_fields.without(prompt)
        value = schemas.instance(schema, asked) if schema else _any_object(asked)
    # Strange schemas fail in many ways, and the answer is the same for all of them.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise ItemFailed(5025, "AiError: JSON Mode couldn't be met") from None
    return {"value": value, "variant": variant} if variant else value


def _any_object(prompt: str) -> dict[str, Any]:
    return {
        "sandbox": "No AI model ran.",
        "characters": len(prompt),
        "words": texts.salient(texts.subject(prompt), 5),
    }


def _other(variant: int) -> str:
    return f" (variant {variant})" if variant else ""
