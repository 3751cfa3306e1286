"""One item of a batch (or the body of a synchronous run): reading it, and checking it."""

from __future__ import annotations

from typing import Any

import msgspec

from batchui.sandbox.models import Kind, Model

# What m2m100 turned down when it was asked, though its own lists name them.
_REJECTED = "as kok sat ks eu doi mai sa brx te tk mni ky tg mt rw ny ug"
REJECTED_LANGUAGES = frozenset(_REJECTED.split())
_MOST_TEXTS = 100


class Item(msgspec.Struct, kw_only=True):
    """Fields of every kind of model; anything may be missing or of the wrong type."""

    prompt: Any = None
    messages: Any = None
    input: Any = None
    text: Any = None
    contexts: Any = None
    query: Any = None
    source_lang: Any = None
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
        return [self.text] if isinstance(self.text, str) else self.text

    def asked(self) -> tuple[str, str]:
        """What the user says (the last message) and what the system says."""
        if isinstance(self.prompt, str):
            return self.prompt, ""
        if isinstance(self.input, str):
            return self.input, ""
        said: dict[str, str] = {}
        for message in self.messages or self.input or []:
            said[str(message.get("role", "user"))] = _text(message.get("content"))
        system = said.pop("system", "") or said.pop("developer", "")
        return said.get("user") or "".join(list(said.values())[-1:]), system

    def schema(self) -> Any:
        """The JSON Schema asked for, {} for any JSON object, None for plain text.

        The real API takes the schema itself as `json_schema` and OpenAI's {"name", "schema"}.
        """
        if self.guided_json is not None:
            if isinstance(self.guided_json, str):
                return msgspec.json.decode(self.guided_json)
            return self.guided_json
        form = self.response_format
        if form is None and isinstance(self.text, dict):
            form = self.text.get("format")
        if not isinstance(form, dict):
            return None
        if form.get("type") == "json_object":
            return {}
        if form.get("type") != "json_schema":
            return None
        schema = form.get("json_schema", form)
        if isinstance(schema, dict) and isinstance(schema.get("schema"), dict):
            return schema["schema"]
        return schema


def read(raw: bytes | msgspec.Raw) -> Item | None:
    """The item, or None when it is no JSON object."""
    try:
        return msgspec.json.decode(raw, type=Item)
    except msgspec.MsgspecError:
        return None


def problem(model: Model, item: Item | None, *, queued: bool) -> str:
    """What is wrong with an item for this model, in a few words; "" when nothing is."""
    if item is None:
        return "Type mismatch, object expected"
    match model.kind:
        case Kind.EMBEDDING:
            return "" if _is_texts(item.text) else _required("text")
        case Kind.RANKING:
            good = _is_texts(item.text) or _is_contexts(item.contexts)
            return "" if good else _required("text", "contexts")
        case Kind.TRANSLATION:
            missing = [n for n in ("text", "target_lang") if not _is_text(getattr(item, n))]
            return _required(*missing) if missing else ""
        case Kind.RESPONSES if queued:
            good = _is_text(item.input) or _is_messages(item.input)
            return "" if good else _required("input")
        case Kind.OTHER:
            return ""
    talks = (item.prompt, item.input) if model.kind is Kind.RESPONSES else (item.prompt,)
    good = any(map(_is_text, talks)) or any(map(_is_messages, (item.messages, item.input)))
    return "" if good else _required("prompt", "messages")


def _required(*names: str) -> str:
    return "required properties are " + " or ".join(f"'{name}'" for name in names)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_texts(value: Any) -> bool:
    if isinstance(value, list):
        return 0 < len(value) <= _MOST_TEXTS and all(map(_is_text, value))
    return _is_text(value)


def _is_contexts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and _is_text(one.get("text")) for one in value)
    )


def _is_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and "content" in one for one in value)
    )


def _text(content: Any) -> str:
    """The text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
