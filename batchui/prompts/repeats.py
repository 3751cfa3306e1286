"""Finds rows that ask exactly the same question, so that it can be asked once.

A question that comes once takes 8 bytes: only those that come more than once are looked at closely.
"""

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise

from batchui.prompts.items import ItemWriter
from batchui.prompts.reading.readers import Row

# Two different questions with the same 128 bits are not to be expected in any number of files.
DIGEST_BYTES = 16
# A list that is sorted takes 40 bytes for a question; so few of them are in one at a time.
GROUPS = 64


class Repeats:
    """The questions of a file that come more than once. rows: that ask what an earlier row asks."""

    def __init__(self, rows: Iterable[Row], writer: ItemWriter) -> None:
        groups = [array("q") for _ in range(GROUPS)]
        for row in rows:
            if row.problem is None:
                question = writer.question(row.cells)
                if question is not None:
                    hashed = hash(question)
                    groups[hashed % GROUPS].append(hashed)
        self._repeated: set[int] = set()
        self.rows = 0
        for group in groups:
            for before, hashed in pairwise(sorted(group)):
                if hashed == before:
                    self._repeated.add(hashed)
                    self.rows += 1
        self._first: dict[bytes, int] = {}

    def first(self, question: bytes, row: int) -> int:
        """The number of the first row that asks the question: that of `row`, if there was none."""
        if hash(question) not in self._repeated:
            return row
        digest = blake2b(question, digest_size=DIGEST_BYTES).digest()
        return self._first.setdefault(digest, row)
