"""The parts of a chat completion's request, made of what Cloudflare's models take."""

from typing import Any

import msgspec

# Fields that mean the same on both sides. What an upstream does not know it ignores or refuses, and
# only fields that somebody has set are in an item.
_SAME = (
    *("max_tokens", "max_completion_tokens", "stop", "seed", "temperature", "top_p", "top_k"),
    *("min_p", "frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias"),
    *("tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "chat_template_kwargs"),
)
# Not every local model knows the newer name.
_ROLES = {"developer": "system"}


def user(content: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def system(content: Any) -> dict[str, Any]:
    """A message with an instruction."""
    return {"role": "system", "content": content}


def translating(text: str, source: Any, target: str) -> list[dict[str, Any]]:
    """Messages that ask for a translation. source, target: languages, or their codes."""
    origin = f" from “{source}”" if isinstance(source, str) and source else ""
    instruction = (
        f"Translate what the user writes{origin} into the language “{target}”. "
        "Answer with the translation and nothing else."
    )
    return [system(instruction), user(text)]


def options(item: dict[str, Any]) -> dict[str, Any]:
    """The fields beside the messages."""
    found = {name: item[name] for name in _SAME if item.get(name) is not None}
    if item.get("max_output_tokens") is not None:  # of a Responses request
        found.setdefault("max_tokens", item["max_output_tokens"])
    reasoning = item.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("effort"):
        found.setdefault("reasoning_effort", reasoning["effort"])
    form = _response_format(item)
    return found if form is None else {**found, "response_format": form}


def _response_format(item: dict[str, Any]) -> Any:
    """The form of the answer as OpenAI's wire names it.

    Cloudflare takes a schema as it is, too, and calls it `guided_json` at some models; a Responses
    request has it in `text.format`.
    """
    guided = item.get("guided_json")
    if guided is not None:
        schema = msgspec.json.decode(guided) if isinstance(guided, str) else guided
        return _of_schema(schema)
    form = item.get("response_format")
    text = item.get("text")
    if form is None and isinstance(text, dict):
        form = text.get("format")
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return form
    wrapped = form.get("json_schema", form)
    is_named = isinstance(wrapped, dict) and isinstance(wrapped.get("schema"), dict)
    if not is_named:
        return _of_schema(wrapped)
    kept = {name: wrapped[name] for name in ("schema", "strict") if name in wrapped}
    return {"type": "json_schema", "json_schema": {"name": wrapped.get("name") or "answer", **kept}}


def _of_schema(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def messages_of_input(item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages of a Responses request; None if its input is something else."""
    given = item["input"]
    if isinstance(given, str):
        given = [user(given)]
    if not isinstance(given, list) or not given:
        return None
    messages = [_message(one) for one in given]
    known = [one for one in messages if one is not None]
    if len(known) < len(messages):
        return None
    instructions = item.get("instructions")
    return [system(instructions), *known] if isinstance(instructions, str) else known


def _message(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict) or given.get("type", "message") != "message":
        return None
    role, content = given.get("role", "user"), given.get("content")
    if isinstance(content, list):
        content = [_piece(one) for one in content]
    if content is None or not isinstance(role, str):
        return None
    return {"role": _ROLES.get(role, role), "content": content}


def _piece(given: Any) -> Any:
    """A piece of a message: a text or a picture, under the name it has in a chat completion."""
    match given:
        case {"type": "input_text" | "output_text", "text": text}:
            return {"type": "text", "text": text}
        case {"type": "input_image", "image_url": str(address)}:
            return {"type": "image_url", "image_url": {"url": address}}
    return given
