"""The columns of a sheet: those of the file in their order, then the answers'."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from itertools import islice
from typing import Any
from unicodedata import east_asian_width

from django.urls import reverse

from batchui.batches.catalogues import of_batch
from batchui.batches.exporting import added_columns
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.answer_columns import KIND_WORDS, AnswerColumn, Kind
from batchui.prompts.reading.rows import as_list, cell_text, shown_text
from batchui.prompts.template import Template
from batchui.web.asking.guessing import text_column
from batchui.web.sheet.view import SheetView

# So many columns of a file stand in the sheet at a time; a row's panel has all.
MOST_COLUMNS = 60
# In CSS pixels.
NARROWEST, WIDEST = 72, 384
WIDE_ANSWER, FAIR_ANSWER = 400, 260
# From so many answer columns on, those of text are narrower, too.
MANY_ANSWERS = 3
MOST_KIND_SIGNS = 24
# The kind of a column whose answers are lists of numbers, or rankings.
NUMBERS = "numbers"
TAGGED: frozenset[Kind] = frozenset({"yes_no", "one_of", "several_of"})
A_SIGN = 8.6  # of 14 px, in the wide fonts that some systems have
PADDING = 28
PICTURE_WIDTH = 52  # with the gap beside it
MOST_SIGNS = 100
# The names of columns stand in bold letters.
BOLD = 1.15


@dataclass(frozen=True)
class SheetColumn:
    """A column as the sheet shows it.

    key: its class in the page, and its name in what a browser keeps: “c12” is the twelfth column of
    the file, “a1” the first of the answers. at: its place among its own, from 0. kind: of an
    answer, the words under its name. width: before somebody drags it, in CSS pixels. has_tags: its
    values are out of a list. is_main: the first one that the question uses, which a phone shows.
    pictures: the address of the picture of a row, with {} for its number, where its cells name one.
    """

    key: str
    name: str
    at: int
    width: int
    kind: str = ""
    is_number: bool = False
    has_tags: bool = False
    is_main: bool = False
    pictures: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether its cells are answers."""
        return self.key.startswith("a")

    @property
    def stretches(self) -> bool:
        """Whether it takes its share of the room that is left: those of long texts do."""
        return self.width >= WIDEST

    @property
    def classes(self) -> str:
        """The classes of its cells."""
        words = {"answer": self.is_answer, "number": self.is_number, "main": self.is_main}
        return " ".join([self.key, *(word for word, holds in words.items() if holds)])


@dataclass(frozen=True)
class SheetColumns:
    """The columns of a page. first, all: which of the file's columns these are, of how many."""

    hers: list[SheetColumn]
    answers: list[SheetColumn]
    first: int
    all: int

    @property
    def shown(self) -> list[SheetColumn]:
        """All of them, in order."""
        return [*self.hers, *self.answers]

    @property
    def width(self) -> int:
        """The least width of all of them together, in CSS pixels."""
        return sum(column.width for column in self.shown)

    @property
    def windows(self) -> list[tuple[int, int]]:
        """First and last number of each group of columns that a page can show."""
        starts = range(1, self.all + 1, MOST_COLUMNS)
        return [(start, min(start + MOST_COLUMNS - 1, self.all)) for start in starts]


def columns_key(batch: Batch) -> str:
    """A word that is another one as soon as the question of a draft wants other columns shown."""
    answers = [(column.name, column.kind) for column in answer_columns_of(batch)]
    main = _main_column(batch, batch.format.shown_columns)
    shown = (answers, main, pictures_of(batch))
    return blake2s(repr(shown).encode(), digest_size=8).hexdigest()


def columns_of(batch: Batch, view: SheetView) -> SheetColumns:
    """The columns of a page."""
    form = batch.format
    empty = set(form.empty)
    filled = [(at, name) for at, name in enumerate(form.columns) if name not in empty]
    first = min(view.columns, max(1, len(filled)))
    window = list(islice(filled, first - 1, first - 1 + MOST_COLUMNS))
    samples = _samples(batch)
    main = _main_column(batch, [name for _, name in window])
    hers = [_hers(at, name, [row[at] for row in samples], main) for at, name in window]
    if address := pictures_of(batch):
        named = batch.ask.picture_column
        hers = [_pictured(one, address) if one.name == named else one for one in hers]
    return SheetColumns(hers, answer_columns_of(batch), first, len(filled))


def _pictured(column: SheetColumn, address: str) -> SheetColumn:
    width = min(WIDEST, column.width + PICTURE_WIDTH)
    return replace(column, pictures=address, width=width, is_number=False)


