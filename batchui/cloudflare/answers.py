"""Finds the answer in the `result` of one item, whatever shape the model gives it.

The known shapes are {"response": text, object, scores or vectors}, {"result": {…}} around any of
these (older), a chat completion, a text completion, a Responses object, {"translated_text"}, and
embeddings as {"data": [[…]]}. In any other shape, the whole result is the answer. Reasoning is no
answer; tool calls are one where nothing else was written.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare.redaction import clean
from batchui.cloudflare.tolerant_json import DAMAGED, Other, Scalar, is_nothing, one_line

_DEEPEST = 4
# In bytes: a value that is no longer than null; a text that is blank is hardly longer than that.
_NULL, _LONGEST_BLANK = 4, 64
# A result larger than this is an answer as it is: taking it apart could need twenty times as much
# memory. The largest known ones, vectors of a hundred texts, are a third of it.
LARGEST_TAKEN_APART = 8 * 1024 * 1024
# In the sentences about answers that were cut off, or gave way to reasoning: stored ones are
# recognised by them, also those of older versions.
AT_THE_LIMIT = "the longest answer allowed"
ONLY_REASONED = "The model only reasoned, and wrote no answer."
ALLOW_LONGER = "Allow a longer answer"
CUT_SHORT = (
    f"The model reached {AT_THE_LIMIT} before it wrote anything. {ALLOW_LONGER}, then retry this "
    "row."
)
_ALL_REASONING = (
    f"All the room for the answer went into the model's reasoning: it reached {AT_THE_LIMIT} "
    f"before it wrote anything. {ALLOW_LONGER}, then retry this row."
)
_REASONED_TO_THE_END = f"{ONLY_REASONED} Retry this row, or ask more plainly."
_REASONED_SO_FAR = f"{ONLY_REASONED} {ALLOW_LONGER}, then retry this row."


class Found(Struct, gc=False):
    """The content of a `result`.

    answer, usage: raw JSON on one line, or None. why: a sentence on why the answer is empty. cut:
    whether it ended at the limit of its length; None: the result does not say.
    """

    answer: bytes | None = None
    usage: bytes | None = None
    why: str | None = None
    cut: bool | None = None


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
    status: Any = None
    incomplete_details: Any = None


# What is looked up only where there is no text: these take twice as long to decode.


class _Outputs(Struct):
    output: list[Raw]


class _Thoughts(Struct):
    reasoning_content: Any = None
    reasoning: Any = None


class _Thinking(Struct):
    message: _Thoughts


class _Thought(Struct):
    choices: list[_Thinking]


_RESULT = msgspec.json.Decoder(_Result)
_OUTPUTS = msgspec.json.Decoder(_Outputs)
_THOUGHT = msgspec.json.Decoder(_Thought)
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
    if result.response and (len(result.response) > _NULL or not _gives_way(result)):
        plain = not result.shape and len(result.tool_calls) <= _NULL and result.choices is None
        if plain:  # as most are
            return Found(_kept(result.response), _kept(usage) if usage else None)
        response = _vectors(result.response) if result.shape else result.response
        answer = _or_tools(response, result.tool_calls)
        choices = result.choices if isinstance(result.choices, list) else []
        return _found(answer, usage=usage, cut=_cut_of(choices[0]) if choices else None)
    if isinstance(result.choices, list) and _is_completion(result.choices):
        return _completion(raw, result.choices, usage=usage)
    if isinstance(result.output, list) and _is_responses_object(result.output):
        return _responses_object(raw, result, result.output)
    if result.translated_text:
        return _found(result.translated_text, usage=usage)
    if result.data and (result.shape or _LIST_OF_LISTS.match(result.data)):
        return _found(_vectors(result.data), usage=usage)
    if result.result and depth < _DEEPEST:
        if memoryview(result.result)[0] != ord("{"):
            return _found(result.result, usage=usage)
        found = _read(result.result, depth=depth + 1)
        found.usage = found.usage or _kept(usage)
        return found
    return _found(raw, usage=usage)


def _gives_way(result: _Result) -> bool:
    """Whether its `response` is null, and something else in it is the answer."""
    return bytes(result.response) == b"null" and bool(
        result.choices or result.output or result.translated_text or result.data or result.result
    )


def _found(
    answer: Raw | bytes,
    *,
    usage: Raw | bytes = b"",
    why: str | None = None,
    cut: bool | None = None,
) -> Found:
    return Found(_kept(answer), _kept(usage), why, cut)


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


def _completion(raw: Raw, choices: list[_Choice | Other], *, usage: Raw) -> Found:
    """The answer in the first choice of a chat or text completion. Reasoning is not an answer."""
    choice = choices[0] if choices else None
    if not isinstance(choice, _Choice):
        return _found(b"", usage=usage)
    cut = _cut_of(choice)
    why = CUT_SHORT if cut else None
    message = choice.message
    if not isinstance(message, _Message):
        return Found(_kept(choice.text), _kept(usage), why, cut)
    content: Raw | bytes = message.content
    if content and memoryview(content)[0] == ord("["):
        content = _joined(_PIECES.decode(content)) or content
    if message.tool_calls:
        content = _or_tools(content, message.tool_calls)
    if len(content) <= _LONGEST_BLANK and is_nothing(bytes(content)):
        why = _declined(message.refusal) or _without_a_word(cut, reasoned=_has_reasoned(raw))
    return Found(_kept(content), _kept(usage), why, cut)


def _cut_of(choice: Any) -> bool | None:
    """Whether a choice was cut off by the limit of its length; None: it does not say."""
    reason = choice.finish_reason if isinstance(choice, _Choice) else None
    return reason == "length" if isinstance(reason, str) else None


def _has_reasoned(raw: Raw) -> bool:
    """Whether a chat completion has reasoning."""
    try:
        thoughts = _THOUGHT.decode(raw).choices[0].message
    except DAMAGED:
        return False
    return bool(thoughts.reasoning_content or thoughts.reasoning)


def _without_a_word(cut: bool | None, *, reasoned: bool) -> str | None:
    """Why there is no text, if there is none; None for no known reason.

    reasoned: there is reasoning in its place.
    """
    if cut:
        return _ALL_REASONING if reasoned else CUT_SHORT
    if not reasoned:
        return None
    return _REASONED_SO_FAR if cut is None else _REASONED_TO_THE_END


def _is_responses_object(output: list[_Output | Other]) -> bool:
    return all(isinstance(entry, _Output) and isinstance(entry.type, str) for entry in output)


def _responses_object(raw: Raw, result: _Result, output: list[_Output | Other]) -> Found:
    """The answer in the messages of `output[]`; without one, the calls of functions in it."""
    pieces: list[_Piece | Other] = []
    for entry in output:
        if isinstance(entry, _Output) and entry.type == "message":
            pieces += entry.content if isinstance(entry.content, list) else []
    answer, usage, cut = _joined(pieces), result.usage, _is_incomplete(result)
    if len(answer) > _LONGEST_BLANK or not is_nothing(answer):
        return Found(_kept(answer), _kept(usage), CUT_SHORT if cut else None, cut)
    types = [entry.type for entry in output if isinstance(entry, _Output)]
    if "function_call" in types:
        entries = zip(types, _OUTPUTS.decode(raw).output, strict=True)
        answer = b"[%b]" % b",".join(one for kind, one in entries if kind == "function_call")
    refusals = [_declined(piece.refusal) for piece in pieces if isinstance(piece, _Piece)]
    why = next(filter(None, refusals), None)
    why = why or _without_a_word(cut, reasoned="reasoning" in types)
    return _found(answer, usage=usage, why=why, cut=cut)


def _is_incomplete(result: _Result) -> bool | None:
    """Whether a Responses object was cut off by the limit of its length; None: it does not say."""
    details = result.incomplete_details
    reason = details.get("reason") if isinstance(details, dict) else None
    if isinstance(reason, str):
        return reason == "max_output_tokens"
    return False if result.status == "completed" else None


def _joined(pieces: list[_Piece | Other]) -> bytes:
    """The texts of all pieces as one JSON string, b"" if no piece has a text."""
    texts = [piece.text if isinstance(piece, _Piece) else piece for piece in pieces]
    known = [text for text in texts if isinstance(text, str)]
    return msgspec.json.encode("".join(known)) if known else b""


def _declined(refusal: Any) -> str | None:
    if not isinstance(refusal, str) or not refusal.strip():
        return None
    said = clean(refusal).rstrip(".")
    return f"The model declined to answer: “{said}”. Ask differently, then retry."
