"""The work that the bench measures: a file of reviews, the API that answers it, and the check."""

import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean

import zstandard

from batchui.batches.phrases import Say
from batchui.bench.check import Check
from batchui.bench.question import question
from batchui.bench.surroundings import Api, running_api
from batchui.bench.texts import Answers, write_reviews

# For the figures about compression: the same level and size of a part as in the product.
LEVEL, PART = 1, 5_000


@dataclass(frozen=True)
class Workload:
    """A file, the running imitation of the API, the check of a result.

    load: of the machine before the first round.
    """

    source: Path
    api: Api
    check: Check
    load: float


@contextmanager
def workload(rows: int, say: Say) -> Iterator[Workload]:
    """A new file of `rows` reviews with all that belongs to it. Prints what the file is like."""
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder, running_api() as api:
        source = Path(folder, "reviews.csv")
        write_reviews(source, rows)
        answers = Answers()
        say(_what_is_asked(source, rows, answers))
        yield Workload(source, api, Check(source, answers), os.getloadavg()[0])


def rounds_sentence(repeat: int, *, load: float, order: str = "") -> str:
    """A sentence about the rounds, with the load of the machine before (`load`) and after them."""
    rounds = "One round" if repeat == 1 else f"Medians of {repeat} rounds{order}"
    return f"{rounds}; load of the machine {load:.1f} before, {os.getloadavg()[0]:.1f} after."


def _what_is_asked(source: Path, rows: int, answers: Answers) -> str:
    """A sentence about the file and its texts: their sizes, and how well they compress."""
    with source.open(newline="", encoding="utf-8") as file:
        reviews = [row[-1] for row in islice(csv.reader(file), 1, PART + 1)]
    answered = [answers.to(question(review)) for review in reviews]
    return (
        f"{rows:,} rows, {source.stat().st_size / 1e6:,.1f} MB; reviews of {_bytes(reviews):.0f} "
        f"bytes, answers of {_bytes(answered):.0f}, which zstd makes {_ratio(reviews):.1f} and "
        f"{_ratio(answered):.1f} times smaller (level {LEVEL})."
    )


def _bytes(texts: Sequence[str]) -> float:
    return mean(len(text.encode()) for text in texts)


def _ratio(texts: Sequence[str]) -> float:
    """How many times smaller compression makes the texts, one on each line."""
    lines = "\n".join(texts).encode()
    return len(lines) / len(zstandard.ZstdCompressor(LEVEL).compress(lines))
