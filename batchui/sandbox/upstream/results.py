"""The `result` of an item, made of an upstream's answer.

A chat completion stays as it came. Embeddings and translations get the shapes that Cloudflare's
models give them.
"""

from typing import Any

import msgspec

from batchui.sandbox.upstream.questions import Form


class NoResult(Exception):
    """The body is no answer to such a question. str() says why."""


class _Usage(msgspec.Struct):
    prompt_tokens: Any = 0
    completion_tokens: Any = 0


class _Message(msgspec.Struct):
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Choice(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)


class _Completion(msgspec.Struct):
    choices: list[msgspec.Raw]
    usage: msgspec.Raw = msgspec.Raw(b"null")


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]
    usage: msgspec.Raw = msgspec.Raw(b"null")


def read(form: Form, body: bytes) -> tuple[bytes, int, int]:
    """The result as JSON on one line, and the tokens read and written. Raises NoResult."""
    try:
        if form == "embeddings":
            return _vectors(body)
        completion = msgspec.json.decode(body, type=_Completion)
        if not completion.choices:
            raise NoResult("it has no choices")
        if form == "translation":
            return _translation(completion)
        # Whatever else is in it is kept, so it is decoded whole, and checked by that.
        whole = msgspec.json.format(body, indent=-1)
        msgspec.json.decode(whole)
        return whole, *_tokens(completion.usage)
    except RecursionError:
        raise NoResult("it is nested too deep") from None
    except msgspec.MsgspecError as exc:
        raise NoResult(_words_in(body) or f"it is damaged, or of another form ({exc})") from None


def _translation(completion: _Completion) -> tuple[bytes, int, int]:
    choice = msgspec.json.decode(completion.choices[0], type=_Choice)
    result = {"translated_text": choice.message.content, "usage": completion.usage}
    return msgspec.json.encode(result), *_tokens(completion.usage)


def _vectors(body: bytes) -> tuple[bytes, int, int]:
    found = msgspec.json.decode(body, type=_Embeddings)
    if not found.data:
        raise NoResult("it has no vectors")
    vectors = [one.embedding for one in sorted(found.data, key=lambda one: one.index)]
    shape = [len(vectors), len(vectors[0])]
    result = {"data": vectors, "shape": shape, "usage": found.usage}
    return msgspec.json.encode(result), *_tokens(found.usage)


def _tokens(raw: msgspec.Raw) -> tuple[int, int]:
    try:
        usage = msgspec.json.decode(raw, type=_Usage | None) or _Usage()
    except msgspec.MsgspecError:
        return 0, 0
    return _count(usage.prompt_tokens), _count(usage.completion_tokens)


def _count(value: Any) -> int:
    """A number of tokens that SQLite can add up."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**40 else 0


def _words_in(body: bytes) -> str:
    """The error in a body that should have been an answer, "" if it has none."""
    try:
        return error_in(msgspec.json.decode(body))
    except (msgspec.MsgspecError, RecursionError):
        return ""


def error_in(found: Any) -> str:
    """The words of an error as servers of OpenAI's wire write it, "" if there are none."""
    match found:
        case {"error": {"message": str(text)}} | {"error": str(text)}:
            return text
        case {"message": str(text)} | {"detail": str(text)}:
            return text
        case {"detail": [{"msg": str(text)}, *_]}:
            return text
    return ""
