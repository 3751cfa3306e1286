"""The rows of a batch whose embeddings are nearest to that of one row, by cosine."""

import heapq
from collections.abc import Iterator
from itertools import islice
from math import sqrt
from operator import mul
from typing import NamedTuple

import msgspec

from batchui.batches import one_row
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.one_row import OneRow
from batchui.batches.part_answers import read_answers

# So many rows are compared, from the first on: 1,024 numbers a row take about a second. Only the
# nearest are held in memory.
MOST_COMPARED = 5_000
NEAREST = 10

_one = msgspec.json.Decoder(list[float])
_several = msgspec.json.Decoder(list[list[float]])


class Near(NamedTuple):
    """A row and its likeness: the cosine of both embeddings, from -1 to 1."""

    row: OneRow
    likeness: float


class Found(NamedTuple):
    """The nearest rows, the nearest first. compared: how many rows were looked at."""

    near: list[Near]
    compared: int


def embedding_of(answer: bytes | None) -> list[float] | None:
    """The numbers of an answer: a list, or the only list in one; None for anything else."""
    if answer is None or not answer.startswith(b"["):
        return None
    try:
        if not answer.startswith(b"[["):
            return _one.decode(answer) or None
        several = _several.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        return None
    return several[0] or None if len(several) == 1 else None


def nearest(batch: Batch, number: int) -> Found | None:
    """The rows nearest to one; None if that one has no embedding.

    Rows whose answers are damaged, empty, or of another length are passed over.
    """
    chosen = one_row.find(batch, number)
    wanted = embedding_of(chosen.result.answer) if chosen else None
    if wanted is None:
        return None
    length = sqrt(sum(map(mul, wanted, wanted)))
    compared = 0

    def likenesses() -> Iterator[tuple[float, int]]:
        nonlocal compared
        for row, numbers in islice(_embeddings(batch), MOST_COMPARED):
            compared += 1
            size = sqrt(sum(map(mul, numbers, numbers)))
            if row != number and len(numbers) == len(wanted) and size and length:
                yield sum(map(mul, wanted, numbers)) / (size * length), -row

    best = heapq.nlargest(NEAREST, likenesses())
    found = [(one_row.find(batch, -row), likeness) for likeness, row in best]
    return Found([Near(row, likeness) for row, likeness in found if row is not None], compared)


def _embeddings(batch: Batch) -> Iterator[tuple[int, list[float]]]:
    """The embeddings of a batch with the numbers of their rows, one part at a time."""
    for part in batch.parts.order_by("number").iterator():
        try:
            for row, answer in enumerate(read_answers(part), part.first_row):
                numbers = embedding_of(bytes(answer.answer)) if answer else None
                if numbers is not None:
                    yield row, numbers
        except DamagedFile:
            continue
