"""Cleans texts from outside, so that a sentence or a log can quote them."""

import re
from typing import Any

import msgspec

LONGEST_QUOTE = 240
# In bytes: of a reply that is kept as it came.
LONGEST_RAW = 4_000
DEEPEST_ERROR = 10

_SECRETS = re.compile(r"(?i:bearer)\s+[^\s\"',;]+|\bcf[a-z]{1,3}_[A-Za-z0-9_-]{16,}")


def clean(text: str, *, longest: int = LONGEST_QUOTE) -> str:
    """The text on one line, at most `longest` long, without what looks like a token."""
    text = _SECRETS.sub("[token]", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    while text.startswith("AiError: "):
        text = text.removeprefix("AiError: ")
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def as_it_came(body: bytes) -> str:
    """The beginning of a reply that nobody understood, with its line breaks, for people to see.

    What looks like a token is not in it.
    """
    text = _SECRETS.sub("[token]", body[:LONGEST_RAW].decode("utf-8", "replace"))
    text = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text).strip()
    return f"{text} …" if len(body) > LONGEST_RAW else text


def quote(reason: str) -> str:
    """A blank and a sentence with Cloudflare's reason; "" without a reason."""
    return f" Cloudflare says: “{reason.rstrip('.')}”." if reason else ""


def error_text(value: Any, *, deepest: int = DEEPEST_ERROR) -> str:
    """The words in an error: a text, an object, or a list of those. "" if there are none.

    The shape of errors is not documented; texts and objects have been seen. Below `deepest` levels
    nothing is looked for.
    """
    if not deepest:
        return ""
    match value:
        case str():
            return value
        case list():
            inside = (error_text(one, deepest=deepest - 1) for one in value)
            return next((text for text in inside if text), "")
        case dict():
            names = ("message", "error", "detail", "reason", "description", "errors")
            inside = (error_text(value.get(name), deepest=deepest - 1) for name in names)
            known = next((text for text in inside if text), "")
            return known or (msgspec.json.encode(value).decode() if value else "")
        case _:
            return ""
