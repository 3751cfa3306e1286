"""The rows of a draft that cannot be asked: all in a file, the first ones with the batch, too."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from batchui.batches import draft_rows, files
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import Lines, read_lines
from batchui.batches.models import Batch
from batchui.exports.csv import spreadsheet_delimiter, table_chunks
from batchui.exports.names import free_name
from batchui.prompts.problems import Problem
from batchui.prompts.reading.rows import as_list, extras

# The draft's page names so many; another page has them all.
SHOWN = 20
# The columns of a download.
PROBLEM, ROW = "problem", "row"


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
        self._lines = Lines()

    def add(self, problem: Problem) -> None:
        """Take the next one."""
        self.count += 1
        if self.count <= SHOWN:
            self._first.append({"row": problem.row, "sentence": str(problem)})
        found = (problem.row, problem.line, problem.column, problem.what)
        self._lines.extend([_encode(found)])

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


def bad_rows_csv(batch: Batch) -> Iterator[bytes]:
    """The rows of a draft that cannot be asked, as CSV for spreadsheets: their cells, and why."""
    form = batch.format
    names = form.header or form.columns
    reason, number = (free_name(name, names) for name in (PROBLEM, ROW))
    delimiter = spreadsheet_delimiter(form.delimiter)
    return table_chunks([number, *names, reason], _bad_rows(batch), delimiter=delimiter)


def _bad_rows(batch: Batch) -> Iterator[list[Any]]:
    """The number of each row, its cells, what is wrong, and the cells that fit no column."""
    problems = problems_of(batch)
    columns = batch.columns
    problem = next(problems, None)
    for row in draft_rows.read_rows(batch):
        if problem is None:
            return
        if row.number == problem.row:
            cells = as_list(row.cells, columns)
            yield [row.number, *cells, _reason(problem), *extras(row.cells, columns)]
            problem = next(problems, None)


def _reason(problem: RowProblem) -> str:
    where = f"Column “{problem.column}”: " if problem.column else ""
    return f"{where}{problem.what}"


def problems_of(batch: Batch, *, first: int = 0, most: int | None = None) -> Iterator[RowProblem]:
    """The problems of a draft's rows: `most` of them, without the `first` ones.

    Raises DamagedFile.
    """
    if not batch.problems_file:
        return iter(())
    lines = read_lines(batch.problems_file, lines=batch.problem_count)
    return map(_decode, islice(lines, first, None if most is None else first + most))
