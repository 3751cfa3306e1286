"""One item of a batch (or the body of a synchronous run): reading it, and checking it."""

from collections.abc import Callable
from typing import Any

import msgspec

from batchui.sandbox.models import Kind, Model

_MOST_TEXTS = 100
# One form of an item: the fields that it must have, each with the check of its value.
Form = dict[str, Callable[[Any], bool]]


class Item(msgspec.Struct, kw_only=True):
    """Fields of every kind of model; anything may be missing or of the wrong type."""

    prompt: Any = None
    messages: Any = None
    input: Any = None
    text: Any = None
    contexts: Any = None
    query: Any = None
    target_lang: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    max_output_tokens: Any = None
    response_format: Any = None
    guided_json: Any = None
    external_reference: Any = None

    @property
    def longest(self) -> int:
        """The largest number of tokens in the answer; 256 is the API's default."""
        for limit in (self.max_tokens, self.max_completion_tokens, self.max_output_tokens):
            if isinstance(limit, int) and limit > 0:
                return limit
        return 256

    @property
    def texts(self) -> list[str]:
        """The texts to embed: `text`, or those of the contexts."""
        if not _is_texts(self.text):
            return [context["text"] for context in self.contexts]
        return [self.text] if isinstance(self.text, str) else self.text

    def asked(self) -> tuple[str, str]:
        """The text of the user (the last message) and of the system."""
        for text in (self.prompt, self.input):
            if _is_text(text):
                return text, ""
        by_role: dict[str, str] = {}
        for message in self.messages if _is_messages(self.messages) else self.input:
            by_role[str(message.get("role", "user"))] = _text(message.get("content"))
        system = by_role.pop("system", "") or by_role.pop("developer", "")
        return by_role.get("user") or "".join(list(by_role.values())[-1:]), system

    @property
    def pictures(self) -> list[int]:
        """The sizes of the pictures that came as data URLs, in bytes, about."""
        messages = self.messages if _is_messages(self.messages) else ()
        parts = [part for message in messages for part in _parts(message.get("content"))]
        urls = [_url(part.get("image_url")) for part in parts]
        return [len(url) * 3 // 4 for url in urls if url.startswith("data:image/")]

    def schema(self) -> Any:
        """The JSON Schema that the item asks for; {} for any JSON object, None for plain text.

        As `json_schema` the real API accepts the schema itself, and OpenAI's {"name", "schema"}.
        Raises ValueError for a `guided_json` text that is not JSON.
        """
        if isinstance(self.guided_json, str):
            return msgspec.json.decode(self.guided_json)
        if self.guided_json is not None:
            return self.guided_json
        form = self.response_format
        if form is None and isinstance(self.text, dict):
            form = self.text.get("format")  # of a Responses request
        return _schema_of(form) if isinstance(form, dict) else None


def _schema_of(form: dict[str, Any]) -> Any:
    if form.get("type") == "json_object":
        return {}
    if form.get("type") != "json_schema":
        return None
    schema = form.get("json_schema", form)
    inner = schema.get("schema") if isinstance(schema, dict) else None
    return inner if isinstance(inner, dict) else schema


def read(raw: bytes | msgspec.Raw) -> Item | None:
    """The item; None if it is not a JSON object."""
    try:
        return msgspec.json.decode(raw, type=Item)
    except msgspec.MsgspecError:
        return None


def forms_of(model: Model) -> list[Form]:
    """The forms that an item for this model may have."""
    return [*_FORMS[model.kind], _CONTEXTS] if model.contexts else _FORMS[model.kind]


def problem(model: Model, item: Item | None) -> str:
    """What is wrong with an item for this model, in a few words; "" if nothing is."""
    if item is None:
        return "Type mismatch, object expected"
    forms = forms_of(model)
    for form in forms:
        if all(fits(getattr(item, field)) for field, fits in form.items()):
            return ""
    names = " or ".join(" and ".join(f"'{field}'" for field in form) for form in forms)
    return f"required properties are {names}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and value != [] and all(map(fits, value))


def _is_texts(value: Any) -> bool:
    return _is_text(value) or (_is_list(value, _is_text) and len(value) <= _MOST_TEXTS)


def _is_contexts(value: Any) -> bool:
    return _is_list(value, lambda one: isinstance(one, dict) and _is_text(one.get("text")))


def _is_messages(value: Any) -> bool:
    return _is_list(value, lambda one: isinstance(one, dict) and "content" in one)


def _is_input(value: Any) -> bool:
    return _is_text(value) or _is_messages(value)


_TALK: list[Form] = [{"prompt": _is_text}, {"messages": _is_messages}]
_CONTEXTS: Form = {"contexts": _is_contexts}
_FORMS: dict[Kind, list[Form]] = {
    Kind.CHAT: _TALK,
    Kind.COMPLETION: _TALK,
    Kind.RESPONSES: [{"input": _is_input}],
    Kind.EMBEDDING: [{"text": _is_texts}],
    Kind.TRANSLATION: [{"text": _is_text, "target_lang": _is_text}],
    Kind.OTHER: [{}],
}


def _text(content: Any) -> str:
    """The text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        texts = [part.get("text") for part in _parts(content)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _parts(content: Any) -> list[dict[str, Any]]:
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _url(given: Any) -> str:
    url = given.get("url") if isinstance(given, dict) else given
    return url if isinstance(url, str) else ""
