"""Texts that come from outside, made fit to be quoted in a sentence or a log."""

import re
from typing import Any

import msgspec

LONGEST_QUOTE = 240

_SECRETS = re.compile(r"(?i:bearer)\s+[^\s\"',;]+|\bcf[a-z]{1,3}_[A-Za-z0-9_-]{16,}")


def clean(text: str, *, hide: str = "", longest: int = LONGEST_QUOTE) -> str:
    """`text` on one line, at most `longest` long, without `hide` and what looks like a token."""
    if hide:
        text = text.replace(hide, "[token]")
    text = _SECRETS.sub("[token]", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    while text.startswith("AiError: "):
        text = text.removeprefix("AiError: ")
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def quote(reason: str) -> str:
    """Cloudflare's cleaned words as a sentence of ours, with a blank before it; "" for none."""
    return f" Cloudflare says: “{reason.rstrip('.')}”." if reason else ""


def error_text(value: Any) -> str:
    """The words in an error of unknown shape: text, an object, or a list of either; "" for none.

    How Cloudflare names and shapes them is not documented: clients met text and objects.
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
