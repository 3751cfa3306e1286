"""An item of a batch as a call of an upstream.

Cloudflare's models take items of several forms; OpenAI's wire has one call for texts and one for
embeddings:

    messages, or a prompt             POST /chat/completions
    input (of a Responses request)    the same, its messages translated
    text and target_lang              the same, with an instruction to translate
    text                              POST /embeddings
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from batchui.sandbox.upstream import chat

Form = Literal["chat", "translation", "embeddings"]
_PATHS: dict[Form, str] = {
    "chat": "/chat/completions",
    "translation": "/chat/completions",
    "embeddings": "/embeddings",
}


class CannotAsk(Exception):
    """The item is none that an upstream can be asked. str() says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call. form: what is asked for, and so what the answer looks like."""

    form: Form
    body: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """Below the address of the upstream."""
        return _PATHS[self.form]


def read(raw: bytes) -> dict[str, Any]:
    """The fields of an item. Raises CannotAsk if it is not a JSON object."""
    try:
        item = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        item = None
    if not isinstance(item, dict):
        raise CannotAsk("the item is not a JSON object")
    return item


def question(item: dict[str, Any], *, model: str) -> Question:
    """The call that asks an item of the upstream's `model`. Raises CannotAsk."""
    try:
        form, body = _asked(item)
    except msgspec.DecodeError:
        raise CannotAsk("its guided_json is not JSON") from None
    return Question(form, msgspec.json.encode({"model": model, **body}))


def _asked(item: dict[str, Any]) -> tuple[Form, dict[str, Any]]:
    text, language = item.get("text"), item.get("target_lang")
    if isinstance(item.get("messages"), list):
        return "chat", {"messages": item["messages"], **chat.options(item)}
    if isinstance(item.get("prompt"), str):
        return "chat", {"messages": [chat.user(item["prompt"])], **chat.options(item)}
    if "input" in item:
        messages = chat.messages_of_input(item)
        if messages is None:
            raise CannotAsk("its input is neither a text nor a list of messages")
        return "chat", {"messages": messages, **chat.options(item)}
    if isinstance(text, str) and isinstance(language, str):
        return "translation", {
            "messages": chat.translating(text, item.get("source_lang"), language)
        }
    if "contexts" in item:
        raise CannotAsk("a local model cannot score contexts against a query")
    if isinstance(text, str) or (isinstance(text, list) and all(isinstance(t, str) for t in text)):
        return "embeddings", {"input": text}
    raise CannotAsk("it has none of messages, prompt, input and text")
