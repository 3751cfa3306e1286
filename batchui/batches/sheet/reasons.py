"""Why rows have no answer, or a cut one: raw errors as plain reasons, each with what to do next.

Errors that say the same with other numbers are one reason. What Cloudflare and its models say is
recognised by its codes and words; anything else is its own reason, in its own words.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from batchui.batches.copying import without_origin
from batchui.batches.states import AnswerStatus
from batchui.cloudflare.answers import ALLOW_LONGER, AT_THE_LIMIT, ONLY_REASONED
from batchui.prompts.answer_fitting import CUT_OFF

# About so many words make a hundred tokens, in most languages.
WORDS_PER_100_TOKENS = 75
# In characters, of an error in its own words.
LONGEST_SAID = 300
ASK_AGAIN = "Ask these rows again."


@dataclass(frozen=True)
class Reason:
    """Why rows need attention.

    key: for addresses; it begins with the status. words: a phrase that ends a sentence such as "9
    rows: …". next_step: what to do, a sentence. can_ask: whether asking again may help as things
    are. other_model: whether another model would. limit: of a model, in tokens, where the error
    names it. needs_longer: whether a longer answer would help.
    """

    key: str
    status: str
    words: str
    next_step: str
    can_ask: bool = True
    other_model: bool = False
    limit: int = 0
    needs_longer: bool = False


@dataclass(frozen=True)
class _Kind:
    key: str
    pattern: re.Pattern[str]
    words: str
    next_step: str
    can_ask: bool = True
    other_model: bool = False


def _kind(
    key: str,
    pattern: str,
    words: str,
    next_step: str = ASK_AGAIN,
    *,
    can_ask: bool = True,
    other_model: bool = False,
) -> _Kind:
    return _Kind(key, re.compile(pattern, re.IGNORECASE), words, next_step, can_ask, other_model)


# The first that fits counts.
_KINDS = (
    _kind(
        "too-long",
        r"context (window|length|size)|maximum context|too many (input )?tokens|too long"
        r"|tokens? limit|longer than the model|max(imum)?[ _]tokens? exceeded|\b5021\b",
        "too long for this model",
        "Choose a model that reads more, or shorten the texts.",
        can_ask=False,
        other_model=True,
    ),
    _kind(
        "blank",
        r"\b(is|are) (empty|blank)\b|nothing (in|to ask)",
        "nothing to ask in the row",
        "Fill in the cells in your file, then upload it again.",
        can_ask=False,
    ),
    _kind(
        "capacity",
        r"capacity|no room for this model|overloaded|\b30(40|50)\b",
        "Cloudflare had no room for this model",
        "Ask these rows again later, or choose another model.",
        other_model=True,
    ),
    _kind(
        "rate",
        r"rate limit|too many requests|\b3021\b|fewer calls",
        "too many requests at one time",
        "Ask these rows again in a few minutes.",
    ),
    _kind(
        "allowance",
        r"free allowance|daily (free )?(allocation|limit)|\b3036\b|neurons",
        "the day's free allowance was used up",
        "Ask these rows again after 00:00 UTC, or change the Cloudflare account's plan.",
    ),
    _kind(
        "timeout",
        r"time[d]?[ -]?out|deadline|took too long|\b3046\b|\b504\b",
        "the model took too long",
        "Ask these rows again; if that does not help, ask for shorter answers.",
    ),
    _kind(
        "unsafe",
        r"safety|content (policy|filter)|moderation|flagged|not safe",
        "the model refused the text",
        "Change the text of these rows, or choose another model.",
        can_ask=False,
        other_model=True,
    ),
    _kind(
        "no-model",
        r"no such model|does not offer this model|\b(5007|3042)\b",
        "Cloudflare does not offer this model",
        "Choose another model.",
        can_ask=False,
        other_model=True,
    ),
    _kind(
        "json-mode",
        r"json (mode|schema)|response_format|couldn.t be met|\b5024\b",
        "the model could not keep to the answer columns",
        "Ask these rows again, or choose another model.",
        other_model=True,
    ),
    _kind(
        "internal",
        r"internal (server )?error|backend error|\b(5001|8008|3007|3008)\b",
        "something went wrong at Cloudflare",
    ),
)
_BY_STATUS = {
    "empty": _kind("", "", "empty: the model sent nothing back"),
    "unfit": _kind(
        "",
        "",
        "does not fit the answer columns",
        "Ask these rows again, or choose another model.",
        other_model=True,
    ),
    "missing": _kind("", "", "no answer came back"),
    "unsent": _kind("", "", "not sent, because the batch was stopped", "Send these rows."),
    "failed": _kind("", "", "the model could not answer, and no reason is given"),
    "invalid": _kind(
        "",
        "",
        "cannot be asked",
        "Correct these rows in your file, then upload it again.",
        can_ask=False,
    ),
}
_OTHER = _kind("", "", "no answer")
# Of answers that were cut off, by status.
_CUT_OFF = {
    "answered": "cut off at the longest answer",
    "empty": "the longest answer was used up before anything was written",
    "unfit": "cut off at the longest answer, so that it does not fit the answer columns",
}
RAISE_LIMIT = "Raise the longest answer, and ask these rows again."
# What stands around a reason, and says nothing about why.
_FRAMES = (
    re.compile(r"^The model could not answer this row\. ?"),
    re.compile(r"(?:Cloudflare|Your model server) gives no reason\."),
    re.compile(r" ?Retry it, or shorten its text\.$"),
    re.compile(r"^(?:Row|Line) [\d,]+(?: \(line [\d,]+\))?[,:] "),
    re.compile(r"^[Cc]olumn “[^”]*”: "),
)
# The values in the sentences of `prompts/answer_fitting.py`.
_VALUE = re.compile(r"(“[^”]*”) is .*?, which is (?=not |neither )")
_BEGINNING = re.compile(r": it begins .*")
_PLACES = re.compile(r"\bThe stored file \S+")
_NUMBERS = re.compile(r"\d[\d.,]*")
_LIMIT = re.compile(
    r"(?:limit|maximum|window|length|most|up to)\D{0,40}?(\d[\d,]{2,8})", re.IGNORECASE
)


@lru_cache(maxsize=4_096)
def reason_of(status: str, error: str | None) -> Reason:
    """The reason why a row with this status and error needs attention."""
    said = _said(without_origin(error or ""))
    if status in _CUT_OFF and (found := _of_length(status, said)):
        return found
    if status == AnswerStatus.UNFIT:
        return _unfit(said)
    # Of these the error repeats in a longer sentence what the status says.
    plain = status in (AnswerStatus.EMPTY, AnswerStatus.UNSENT)
    kind = None if plain else next((one for one in _KINDS if one.pattern.search(said)), None)
    if kind is not None:
        limit = _limit(said) if kind.key == "too-long" else 0
        return Reason(
            key=f"{status}-{kind.key}",
            status=status,
            words=kind.words,
            next_step=kind.next_step,
            can_ask=kind.can_ask and status != AnswerStatus.INVALID,
            other_model=kind.other_model,
            limit=limit,
        )
    usual = _BY_STATUS.get(status, _OTHER)
    named = "" if plain or not said else _in_its_words(said)
    key = (
        f"{status}-{sha256(_NUMBERS.sub('#', said).encode()).hexdigest()[:10]}" if named else status
    )
    return Reason(
        key=key,
        status=status,
        words=named or usual.words,
        next_step=usual.next_step,
        can_ask=usual.can_ask,
    )


def _of_length(status: str, said: str) -> Reason | None:
    """The reason of an answer that was cut off, or gave way to reasoning; None for any other."""
    if AT_THE_LIMIT in said or said.startswith(CUT_OFF):
        words = _CUT_OFF[status]
        return Reason(f"{status}-cut", status, words, RAISE_LIMIT, needs_longer=True)
    if status != AnswerStatus.EMPTY or not said.startswith(ONLY_REASONED):
        return None
    words = "the model only reasoned, and wrote no answer"
    if ALLOW_LONGER in said:
        return Reason("empty-reasoned", status, words, RAISE_LIMIT, needs_longer=True)
    return Reason("empty-reasoned-out", status, words, "Ask these rows again, or ask more plainly.")


def _unfit(said: str) -> Reason:
    """The reason of an answer that does not fit: by column, whatever value it has."""
    usual = _BY_STATUS[AnswerStatus.UNFIT]
    words = _BEGINNING.sub(".", _VALUE.sub(r"\1 is ", said)) or usual.words
    words = words[:1].lower() + words[1:].rstrip(".")
    return Reason(
        key=f"{AnswerStatus.UNFIT}-{sha256(words.encode()).hexdigest()[:10]}",
        status=AnswerStatus.UNFIT.value,
        words=words,
        next_step=usual.next_step,
        can_ask=usual.can_ask,
        other_model=usual.other_model,
    )


def in_words(reason: Reason) -> str:
    """The phrase for a reason: "too long for this model, which reads about 18,000 words"."""
    if not reason.limit:
        return reason.words
    words = reason.limit * WORDS_PER_100_TOKENS // 100
    return f"{reason.words}, which reads about {_rounded(words):,} words"


def _said(error: str) -> str:
    """The part of an error that says why, without names of stored files."""
    said = _PLACES.sub("A stored file", error)
    for frame in _FRAMES:
        said = frame.sub("", said)
    return said.strip()


def _in_its_words(said: str) -> str:
    return said if len(said) <= LONGEST_SAID else f"{said[:LONGEST_SAID]} …"


def _limit(said: str) -> int:
    """The number of tokens that a model reads, as its error says; 0 if it does not."""
    found: list[str] = _LIMIT.findall(said)
    return int(found[-1].replace(",", "")) if found else 0


def _rounded(words: int) -> int:
    """Two figures that count: 18,432 is "about 18,000"."""
    step: int = 10 ** max(0, len(str(words)) - 2)
    return words // step * step
