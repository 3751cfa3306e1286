"""Texts about a prompt: useful for trying the product, plainly not written by a model."""

from __future__ import annotations

import re
from zlib import crc32

MARK = "[sandbox]"
# Long prompts are looked at from the start only: enough to see what is asked, and quick.
_LOOKED_AT = 2_000
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_LANGUAGE = re.compile(r"\b(?:in)?to ([A-Z][a-z]+|[a-z]{2})\b")
_CHOICES = re.compile(r"(?:[\w-]+, )*[\w-]+,? or [\w-]+")
_SUMMARISE = ("summar", "shorten", "in one sentence")
_EXTRACT = ("extract", "keyword", "list the ", "list all ")
_CLASSIFY = ("classif", "categor", "sentiment", "label")

_GOOD_WORDS = """
    amazing beautiful best brilliant delicious delighted excellent fantastic friendly glad good
    great happy helpful love loved lovely nice perfect pleased quick recommend superb thank
    thanks well wonderful
"""
_GOOD = frozenset(_GOOD_WORDS.split())
_BAD_WORDS = """
    angry awful bad boring broke broken cold damaged disappointed disappointing dirty fault
    faulty hate horrible late never not poor refund rude sad slow terrible unhappy useless worse
    worst wrong
"""
_BAD = frozenset(_BAD_WORDS.split())
_OPPOSITES = {"positive": 1, "good": 1, "yes": 1, "negative": -1, "bad": -1, "no": -1, "neutral": 0}


def words(text: str) -> list[str]:
    """The words near the start of a text, in order."""
    return _WORD.findall(text[:_LOOKED_AT])


def tokens(text: str) -> int:
    """A rough count, at four characters a token."""
    return (len(text) + 3) // 4


def cut(text: str, max_tokens: int) -> tuple[str, bool]:
    """The text within `max_tokens`, and whether something was cut off."""
    longest = max(1, max_tokens) * 4
    return (text[:longest], True) if len(text) > longest else (text, False)


def mood(text: str) -> int:
    """1 glad, -1 angry, 0 neither: by counting a few plain words."""
    found = [word.lower() for word in words(text)]
    balance = sum(word in _GOOD for word in found) - sum(word in _BAD for word in found)
    return (balance > 0) - (balance < 0)


def choose(options: list[str], text: str) -> str:
    """The option that suits the text: one it names, one of its mood, or always the same one."""
    moods = {_OPPOSITES[o.lower()]: o for o in options if o.lower() in _OPPOSITES}
    if len(moods) > 1:
        return moods.get(mood(text)) or options[-1]
    lowered = text[:_LOOKED_AT].lower()
    named = [option for option in options if option.lower() in lowered]
    return named[0] if named else options[crc32(text.encode()) % len(options)]


def subject(prompt: str) -> str:
    """What the prompt is about, without what it asks."""
    return _parted(prompt)[1]


def answer(prompt: str, *, instruction: str = "") -> str:
    """An answer to a prompt (what the user said) under an instruction (what the system said)."""
    asked, about = _parted(prompt)
    if instruction:
        asked, about = f"{instruction}\n{asked[:_LOOKED_AT]}", prompt.strip()
    asked = asked[:_LOOKED_AT]
    lowered = asked.lower()
    if "translat" in lowered:
        language = _LANGUAGE.search(asked)
        return f"{MARK} [{language[1] if language else 'translated'}] {about}"
    if _any(_SUMMARISE, lowered):
        return f"{MARK} Summary: {_excerpt(_SENTENCE_END.split(about, maxsplit=1)[0], 160)}"
    options, classify = _options(asked), _any(_CLASSIFY, lowered)
    if options and (len(options) > 2 or classify or asked.rstrip().endswith("?")):
        return f"{MARK} {choose(options, about)}"
    if classify:
        return f"{MARK} {choose(['positive', 'negative', 'neutral'], about)}"
    if _any(_EXTRACT, lowered):
        return f"{MARK} {', '.join(salient(about, 5))}"
    return (
        f"{MARK} No AI model ran. The prompt has {len(prompt):,} characters in "
        f'{len(prompt.split()):,} words and begins: "{_excerpt(prompt.strip(), 120)}"'
    )


def _parted(prompt: str) -> tuple[str, str]:
    """What a prompt asks, and of what: by a question in the last line, else by the first line or
    colon; both are the whole prompt where neither parts it."""
    prompt = prompt.strip()
    before, _, last = prompt.rpartition("\n")
    if before.strip() and last.endswith("?"):
        return last, before.strip()
    for mark in ("\n", ": "):
        first, _, rest = prompt.partition(mark)
        if rest.strip():
            return first, rest.strip()
    return prompt, prompt


def _any(hints: tuple[str, ...], text: str) -> bool:
    return any(hint in text for hint in hints)


def salient(text: str, count: int) -> list[str]:
    """Up to `count` different words that stand out: names as they come, then long words."""
    found = dict.fromkeys(words(text))
    names = [word for word in found if word[0].isupper() and len(word) > 3]
    others = sorted(found.keys() - set(names), key=lambda word: (-len(word), word))
    return [*names, *others][:count] or ["nothing"]


def _excerpt(text: str, longest: int) -> str:
    flat = " ".join(text[: longest * 2].split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1].rstrip()}…"


def _options(asked: str) -> list[str]:
    """The choices in "a, b or c"."""
    place = asked.find(" or ")
    if place < 0:
        return []
    found = _CHOICES.search(asked[max(0, place - 100) : place + 50])
    return re.split(r",? or |, ", found[0]) if found else []
