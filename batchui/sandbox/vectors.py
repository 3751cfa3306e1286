"""Embeddings and scores without a model: texts that share words come out close to each other."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import shake_128
from math import sqrt
from operator import mul

from batchui.sandbox.texts import words

# A byte of a digest as a small number around zero.
_NOISE = [(byte - 127.5) / 1275 for byte in range(256)]
_PLACES = 16


@lru_cache(maxsize=20_000)
def _places(word: str, width: int) -> list[tuple[int, float]]:
    """Where a word shows in a vector: some dimensions, up or down."""
    digest = shake_128(word.encode()).digest(3 * _PLACES)
    return [
        (int.from_bytes(digest[i : i + 2], "big") % width, 1.0 if digest[i + 2] & 1 else -1.0)
        for i in range(0, len(digest), 3)
    ]


def vector(text: str, width: int) -> list[float]:
    """A vector of length one, the same for the same text."""
    found = [_NOISE[byte] for byte in shake_128(text.encode()).digest(width)]
    for word in {word.lower() for word in words(text)}:
        for place, amount in _places(word, width):
            found[place] += amount
    length = sqrt(sum(map(mul, found, found)))
    return [round(number / length, 8) for number in found]


def scores(query: str, contexts: Iterable[str]) -> list[tuple[int, float]]:
    """(position, score) of each context, best first. What counts is the share of the query's words
    it has, then of their first five letters ("cloud", "Cloudflare"), then how little else."""
    wanted, wanted_heads = _vocabulary(query)
    ranked = []
    for position, context in enumerate(contexts):
        present, heads = _vocabulary(context)
        exact = len(wanted & present) / (len(wanted) or 1)
        alike = len(wanted_heads & heads) / (len(wanted_heads) or 1)
        precision = len(wanted & present) / (len(present) or 1)
        ranked.append((position, round(0.1 + 0.6 * exact + 0.2 * alike + 0.05 * precision, 6)))
    return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _vocabulary(text: str) -> tuple[set[str], set[str]]:
    found = {word.lower() for word in words(text)}
    return found, {word[:5] for word in found}
