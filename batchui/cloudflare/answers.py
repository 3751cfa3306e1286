"""Finds the answer in the `result` of one item, whatever shape the model gives it.

The known shapes are {"response": text, object, scores or vectors}, {"result": {…}} around any of
these (older), a chat completion, a text completion, a Responses object, {"translated_text"}, and
embeddings as {"data": [[…]]}. In any other shape, the whole result is the answer.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare.redaction import clean
from batchui.cloudflare.tolerant_json import DAMAGED, Other, Scalar, is_nothing, one_line

_DEEPEST = 4
# A result larger than this is an answer as it is: taking it apart could need twenty times as much
# memory. The largest known ones, vectors of a hundred texts, are a third of it.
LARGEST_TAKEN_APART = 8 * 1024 * 1024
_CUT_SHORT = (
    "The model reached the longest answer allowed before it wrote anything. Allow a longer answer, "
    "then retry this row."
)


class Found(Struct, gc=False):
    """The content of a `result`.

    answer, usage: raw JSON on one line, or None. why: a sentence on why the answer is empty.
    """

    answer: bytes | None = None
    usage: bytes | None = None
    why: str | None = None


class _Message(Struct, gc=False):
    content: Raw = Raw()
    tool_calls: Raw = Raw()
    refusal: Any = None


class _Choice(Struct, gc=False):
    message: _Message | Other = None
    text: Raw = Raw()
    finish_reason: Any = None


class _Piece(Struct, gc=False):
    text: Any = None
    refusal: Any = None


class _Output(Struct, gc=False):
    type: Any = None
    content: list[_Piece | Other] | dict[str, Any] | Scalar = None


class _Result(Struct, gc=False):
    response: Raw = Raw()
    tool_calls: Raw = Raw()
    choices: list[_Choice | Other] | dict[str, Any] | Scalar = None
    output: list[_Output | Other] | dict[str, Any] | Scalar = None
    translated_text: Raw = Raw()
    data: Raw = Raw()
    shape: Raw = Raw()
    result: Raw = Raw()
    usage: Raw = Raw()
    incomplete_details: Any = None


_RESULT = msgspec.json.Decoder(_Result)
_PIECES = msgspec.json.Decoder(list[_Piece | Other])
_LIST = msgspec.json.Decoder(list[Raw])
_LIST_OF_LISTS = re.compile(rb"\[\s*\[")


def read_answer(raw: Raw) -> Found:
    """The answer in the `result` of an item: any JSON, or b"" for a missing one."""
    if len(raw) > LARGEST_TAKEN_APART:
        return _found(raw)
    try:
        return _read(raw, depth=0)
    except DAMAGED:  # not an object, or one with a shape of its own
        return _found(raw)


def _read(raw: Raw, *, depth: int) -> Found:
    result = _RESULT.decode(raw)
    usage = result.usage
    if result.response:
        if not result.shape and not result.tool_calls:  # as most are
            return Found(_kept(result.response), _kept(usage))
        response = _vectors(result.response) if result.shape else result.response
        return _found(_or_tools(response, result.tool_calls), usage=usage)
    if isinstance(result.choices, list) and _is_completion(result.choices):
        return _completion(result.choices, usage=usage)
    if isinstance(result.output, list) and _is_responses_object(result.output):
        return _responses_object(result, result.output)
    if result.translated_text:
        return _found(result.translated_text, usage=usage)
    if result.data and (result.shape or _LIST_OF_LISTS.match(result.data)):
        return _found(_vectors(result.data), usage=usage)
    if result.result and depth < _DEEPEST:
        inner = memoryview(result.result)[0] == ord("{")
        return (
            _read(result.result, depth=depth + 1) if inner else _found(result.result, usage=usage)
        )
    return _found(raw, usage=usage)


def _found(answer: Raw | bytes, *, usage: Raw | bytes = b"", why: str | None = None) -> Found:
    return Found(_kept(answer), _kept(usage), why)


def _kept(raw: Raw | bytes) -> bytes | None:
    line = one_line(raw) if raw else b""
    return line if line and line != b"null" else None


def _or_tools(answer: Raw | bytes, tool_calls: Raw) -> Raw | bytes:
    """The answer, or the tool calls of a model that answers with nothing else."""
    if not tool_calls or not is_nothing(bytes(answer)) or is_nothing(bytes(tool_calls)):
        return answer
    return tool_calls


def _vectors(data: Raw) -> Raw:
    """The vector of a single text, without the list around it; several vectors as they are."""
    vectors = _LIST.decode(data) if memoryview(data)[0] == ord("[") else []
    return vectors[0] if len(vectors) == 1 else data


def _is_completion(choices: list[_Choice | Other]) -> bool:
    if not choices:
        return True
    first = choices[0]
    return isinstance(first, _Choice) and bool(first.text or isinstance(first.message, _Message))


def _completion(choices: list[_Choice | Other], *, usage: Raw) -> Found:
    """The answer in the first choice of a chat or text completion. Reasoning is not an answer."""
    choice = choices[0] if choices else None
    if not isinstance(choice, _Choice):
        return _found(b"", usage=usage)
    cut = _CUT_SHORT if choice.finish_reason == "length" else None
    message = choice.message
    if not isinstance(message, _Message):
        return _found(choice.text, usage=usage, why=cut)
    content: Raw | bytes = message.content
    if content and memoryview(content)[0] == ord("["):
        content = _joined(_PIECES.decode(content)) or content
    content = _or_tools(content, message.tool_calls)
    return _found(content, usage=usage, why=_declined(message.refusal) or cut)


def _is_responses_object(output: list[_Output | Other]) -> bool:
    return all(isinstance(entry, _Output) and isinstance(entry.type, str) for entry in output)


def _responses_object(result: _Result, output: list[_Output | Other]) -> Found:
    """The answer in the messages of `output[]`. Reasoning and tool calls are not answers."""
    pieces: list[_Piece | Other] = []
    for entry in output:
        if isinstance(entry, _Output) and entry.type == "message":
            pieces += entry.content if isinstance(entry.content, list) else []
    refusals = [_declined(piece.refusal) for piece in pieces if isinstance(piece, _Piece)]
    details = result.incomplete_details
    cut = isinstance(details, dict) and details.get("reason") == "max_output_tokens"
    why = next(filter(None, refusals), None) or (_CUT_SHORT if cut else None)
    return _found(_joined(pieces), usage=result.usage, why=why)


def _joined(pieces: list[_Piece | Other]) -> bytes:
    """The texts of all pieces as one JSON string, b"" if no piece has a text."""
    texts = [piece.text if isinstance(piece, _Piece) else piece for piece in pieces]
    known = [text for text in texts if isinstance(text, str)]
    return msgspec.json.encode("".join(known)) if known else b""


def _declined(refusal: Any) -> str | None:
    if not isinstance(refusal, str) or not refusal.strip():
        return None
    return f"The model declined to answer: “{clean(refusal)}”. Ask differently, then retry."
