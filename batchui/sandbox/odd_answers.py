"""Results with something odd about them, for scripted faults: empty, unfit, cut off, no text.

Each fault changes what the models of a kind can have; a result of another kind stays as it is.
"""

from typing import Any

import msgspec

from batchui.sandbox.models import Kind, Model
from batchui.sandbox.shapes import NOT_THOUGHT, Usage, message, thinking
from batchui.sandbox.texts import MARK

# The fields of a Responses object that say that it was cut off.
_INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
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
_TOOL = {"name": "look_up", "arguments": {"sandbox": "No AI model ran."}}


def made_odd(model: Model, result: Any, *, fault: str, form: str, longest: int) -> Any:
    """The result with a fault of FAULTS.

    longest: the longest answer that was asked for, in tokens. The result of a Kind.OTHER stays.
    """
    if model.kind is Kind.OTHER:
        return result
    match fault:
        case "empty":
            return emptied(model, result, form)
        case "unfit":
            return unfit(model, result, form)
        case "cut_off":
            return cut_off(model, result, longest)
        case "tool_calls":
            return calling_a_tool(model, result)
        case "reasoning":
            return only_reasoned(model, result, longest, was_cut=form == "length")
    raise ValueError(f"{fault!r} is no fault of a result")


FAULTS = frozenset({"empty", "unfit", "cut_off", "tool_calls", "reasoning"})


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
    return _with(model, result, f"Here it is:\n```json\n{text}\n```\nI hope this helps.")


def cut_off(model: Model, result: Any, longest: int) -> Any:
    """The result with the first half of its text, and with what its shape has to say that.

    {"response"} has nothing to say it; its usage counts as many tokens as it might have.
    """
    if model.kind not in {Kind.CHAT, Kind.COMPLETION, Kind.RESPONSES}:
        return result
    text = _text_of(model, result)
    half = _with(model, result, text[: max(1, len(text) // 2)])
    match model.kind:
        case Kind.CHAT:
            return {**half, "usage": Usage(1, longest).as_json()}
        case Kind.COMPLETION:
            return {**half, "choices": [{**half["choices"][0], "finish_reason": "length"}]}
    return {**half, **_INCOMPLETE}


def calling_a_tool(model: Model, result: Any) -> Any:
    """The result with the call of a tool in place of its text."""
    name, arguments = _TOOL["name"], msgspec.json.encode(_TOOL["arguments"]).decode()
    match model.kind:
        case Kind.CHAT:
            return {**result, "response": None, "tool_calls": [_TOOL]}
        case Kind.COMPLETION if "message" in result["choices"][0]:
            function = {"name": name, "arguments": arguments}
            call = {"id": "call_1", "type": "function", "function": function}
            said = {**result["choices"][0]["message"], "content": None, "tool_calls": [call]}
            choice = {**result["choices"][0], "message": said, "finish_reason": "tool_calls"}
            return {**result, "choices": [choice]}
        case Kind.RESPONSES:
            call = {"type": "function_call", "call_id": "call_1", "name": name}
            return {**result, "output": [thinking(), {**call, "arguments": arguments}]}
    return result


def only_reasoned(model: Model, result: Any, longest: int, *, was_cut: bool) -> Any:
    """The result with reasoning and no text. was_cut: because all the room went into reasoning.

    The shape {"response"} has no reasoning: it is null, with as many tokens as it might have.
    """
    match model.kind:
        case Kind.CHAT:
            written = longest if was_cut else 1
            return {**result, "response": None, "usage": Usage(1, written).as_json()}
        case Kind.COMPLETION:
            choice = _with(model, result, None)["choices"][0]
            if "message" in choice:
                choice["message"] = {**choice["message"], "reasoning_content": NOT_THOUGHT}
            choice["finish_reason"] = "length" if was_cut else "stop"
            return {**result, "choices": [choice]}
        case Kind.RESPONSES:
            return {**result, "output": [thinking()], **(_INCOMPLETE if was_cut else {})}
    return result


def _text_of(model: Model, result: Any) -> str:
    """What the model wrote; of a model that does not write, its result as JSON."""
    found = result
    match model.kind:
        case Kind.CHAT:
            found = result["response"]
        case Kind.COMPLETION:
            choice = result["choices"][0]
            found = choice["text"] if "text" in choice else choice["message"]["content"]
        case Kind.RESPONSES:
            found = result["output"][-1]["content"][0]["text"]
    return found if isinstance(found, str) else msgspec.json.encode(found).decode()


def _with(model: Model, result: Any, value: Any) -> Any:
    """The result with this value in the place of what the model wrote."""
    text = value if isinstance(value, str) else None
    match model.kind:
        case Kind.CHAT:
            return {**result, "response": value}
        case Kind.COMPLETION:
            return {**result, "choices": [_emptied_choice(result["choices"][0], text)]}
        case Kind.RESPONSES:
            return {**result, "output": [] if text is None else [thinking(), message(text)]}
        case Kind.TRANSLATION:
            return {"translated_text": text}
    return {**result, "data" if "data" in result else "response": []}


def _emptied_choice(choice: dict[str, Any], text: str | None) -> dict[str, Any]:
    if "text" in choice:
        return {**choice, "text": text}
    return {**choice, "message": {**choice["message"], "content": text}}
