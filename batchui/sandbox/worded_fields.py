"""Recognises an instruction that names the fields of a JSON object, in the words of batchui.

Models without a `response_format` are asked in words alone, and most of them do as they are told:

    Answer with one JSON object and nothing else. It has exactly these fields:
    - "tone": one of "good", "bad". How the guest feels
"""

import re
from typing import Any

import msgspec

_ASKED = re.compile(r"^Answer with one JSON object\b.*:$", re.MULTILINE)
_WORDS = re.compile(r"\AAnswer with one JSON object\b.*:\n(?:- .*\n)*\n*")
_STRING = r'"(?:[^"\\]|\\.)*"'
_FIELD = re.compile(
    rf"^- ({_STRING}): (?:(a text|a number|true or false)|(one of|a list of any of) "
    rf"({_STRING}(?:, {_STRING})*))",
    re.MULTILINE,
)
_TYPES = {"a text": "string", "a number": "number", "true or false": "boolean"}


def schema_of(instruction: str) -> dict[str, Any] | None:
    """The schema of the object that is asked for; None if none is."""
    asked = _ASKED.search(instruction)
    fields = _FIELD.finditer(instruction, asked.end()) if asked else ()
    properties = {_text(field[1]): _property(field) for field in fields}
    return {"type": "object", "properties": properties} if properties else None


def without(prompt: str) -> str:
    """The prompt without these words at its beginning: where a model takes no instruction."""
    return _WORDS.sub("", prompt)


def _property(field: re.Match[str]) -> dict[str, Any]:
    if field[2]:
        return {"type": _TYPES[field[2]]}
    choices = {"type": "string", "enum": list(map(_text, re.findall(_STRING, field[4])))}
    return choices if field[3] == "one of" else {"type": "array", "items": choices}


def _text(quoted: str) -> str:
    return msgspec.json.decode(quoted, type=str)
