"""The rows of a draft that cannot be asked: all in a file, the first ones with the batch, too."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from batchui.batches import files
from batchui.batches.changes import BatchChanges
from batchui.batches.models import Batch
from batchui.prompts.problems import Problem

# The draft's page names so many; another page has them all.
SHOWN = 20


NO_PROBLEMS: BatchChanges = {"problem_rows": [], "problem_count": 0, "problems_file": ""}


class RowProblem(NamedTuple):
    """What is wrong with a row: its number, the line it begins in, its column, and what to do."""

    row: int
    line: int | None
    column: str | None
    what: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(RowProblem).decode


class RowProblems:
    """Takes the problems of a file, in the order of its rows."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[dict[str, Any]] = []
        self._lines = files.Lines()

    def add(self, problem: Problem) -> None:
        """Take the next one."""
        self.count += 1
        if self.count <= SHOWN:
            self._first.append({"row": problem.row, "sentence": str(problem)})
        found = (problem.row, problem.line, problem.column, problem.what)
        self._lines.add(_encode(found))

    def store(self, batch: Batch) -> BatchChanges:
        """Store them for a batch that this process has claimed. Returns the fields that say so."""
        name = ""
        if self.count:
            name = self._lines.whole().store(files.problems_path(batch))
        return {
            "problem_count": self.count,
            "problem_rows": self._first,
            "problems_file": name,
        }


def problems_of(batch: Batch, *, first: int = 0, most: int | None = None) -> Iterator[RowProblem]:
    """The problems of a draft's rows: `most` of them, without the `first` ones.

    Raises DamagedFile.
    """
    if not batch.problems_file:
        return iter(())
    lines = files.read_lines(batch.problems_file, lines=batch.problem_count)
    return map(_decode, islice(lines, first, None if most is None else first + most))
