"""An answer as it stands in a cell."""

import json

import msgspec

_decode_text = msgspec.json.Decoder(str).decode


def answer_text(answer: bytes | None) -> str:
    """The text of a cell for an answer in raw JSON."""
    if answer is None:
        return ""
    try:
        if answer.startswith(b'"'):
            return _decode_text(answer)
        text = msgspec.json.format(answer, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _damaged_text(answer)
    return "" if text == "null" else text


def _damaged_text(answer: bytes) -> str:
    """The text of an answer that is not valid JSON, for example cut off within a character.

    JavaScript writes such a character as half a surrogate pair.
    """
    text = answer.decode("utf-8", "replace")
    try:
        loaded = json.loads(text)
    except ValueError:
        return text
    return loaded if isinstance(loaded, str) else text
