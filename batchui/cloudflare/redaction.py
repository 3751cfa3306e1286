"""Cleans texts from outside, so that a sentence or a log can quote them."""

import re
from typing import Any

import msgspec

LONGEST_QUOTE = 240

_SECRETS = re.compile(r"(?i:bearer)\s+[^\s\"',;]+|\bcf[a-z]{1,3}_[A-Za-z0-9_-]{16,}")


def clean(text: str, *, hide: str = "", longest: int = LONGEST_QUOTE) -> str:
    """The text on one line, at most `longest` long, without `hide` and what looks like a token."""
    if hide:
        text = text.replace(hide, "[token]")
    text = _SECRETS.sub("[token]", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    while text.startswith("AiError: "):
        text = text.removeprefix("AiError: ")
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def quote(reason: str) -> str:
    """A blank and a sentence with Cloudflare's reason; "" without a reason."""
    return f" Cloudflare says: “{reason.rstrip('.')}”." if reason else ""


def error_text(value: Any) -> str:
    """The words in an error: a text, an object, or a list of those. "" if there are none.

    The shape of errors is not documented; texts and objects have been seen.
    """
    match value:
        case str():
            return value
        case list():
            return next((text for text in map(error_text, value) if text), "")
        case dict():
            names = ("message", "error", "detail", "reason", "description", "errors")
            known = next((text for name in names if (text := error_text(value.get(name)))), "")
            return known or (msgspec.json.encode(value).decode() if value else "")
        case _:
            return ""
