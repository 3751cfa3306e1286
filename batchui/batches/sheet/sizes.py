"""How many chosen rows each part of a batch has, so that only the parts of a page are opened."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from django.db.models import F, Value
from django.db.models.fields.json import KeyTransform

from batchui.batches.many_parts import WAITING_ROWS
from batchui.batches.models import Batch
from batchui.batches.sheet import digests, searches
from batchui.batches.sheet.digesting import value_key
from batchui.batches.sheet.fields import fields_of
from batchui.batches.sheet.selection import Selection
from batchui.batches.sheet_models import HAS_DIGEST


class PartSize(NamedTuple):
    """A part, by its key and its number, and how many chosen rows it has."""

    part: int
    number: int
    rows: int


class Sizes:
    """The parts of a batch with chosen rows, in order. is_whole: all rows are counted."""

    def __init__(self, parts: Sequence[PartSize], *, is_whole: bool = True) -> None:
        self._parts = parts
        self.is_whole = is_whole
        self.rows = sum(part.rows for part in parts)

    @property
    def parts(self) -> list[int]:
        """The keys of the parts that have chosen rows."""
        return [part.part for part in self._parts]

    def of_page(self, *, offset: int, limit: int) -> tuple[list[PartSize], int]:
        """The parts of a page, and how many chosen rows of the first one stand before it."""
        wanted: list[PartSize] = []
        skipped, left = 0, offset + limit
        for part in self._parts:
            if left <= 0:
                break
            if offset >= part.rows:
                offset -= part.rows
            elif not wanted:
                wanted, skipped, offset = [part], offset, 0
            else:
                wanted.append(part)
            left -= part.rows
        return wanted, skipped

    def before(self, number: int) -> int:
        """How many chosen rows stand in the parts before the one with this number."""
        return sum(part.rows for part in self._parts if part.number < number)


def sizes(batch: Batch, selection: Selection) -> Sizes:
    """How many rows of each part are chosen."""
    if selection.words:
        return _by_search(batch, selection)
    if selection.is_counted:
        return Sizes(list(_by_status(batch, selection)))
    is_whole = digests.make_some(batch)
    return Sizes(list(_by_digest(batch, selection)), is_whole=is_whole)


def _by_status(batch: Batch, selection: Selection) -> Iterator[PartSize]:
    counts = selection.counts
    columns = ("rows",) if counts is None else counts
    rows = sum((F(name) if name else WAITING_ROWS for name in columns), start=Value(0))
    found = batch.parts.annotate(chosen=rows).exclude(chosen=0)
    for pk, number, chosen in found.order_by("number").values_list("pk", "number", "chosen"):
        yield PartSize(pk, number, chosen)


def _by_digest(batch: Batch, selection: Selection) -> Iterator[PartSize]:
    """By what the digests say. Those of parts that have changed since do not count."""
    half: Any
    path: Sequence[str | int]
    if selection.reason:
        half, path = "digest__reasons", (selection.reason, 0)
    else:
        names = [field.name for field in fields_of(batch)]
        if selection.column not in names or selection.value is None:
            return
        column = names.index(selection.column)
        half, path = "digest__fields", (column, "values", value_key(selection.value), 0)
    value = reduce(lambda inside, key: KeyTransform(key, inside), path, half)
    found = batch.parts.filter(HAS_DIGEST).annotate(chosen=value).exclude(chosen=None)
    for pk, number, chosen in found.order_by("number").values_list("pk", "number", "chosen"):
        yield PartSize(pk, number, int(chosen))


def _by_search(batch: Batch, selection: Selection) -> Sizes:
    """By what a search has found so far."""
    search = searches.search_for(batch, selection)
    numbers = batch.parts.filter(pk__in=search.hits).order_by("number").values_list("pk", "number")
    parts = [PartSize(pk, number, len(search.hits[str(pk)])) for pk, number in numbers]
    return Sizes(parts, is_whole=not search.is_running)