def pictures_of(batch: Batch) -> str:
    """The address of the picture of a row, with {} for its number; "" if none are asked with.

    It is another one as soon as other pictures are meant, because browsers keep them.
    """
    if not batch.ask.shows_pictures:
        return ""
    meant = repr((batch.ask.picture_column, batch.pictures_file)).encode()
    address = reverse("row_picture", args=[batch.pk, 0]).replace("/0/", "/{}/")
    return f"{address}?of={blake2s(meant, digest_size=4).hexdigest()}"


def answer_columns_of(batch: Batch) -> list[SheetColumn]:
    """The columns of the answers."""
    wanted = batch.ask.answer_columns
    if not wanted:
        name, _, _ = added_columns(batch)
        kind = NUMBERS if answers_are_numbers(batch) else KIND_WORDS["text"]
        return [SheetColumn("a1", name, 0, WIDE_ANSWER, kind=kind)]
    return of_answers(wanted, has_reasons=batch.unanswered > 0)


def answers_are_numbers(batch: Batch) -> bool:
    """Whether each answer is a list of numbers, as the models for embeddings give."""
    try:
        return of_batch(batch).find(batch.ask.model).task == "embedding"
    except UnknownModel:
        return False


def of_answers(wanted: Sequence[AnswerColumn], *, has_reasons: bool = False) -> list[SheetColumn]:
    """A column for each answer column that was asked for.

    has_reasons: rows lack an answer, and why stands in the first of them, which needs room for it.
    """
    found = [_of_answer(at, column, len(wanted)) for at, column in enumerate(wanted)]
    if has_reasons and found:
        found[0] = replace(found[0], width=max(found[0].width, FAIR_ANSWER))
    return found


def _of_answer(at: int, column: AnswerColumn, together: int) -> SheetColumn:
    words = " · ".join(column.choices) or KIND_WORDS[column.kind]
    width = width_of([*column.choices, words[:MOST_KIND_SIGNS]], name=column.name)
    if column.kind == "text":
        width = WIDE_ANSWER if together < MANY_ANSWERS else FAIR_ANSWER
    return SheetColumn(
        key=f"a{at + 1}",
        name=column.name,
        at=at,
        width=width,
        kind=words,
        is_number=column.kind == "number",
        has_tags=column.kind in TAGGED,
    )


def _samples(batch: Batch) -> list[list[str]]:
    """The first rows of the file as texts, each with all columns."""
    names = batch.format.columns
    return [
        as_list(row, names) if isinstance(row, dict) else list(map(shown_text, as_list(row, names)))
        for row in batch.first_rows
    ]


def _main_column(batch: Batch, names: Sequence[str]) -> str:
    """The first of these columns that the question uses; else the one that it may be about."""
    used = () if batch.ask.as_items else Template(batch.ask.template).names
    if batch.ask.shows_pictures:
        used = (*used, batch.ask.picture_column)
    asked = (name for name in used if name in names)
    if found := next(asked, ""):
        return found
    guessed = text_column(batch)
    return guessed if guessed in names else next(iter(names), "")


def _hers(at: int, name: str, cells: list[str], main: str) -> SheetColumn:
    filled = [cell for cell in cells if cell.strip()]
    return SheetColumn(
        key=f"c{at + 1}",
        name=name,
        at=at,
        width=width_of(cells, name=name),
        is_number=bool(filled) and all(map(is_number, filled)),
        is_main=name == main,
    )


def width_of(texts: Sequence[str], *, name: str = "") -> int:
    """A width in which these texts stand well below the name of their column, in CSS pixels."""
    longest = max((_signs(text) for text in texts), default=0)
    longest = max(longest, _signs(name) * BOLD)
    return round(max(NARROWEST, min(WIDEST, longest * A_SIGN + PADDING)))


def _signs(text: str) -> float:
    """How many letters a text is wide, as far as that matters: Chinese ones are wide as two."""
    text = text[:MOST_SIGNS]
    return len(text) + sum(east_asian_width(sign) in "WF" for sign in text if sign > "\u10ff")


def is_number(text: str) -> bool:
    """Whether a text is a number as people write them: 12, -3.5, 1.234,50, $ 4, 25%."""
    bare = text.strip().strip("$€£¥% \u00a0").lstrip("+-\u2212")
    return bool(bare) and bare[0].isdecimal() and not set(bare) - _OF_NUMBERS


_OF_NUMBERS = set("0123456789.,' \u00a0\u202f")


def cells_of(row: Any, columns: Sequence[SheetColumn]) -> list[str]:
    """The cells of a row for these columns of a file, as texts."""
    if isinstance(row, dict):
        return [cell_text(row.get(column.name)) for column in columns]
    width = len(row)
    return [shown_text(row[column.at]) if column.at < width else "" for column in columns]
