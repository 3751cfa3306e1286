"""The rows of a draft, as its file was read: any page of them, one row, or all.

A check writes them down (see `frames.py`), because the upload cannot be opened in the middle, and
so that nobody has to read and parse it again: neither who cuts it into parts, nor who holds the
question against its rows. Drafts of older versions have no such file: of these the upload is read.

A piece has a line that says what is known besides the cells (`_About`), then one line for each row.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count, islice
from typing import NamedTuple

import msgspec

from batchui.batches import files, sources
from batchui.batches.changes import BatchChanges
from batchui.batches.frames import Frames, Piece, read_pieces
from batchui.batches.models import Batch
from batchui.batches.results import Result
from batchui.prompts.problems import Problem
from batchui.prompts.reading.blocks import Block
from batchui.prompts.reading.readers import Row, Rows, read_blocks
from batchui.prompts.reading.rows import decode_rows, decode_to_show, encode_row, encode_rows

# A piece ends with the first rows that make it as large as this.
PIECE_ROWS = 1_000
PIECE_BYTES = 256 * 1024
# Rows that are taken at once, so that no piece is much larger.
AT_ONCE = 100

NO_ROWS: BatchChanges = {"draft_rows_file": ""}


class _Problem(NamedTuple):
    """The problem of a row: its position in the piece, and the parts of its sentence."""

    at: int
    what: str
    row: int | None
    line: int | None
    column: str | None
    blank: bool = False


class _About(msgspec.Struct, array_like=True):
    """What is known of the rows of a piece. lines: the first one, where each row has a line."""

    number: int
    lines: int | list[int]
    problems: list[_Problem]


_encode_about = msgspec.json.Encoder().encode
_decode_about = msgspec.json.Decoder(_About).decode


class KeptRows:
    """Writes down the rows that a check reads."""

    def __init__(self) -> None:
        self._begin()

    def begin(self) -> Callable[[Block, Mapping[int, Problem]], None]:
        """Forget all rows. Returns what takes the next block of rows, with their problems."""
        self._begin()
        return self._add

    def store(self, batch: Batch) -> BatchChanges:
        """Store them for a batch that this process has claimed. Returns the fields that say so."""
        self._end_piece()
        name = self._frames.whole().store(files.draft_rows_path(batch))
        return {"draft_rows_file": name}

    def _begin(self) -> None:
        self._frames = Frames()
        self._new_piece()

    def _new_piece(self) -> None:
        self._first = 0
        self._bytes = 0
        self._text: list[bytes] = []
        self._lines: list[int] = []
        self._problems: list[_Problem] = []

    def _add(self, block: Block, problems: Mapping[int, Problem]) -> None:
        for begins in range(0, len(block.cells), AT_ONCE):
            ends = begins + AT_ONCE
            at = len(self._lines)
            if not at:
                self._first = block.number + begins
            lines = block.lines[begins:ends]
            text = encode_rows(block.cells[begins:ends])
            self._text.append(text)
            self._lines += lines
            if problems:
                for position in range(begins, begins + len(lines)):
                    if position in problems:
                        self._note(at + position - begins, problems[position])
            self._bytes += len(text)
            if len(self._lines) >= PIECE_ROWS or self._bytes >= PIECE_BYTES:
                self._end_piece()

    def _note(self, at: int, problem: Problem) -> None:
        found = (problem.what, problem.row, problem.line, problem.column, problem.blank)
        self._problems.append(_Problem(at, *found))

    def _end_piece(self) -> None:
        if not self._lines:
            return
        lines = self._lines
        in_a_row = lines[-1] - lines[0] == len(lines) - 1
        about = _About(self._first, lines[0] if in_a_row else lines, self._problems)
        rows = b"".join(self._text).removesuffix(b"\n")
        self._frames.add(b"%b\n%b" % (_encode_about(about), rows), items=len(lines))
        self._new_piece()


def read_many(batch: Batch) -> Iterator[Rows]:
    """Every row of a draft in order, about a thousand at once.

    Raises DamagedFile, OSError and, of a draft without a file of rows, BadInput.
    """
    if batch.draft_rows_file:
        return map(_rows_of, read_pieces(batch.draft_rows_file, items=batch.rows))
    return _many_of_upload(batch)


def read_rows(batch: Batch) -> Iterator[Row]:
    """Every row of a draft in order, one by one. Raises what `read_many` raises."""
    return chain.from_iterable(rows.each() for rows in read_many(batch))


def rows_from(batch: Batch, number: int) -> Iterator[Row]:
    """The rows from this number on; none if the file has no such row. Raises what `read_rows` does.

    Of a draft of an older version, all rows up to there are read.
    """
    offset = number - batch.format.first_row
    if not 0 <= offset < batch.rows:
        return iter(())
    if not batch.draft_rows_file:
        return islice(_rows_of_upload(batch), offset, None)
    return _rows_from(batch, offset)


def _rows_from(batch: Batch, offset: int) -> Iterator[Row]:
    for piece in read_pieces(batch.draft_rows_file, items=batch.rows, first=offset):
        yield from islice(_rows_of(piece).each(), max(0, offset - piece.before), None)


def _rows_of_upload(batch: Batch) -> Iterator[Row]:
    return chain.from_iterable(rows.each() for rows in _many_of_upload(batch))


def _many_of_upload(batch: Batch) -> Iterator[Rows]:
    with sources.open_rows(batch) as source:
        for block in read_blocks(source, batch.format):
            problems = {at: found for at in block.problems if (found := block.problem(at))}
            stored = list(map(encode_row, block.cells))
            yield Rows(block.number, block.lines, block.cells, problems, stored)


def _rows_of(piece: Piece) -> Rows:
    head, _, text = piece.text.partition(b"\n")
    about = _decode_about(head)
    lines = count(about.lines) if isinstance(about.lines, int) else about.lines
    return Rows(about.number, lines, decode_rows(text), _problems(about), text.split(b"\n"))


def _problems(about: _About) -> dict[int, Problem]:
    return {
        found.at: Problem(
            found.what, row=found.row, line=found.line, column=found.column, blank=found.blank
        )
        for found in about.problems
    }


def page(batch: Batch, *, offset: int, limit: int) -> list[Result]:
    """At most `limit` rows of a draft, without the `offset` first ones. None has an answer.

    The error of a row says why it cannot be asked; an empty one has none. It takes the same time
    anywhere in the file (of a draft of an older version, as long as reading the file up to there).
    Raises what `read_rows` raises.
    """
    if not 0 <= offset < batch.rows:
        return []
    if not batch.draft_rows_file:
        rows = islice(_rows_of_upload(batch), offset, offset + limit)
        return [_waiting(row.number, encode_row(row.cells), row.problem) for row in rows]
    found: list[Result] = []
    for piece in read_pieces(batch.draft_rows_file, items=batch.rows, first=offset):
        head, *stored = piece.text.split(b"\n")
        about = _decode_about(head)
        problems = _problems(about)
        begins = max(0, offset - piece.before)
        ends = min(len(stored), begins + limit - len(found))
        found += [
            _waiting(about.number + at, stored[at], problems.get(at)) for at in range(begins, ends)
        ]
        if len(found) == limit:
            break
    return found


def row(batch: Batch, number: int) -> Result | None:
    """The row with this number, as a spreadsheet shows it; None if the file has none."""
    found = page(batch, offset=number - batch.format.first_row, limit=1)
    return found[0] if found else None


def _waiting(number: int, stored: bytes, problem: Problem | None) -> Result:
    error = None if problem is None or problem.blank else str(problem)
    return Result(number, decode_to_show(stored), "", None, error, None)
