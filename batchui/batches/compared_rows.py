"""The rows of a comparison, one page at a time, and all of them as a file."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from batchui.batches.agreeing import agree, compared
from batchui.batches.comparison_models import Comparison
from batchui.batches.models import Batch
from batchui.batches.one_row import some_rows
from batchui.batches.results import READ_FOR_ROWS, Result, results

# Bytes of the bits that are counted at once.
CHUNK = 512


class Pair(NamedTuple):
    """A row with what it has in both batches; None: the batch has no such row.

    differs: the bit of the comparison.
    """

    number: int
    one: Result | None
    other: Result | None
    differs: bool


def count(comparison: Comparison, *, only_different: bool) -> int:
    """How many rows there are."""
    return comparison.different if only_different else comparison.rows


def page(comparison: Comparison, *, only_different: bool, offset: int, limit: int) -> list[Pair]:
    """One page of the rows, in file order. Only the parts of its rows are read."""
    bits = bytes(comparison.differs)
    if only_different:
        places = list(islice(_set_bits(bits, offset), limit))
    else:
        places = list(range(offset, min(offset + limit, comparison.rows)))
    numbers = [comparison.first_row + at for at in places]
    one, other = (_rows(batch, numbers) for batch in (comparison.one, comparison.other))
    return [
        Pair(number, one.get(number), other.get(number), _is_set(bits, at))
        for at, number in zip(places, numbers, strict=True)
    ]


def _is_set(bits: bytes, at: int) -> bool:
    return at >> 3 < len(bits) and bool(bits[at >> 3] >> (at & 7) & 1)


def _set_bits(bits: bytes, skip: int) -> Iterator[int]:
    """The places of the bits that are 1, after so many of them."""
    for start in range(0, len(bits), CHUNK):
        chunk = bits[start : start + CHUNK]
        number = int.from_bytes(chunk, "little").bit_count()
        if skip >= number:
            skip -= number
            continue
        for at, byte in enumerate(chunk, start):
            for bit in range(8):
                if byte >> bit & 1:
                    if skip:
                        skip -= 1
                    else:
                        yield 8 * at + bit


def _rows(batch: Batch, numbers: Sequence[int]) -> dict[int, Result]:
    """The rows of a batch with these numbers, which are in order."""
    parts = list(batch.parts.order_by("number").values_list("pk", "first_row", "rows"))
    firsts = [first for _, first, _ in parts]
    found: dict[int, Result] = {}
    for place, group in groupby(numbers, key=lambda number: bisect_right(firsts, number) - 1):
        if place < 0:
            continue
        pk, first, rows = parts[place]
        positions = [number - first for number in group if number < first + rows]
        if positions:
            part = batch.parts.only(*READ_FOR_ROWS).get(pk=pk)
            found |= {result.row: result for result in some_rows(part, positions)}
    return found


def pairs(one: Batch, other: Batch) -> Iterator[Pair]:
    """All rows of two batches, by number; whether they differ is told from their answers."""
    _, values, other_values = compared(one.ask.answer_columns, other.ask.answer_columns)
    left, right = results(one), results(other)
    mine, theirs = next(left, None), next(right, None)
    while mine is not None or theirs is not None:
        number = min(found.row for found in (mine, theirs) if found is not None)
        pair = [found if found and found.row == number else None for found in (mine, theirs)]
        good = [_good(found) for found in pair]
        same = good[0] is good[1] is None or (
            None not in good and all(map(agree, values(good[0]), other_values(good[1])))
        )
        yield Pair(number, pair[0], pair[1], not same)
        mine = next(left, None) if pair[0] else mine
        theirs = next(right, None) if pair[1] else theirs


def _good(result: Result | None) -> bytes | None:
    return result.answer if result is not None and result.status == "answered" else None
