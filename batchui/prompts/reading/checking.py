"""Reads a whole file before anything is sent: what is in it, and what is wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO, Generic, Protocol, TypeVar, cast

from batchui.prompts.problems import BadInput, Problem
from batchui.prompts.reading.blanks import Blank, ListBlanks, ObjectBlanks
from batchui.prompts.reading.blocks import Block
from batchui.prompts.reading.decoding import NotUnicode
from batchui.prompts.reading.format import HEAD_BYTES, Format
from batchui.prompts.reading.guessing import Evidence
from batchui.prompts.reading.readers import read_blocks, rows_above
from batchui.prompts.reading.rows import sample_text
from batchui.prompts.reading.sniffing import in_encoding

__all__ = ["SAMPLE_ROWS", "Blank", "FirstProblems", "Problem", "Report", "check"]

PROBLEMS_KEPT = 100
SAMPLE_ROWS = 20
PROGRESS_BYTES = 4_000_000


class Problems(Protocol):
    """Takes the problems of a file, in the order of its rows."""

    def add(self, problem: Problem) -> None:
        """Take the next one."""


class FirstProblems(list[Problem]):
    """The first PROBLEMS_KEPT of them."""

    def add(self, problem: Problem) -> None:
        """Keep the next one, if there is room."""
        if len(self) < PROBLEMS_KEPT:
            self.append(problem)


# Takes the next rows of a file, with the problems of some, by position.
KeepRows = Callable[[Block, Mapping[int, Problem]], None]


def keep_none() -> KeepRows:
    """What takes the rows of a file that nobody keeps."""
    return lambda _block, _problems: None


Found = TypeVar("Found", bound=Problems)


@dataclass(frozen=True)
class Report(Generic[Found]):
    """The result of a check.

    format: for reading the file from now on. Its encoding may differ from the one given; the
    columns of JSONL are those of the whole file.
    problems: what has taken the problem of each of the `bad_rows`. Empty lines are not among them.
    blanks: columns that have blank cells, counted over the rows without a problem.
    sample: the first SAMPLE_ROWS rows, as `sample_text` shows them. above: see `sample_above`.
    """

    format: Format
    rows: int
    bad_rows: int
    problems: Found
    blanks: dict[str, Blank]
    sample: list[str]
    above: list[str]


def sample_above(stream: BinaryIO, fmt: Format) -> list[str]:
    """The last SAMPLE_ROWS rows above the first one, as `sample_text` shows them."""
    return list(map(sample_text, rows_above(stream, fmt)[-SAMPLE_ROWS:]))


def check(
    open_stream: Callable[[], BinaryIO],
    fmt: Format,
    *,
    problems: Callable[[], Found],
    keep: Callable[[], KeepRows] = keep_none,
    progress: Callable[[int], None] | None = None,
    max_rows: int,
) -> Report[Found]:
    """Read the whole file, with one chunk of it in memory.

    `open_stream` opens the file at its beginning; `problems` makes what takes its problems, `keep`
    what takes its rows. If the file turns out to have another encoding than its first bytes showed,
    all three are called again and the check starts again.
    `progress(rows)` is called about every 4 MB. Raises BadInput if the whole file cannot be
    used: it has no rows, more than `max_rows`, too many columns, or `readers.read` raises.
    """
    tried = set()
    while True:
        tried.add(fmt.encoding)
        evidence = Evidence()
        try:
            report = _check(
                open_stream,
                fmt,
                _Tally(fmt, problems(), keep()),
                evidence=evidence,
                progress=progress,
                max_rows=max_rows,
            )
        except NotUnicode as exc:
            if fmt.encoding_chosen or not exc.perhaps_other:
                raise
            better = evidence.guess()
            if better in tried:
                raise
        else:
            if not fmt.encoding_guessed:
                return report
            better = evidence.guess()
            if better in tried:
                return report
        if all(map(str.isascii, fmt.columns)):  # the same in every code page
            fmt = replace(fmt, encoding=better)
        else:
            with open_stream() as stream:
                fmt = in_encoding(fmt, better, head=stream.read(HEAD_BYTES))


def _check(
    open_stream: Callable[[], BinaryIO],
    fmt: Format,
    tally: "_Tally[Found]",
    *,
    evidence: Evidence,
    progress: Callable[[int], None] | None,
    max_rows: int,
) -> Report[Found]:
    with open_stream() as raw:
        stream = _Watched(raw, evidence)
        reported = 0
        for block in read_blocks(cast(BinaryIO, stream), fmt):
            tally.add(block)
            if tally.rows > max_rows:
                raise BadInput(
                    f"The file has more than {max_rows:,} rows, the most that one batch takes. "
                    "Split it into smaller files and upload them one by one."
                )
            if progress and stream.bytes - reported >= PROGRESS_BYTES:
                reported = stream.bytes
                progress(tally.rows)
    if not tally.rows:
        raise BadInput("The file has no rows. Add some under the first line and upload it again.")
    if not tally.columns:
        raise BadInput("All objects in the file are empty. Choose a file whose objects have texts.")
    if progress:
        progress(tally.rows)
    with open_stream() as raw:
        return tally.report(above=sample_above(raw, fmt))


class _Watched:
    """A stream that counts what is read from it, and keeps evidence of its encoding."""

    def __init__(self, stream: BinaryIO, evidence: Evidence) -> None:
        self._read = stream.read
        self._evidence = evidence
        self.bytes = 0

    def read(self, size: int) -> bytes:
        data = self._read(size)
        self.bytes += len(data)
        self._evidence.add(data)
        return data


class _Tally(Generic[Found]):
    """Adds up the blocks of a file."""

    def __init__(self, fmt: Format, problems: Found, keep: KeepRows) -> None:
        self.rows = 0
        self._format = fmt
        self._bad_rows = 0  # an empty line is none
        self._with_problems = 0
        self._problems = problems
        self._keep = keep
        self._sample: list[str] = []
        self._blanks = (ObjectBlanks if fmt.kind == "jsonl" else ListBlanks)(fmt.columns)

    def add(self, block: Block) -> None:
        self.rows += len(block.cells)
        self._blanks.add(block)
        if len(self._sample) < SAMPLE_ROWS:
            self._sample += map(sample_text, block.cells[: SAMPLE_ROWS - len(self._sample)])
        found = {at: cast(Problem, block.problem(at)) for at in sorted(block.problems)}
        self._with_problems += len(found)
        for problem in found.values():
            if not problem.blank:
                self._bad_rows += 1
                self._problems.add(problem)
        self._keep(block, found)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all rows until now."""
        return self._blanks.columns

    def _empty(self, blanks: dict[str, Blank]) -> tuple[str, ...]:
        good = self.rows - self._with_problems
        return tuple(column for column, blank in blanks.items() if blank.count == good)

    def report(self, *, above: list[str]) -> Report[Found]:
        blanks = self._blanks.found()
        return Report(
            format=replace(self._format, columns=self._blanks.columns, empty=self._empty(blanks)),
            rows=self.rows,
            bad_rows=self._bad_rows,
            problems=self._problems,
            blanks=blanks,
            sample=self._sample,
            above=above,
        )
