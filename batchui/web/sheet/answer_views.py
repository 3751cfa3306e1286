"""How an answer is shown in full: as text, as JSON laid out, as Markdown, or as a strip of bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from django.utils.safestring import SafeString

from batchui.exports.answers import answer_text
from batchui.web.sheet import markdown

# In characters: a page shows so much of an answer, the download has all.
LONGEST = 100_000
# In bytes: a longer answer is not taken apart, and shown as the text that it is.
LONGEST_TAKEN_APART = 4_000_000
# A list of so many numbers is an embedding, not a short list that somebody reads.
FEWEST_NUMBERS = 16
# Of several embeddings, and the bars of one.
MOST_VECTORS = 8
MOST_BARS = 128
# Units of the drawing: the height above and below the middle.
HALF = 20

Kind = Literal["text", "json", "markdown", "vectors"]


@dataclass(frozen=True)
class Vector:
    """A list of numbers as a strip of bars. path: the bars, in a drawing of `width` by 40 units."""

    length: int
    least: float
    most: float
    path: str
    width: int

    @property
    def sentence(self) -> str:
        """ "1,024 numbers, from -0.12 to 0.34"."""
        return f"{self.length:,} numbers, from {self.least:.3g} to {self.most:.3g}"


@dataclass(frozen=True)
class AnswerView:
    """An answer as its panel shows it.

    text: of every kind, to be read and copied. is_cut: the text goes on. html: of Markdown.
    vectors: the first of `vector_count`.
    """

    kind: Kind
    text: str
    is_cut: bool = False
    html: SafeString | None = None
    vectors: tuple[Vector, ...] = ()
    vector_count: int = 0


def view_of(answer: bytes | None) -> AnswerView:
    """The view of an answer in raw JSON; of no answer, an empty text."""
    if answer is None:
        return AnswerView("text", "")
    if len(answer) > LONGEST_TAKEN_APART:
        return _cut("text", answer[:LONGEST].decode(errors="replace") + "…")
    text = answer_text(answer)
    value = _structure(text)
    if vectors := _vectors(value):
        shown = tuple(map(_vector, vectors[:MOST_VECTORS]))
        return _cut("vectors", text, vectors=shown, vector_count=len(vectors))
    if value is not None:
        return _cut("json", msgspec.json.format(text, indent=2))
    return view_of_text(text) if answer.startswith(b'"') else _cut("text", text)


def view_of_text(text: str) -> AnswerView:
    """The view of a text that a model wrote."""
    if markdown.is_markdown(text):
        return _cut("markdown", text, html=markdown.as_html(text))
    return _cut("text", text)


def _cut(kind: Kind, text: str, **more: Any) -> AnswerView:
    return AnswerView(kind, text[:LONGEST], is_cut=len(text) > LONGEST, **more)


def _structure(text: str) -> Any:
    """The object or list that a text is as JSON; None if it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _vectors(value: Any) -> list[list[float]]:
    """The embeddings in a value: a list of numbers, or several of one length. [] for none."""
    if _is_vector(value):
        return [value]
    several = isinstance(value, list) and value and all(_is_vector(one) for one in value)
    return value if several and len({len(one) for one in value}) == 1 else []


def _is_vector(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= FEWEST_NUMBERS
        and all(type(number) in (int, float) for number in value)
    )


def _vector(numbers: Sequence[float]) -> Vector:
    """The strip of a list of numbers. Of those that share a bar, the farthest from 0 counts."""
    each = -(-len(numbers) // MOST_BARS)
    bars = [max(numbers[at : at + each], key=abs) for at in range(0, len(numbers), each)]
    highest = max(map(abs, bars)) or 1.0
    path = "".join(
        f"M{2 * place + 1} {HALF}V{HALF - HALF * bar / highest:.1f}"
        for place, bar in enumerate(bars)
    )
    return Vector(len(numbers), min(numbers), max(numbers), path, 2 * len(bars))
