"""Texts about a prompt: useful for trying the product, clearly not written by a model."""

import re
from zlib import crc32

MARK = "[sandbox]"
# Only the start of a long prompt is read: it shows what is asked, and is quick.
_READ = 2_000
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_QUOTES = re.compile("[\"'“”‘’`*]")
# A few words of a question, then the text of the row: "Summarise what was liked in Lovely room".
_TEXT_INSIDE = re.compile(r"[A-Z][a-z]+(?: [a-z]+){2,} (?=[A-ZÀ-Þ][\w’'-]*,? \w)")
# What a question calls the text below it: "Text: Lovely room".
_CALLED = re.compile(r"\A[A-ZÀ-Þ][\w ]{1,20}: (?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LANGUAGE = re.compile(r"\b(?:in)?to ([A-Z][a-z]+|[a-z]{2})\b")
_YES_OR_NO = re.compile(r"\b(yes)(?:,? or | ?/ ?)(no)\b", re.I)
_CHOICES = re.compile(r"(?:[\w-]+, )*[\w-]+,? or [\w-]+")
_LIST = re.compile(
    r"\b(?:one of|categor(?:y|ies)|labels?|tags?|topics?|options|choose|pick)\b[^:\n.?!]{0,60}:"
    r"\s*([^\n.?!:]+)",
    re.I,
)
_LONGEST_CHOICE = 40
_SCALE = re.compile(r"\b(\d{1,4})(?: ?(?:to|-|–) ?)(\d{1,4})\b")
_RATE = ("rate", "rating", "scale", "score", "stars", "from ")
# "One or two sentences" is a size and not a choice.
_SIZES = frozenset({"one", "two", "three", "four", "more", "less", "so"})
_VERB_QUESTION = re.compile(
    r"(is|are|was|were|do|does|did|has|have|can|could|will|would|should)\b.*\?", re.I | re.S
)
_ASKING = re.compile(r"(answer|reply|respond|say|choose|pick|decide|classify|rate|label)\b", re.I)
_SUMMARISE = ("summar", "shorten", "in one sentence")
_EXTRACT = ("extract", "keyword", "list the ", "list all ")
_CLASSIFY = ("classif", "categor", "sentiment", "label")


def words(text: str) -> list[str]:
    """The words near the start of a text, in order."""
    return _WORD.findall(text[:_READ])


def tokens(text: str) -> int:
    """A rough number of tokens: one for four characters."""
    return (len(text) + 3) // 4


def cut(text: str, max_tokens: int) -> tuple[str, bool]:
    """The text within `max_tokens`, and whether something was cut off."""
    longest = max(1, max_tokens) * 4
    return (text[:longest], True) if len(text) > longest else (text, False)


def choose(options: list[str], text: str) -> str:
    """The option that the text contains, if it contains only one; else one of them.

    It is always the same for the same text.
    """
    found = {word.lower() for word in words(text)}
    named = [option for option in options if option.lower() in found]
    return named[0] if len(named) == 1 else options[crc32(text.encode()) % len(options)]


def likeness(first: str, second: str) -> float:
    """The share of the words of the first text that are also in the second, from 0 to 1."""
    wanted, found = ({word.lower() for word in words(text)} for text in (first, second))
    return round(len(wanted & found) / (len(wanted) or 1), 6)


def subject(prompt: str) -> str:
    """The text that a prompt asks about, without the question."""
    return _parted(prompt)[1]


def salient(text: str, count: int) -> list[str]:
    """Up to `count` different important words: names in their order, then long words."""
    found = dict.fromkeys(words(text))
    names = [word for word in found if word[0].isupper() and len(word) > 3]
    others = sorted(found.keys() - set(names), key=lambda word: (-len(word), word))
    return [*names, *others][:count] or ["nothing"]


def sentence(text: str, nth: int) -> str:
    """One of the first sentences of a text, in a line; after the last one comes the first again."""
    found = _SENTENCE_END.split(" ".join(text[:_READ].split()))
    return _excerpt(found[nth % len(found)], 100)


def answer(prompt: str, *, instruction: str = "") -> str:
    """An answer to a prompt (of the user) with an instruction (of the system)."""
    asked, about = _parted(prompt)
    if instruction:
        asked, about = f"{instruction}\n{asked}", prompt.strip()
    asked = asked[:_READ]
    if text := _translated(asked, about) or _summarised(asked, about):
        return f"{MARK} {text}"
    if text := _chosen(asked, about) or _rated(asked, about):
        return text  # as bare as that of a model that does as it is told
    if text := _extracted(asked, about):
        return f"{MARK} {text}"
    return f'{MARK} A made-up answer about "{_excerpt(about, 120)}" No AI model ran.'


def _parted(prompt: str) -> tuple[str, str]:
    """The question of a prompt, and the text that it is about.

    The question is the last line if that looks like one, else the first line, else the text before
    a colon, or before a capital letter within the first sentence ("Say what was liked in Lovely
    room"), whichever comes first. A prompt without any of these is both.
    """
    prompt = prompt.strip()
    before, _, last = prompt.rpartition("\n")
    if before.strip() and _is_question(last):
        return last, before.strip()
    first, _, rest = prompt.partition("\n")
    if rest.strip():
        return first, _CALLED.sub("", rest.strip())
    inside = _TEXT_INSIDE.match(prompt[:_READ])
    first, _, rest = prompt.partition(": ")
    if rest.strip() and not (inside and inside.end() < len(first)):
        return first, rest.strip()
    return (prompt, prompt[inside.end() :]) if inside else (prompt, prompt)


def _is_question(line: str) -> bool:
    is_choice = _ASKING.match(line) and " or " in line
    return line.endswith("?") or bool(is_choice or _YES_OR_NO.search(line))


def _translated(asked: str, about: str) -> str:
    if "translat" not in asked.lower():
        return ""
    language = _LANGUAGE.search(asked)
    return f"[{language[1] if language else 'translated'}] {about}"


def _summarised(asked: str, about: str) -> str:
    if not _has(asked, _SUMMARISE) or _YES_OR_NO.search(asked):
        return ""
    return f"Summary: {_excerpt(_SENTENCE_END.split(about, maxsplit=1)[0], 160)}"


def _chosen(asked: str, about: str) -> str:
    options = _options(asked, is_whole=asked in about)
    return choose(options, about) if options else ""


def _rated(asked: str, about: str) -> str:
    """A number on the scale that the question names: "from 1 to 5"."""
    scale = _SCALE.search(asked) if _has(asked, _RATE) else None
    if not scale:
        return ""
    low, high = int(scale[1]), int(scale[2])
    return str(low + crc32(about.encode()) % (high - low + 1)) if low < high else ""


def _extracted(asked: str, about: str) -> str:
    return ", ".join(salient(about, 5)) if _has(asked, _EXTRACT) else ""


def _options(asked: str, *, is_whole: bool) -> list[str]:
    """The answers to choose from; [] if the question is open.

    is_whole: the question is the whole prompt, so that an "or" may be part of the text.
    """
    asked = _QUOTES.sub("", asked).strip()
    if both := _YES_OR_NO.search(asked):
        return [both[1], both[2]]
    if named := _listed(asked):
        return named
    sentences = _SENTENCE_END.split(asked)
    for sentence in sentences:
        options = _alternatives(sentence)
        if len(options) > 2 or (options and (_is_question(sentence) or not is_whole)):
            return options
    if _has(asked, _CLASSIFY):
        return ["positive", "negative", "neutral"]
    is_yes_or_no = any(map(_VERB_QUESTION.fullmatch, (sentences[0], sentences[-1])))
    return ["yes", "no"] if is_yes_or_no else []


def _listed(asked: str) -> list[str]:
    """The names in "one of these categories: a, b, c"."""
    found = _LIST.search(asked)
    names = re.split(r"[,;/|]| or | and ", found[1]) if found else []
    names = [name.strip() for name in names if name.strip()]
    fit = len(names) > 1 and all(len(name) <= _LONGEST_CHOICE for name in names)
    return names if fit else []


def _alternatives(asked: str) -> list[str]:
    """The words in "a, b or c"."""
    place = asked.find(" or ")
    found = _CHOICES.search(asked[max(0, place - 100) : place + 50]) if place >= 0 else None
    options = re.split(r",? or |, ", found[0]) if found else []
    return [] if {option.lower() for option in options} & _SIZES else options


def _has(text: str, hints: tuple[str, ...]) -> bool:
    return any(hint in text.lower() for hint in hints)


def _excerpt(text: str, longest: int) -> str:
    flat = " ".join(text[: longest * 2].split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1].rstrip()}…"
