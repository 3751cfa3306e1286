"""Finds the JSON that a model wrote as text: bare, in a code fence, or with words around it."""

import re

import msgspec

from batchui.cloudflare.json_scanner import depth
from batchui.cloudflare.tolerant_json import DAMAGED

# A longer text is an answer as it is.
LONGEST = 1_000_000
# What is nested deeper stays a text.
DEEPEST = 100
# The first block between fences; a text that was cut off has no closing one.
_FENCED = re.compile(r"```[ \t]*\w*[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|\Z)", re.DOTALL)
_decode_text = msgspec.json.Decoder(str).decode
_decode = msgspec.json.Decoder().decode


def unwrapped(answer: bytes, *, anywhere: bool = False) -> bytes:
    """The JSON object or list that an answer, a JSON string, is the text of; on one line.

    It may stand in a code fence. anywhere: other words may stand around it. Any other answer stays
    what it is. answer: valid JSON on one line.
    """
    if not answer.startswith(b'"') or len(answer) > LONGEST:
        return answer
    try:
        text = _decode_text(answer).strip()
    except DAMAGED:
        return answer
    whole, inside = _FENCED.fullmatch(text), _FENCED.search(text) if anywhere else None
    parts = [text, *(block[1].strip() for block in (whole, inside) if block)]
    if anywhere:
        parts.append(_between_braces(text))
    return next(filter(None, map(_whole_json, parts)), answer)


def _between_braces(text: str) -> str:
    """What stands from the first brace to the last one."""
    return text[text.find("{") : text.rfind("}") + 1]


def _whole_json(text: str) -> bytes:
    """The text as JSON on one line, if it is that of an object or a list; else b""."""
    if not text.startswith(("{", "[")):
        return b""
    try:
        raw = text.encode()
        _decode(raw)
        found = bytes(msgspec.json.format(raw, indent=-1))
    except (*DAMAGED, UnicodeEncodeError):
        return b""
    return found if depth(found) <= DEEPEST else b""
