"""Cuts rows into parts, each small enough for one request."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from batchui.prompts.items import ItemWriter
from batchui.prompts.payload import CLOSE, OPEN
from batchui.prompts.problems import OR_SKIP, BadInput, Problem
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.readers import Row, Rows
from batchui.prompts.reading.rows import encode_row
from batchui.prompts.repeats import Repeats

# The bytes of a body without items. Each item counts one comma; FRAME has one byte less, because
# the first item needs none.
NOTHING = len(OPEN) + len(CLOSE)
FRAME = NOTHING - 1


@dataclass(frozen=True)
class Limits:
    """How large a part may be.

    A batch gets about `parts` parts, each with at least `least_rows` and at most `rows` rows.
    item_bytes: of the request's body. row_bytes: of the rows as they are stored. context_window: of
    the model, in tokens; None if it is not known.
    """

    rows: int = 15_000
    item_bytes: int = 8_000_000
    row_bytes: int = 32_000_000
    least_rows: int = 25
    parts: int = 20
    context_window: int | None = None

    @property
    def question_bytes(self) -> int:
        """No larger item is sent: it is too large for a request, or surely for the model."""
        if self.context_window is None:
            return self.item_bytes - FRAME
        return min(self.item_bytes - FRAME, BYTES_FOR_TOKEN * self.context_window)


USUAL = Limits()
# English has about four letters for a token, other languages fewer. Numbers and lists have fewer,
# too; so what has more tokens than a model reads at five bytes each has more at any rate.
BYTES_FOR_TOKEN = 5
WORDS_FOR_TOKEN = 0.75
BYTES_FOR_WORD = 6


@dataclass
class Cut:
    """One part of a batch.

    number: from 1. first_row: the number of its first row. lines: its rows, from `encode_row`.
    item_bytes: the request body without rows that are not asked has at most this size.
    invalid: position -> problem, for rows that cannot be asked. blank: the same for rows with
    nothing to ask about. copies: position -> number of the first row that asks the same, for rows
    that are not asked themselves. All stay in `lines`.
    """

    number: int
    first_row: int
    lines: list[bytes]
    item_bytes: int
    invalid: dict[int, Problem] = field(default_factory=dict)
    blank: dict[int, Problem] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)


def rows_per_part(total: int, limits: Limits = USUAL) -> int:
    """The number of rows in a part of a batch of `total` rows, if they are not too large."""
    wanted = -(-total // limits.parts)
    return min(max(wanted, limits.least_rows), limits.rows)


def cut(
    rows: Iterable[Rows],
    writer: ItemWriter,
    *,
    total: int,
    limits: Limits = USUAL,
    repeats: Repeats | None = None,
) -> Iterator[Cut]:
    """Cut consecutive rows into parts, with one part in memory.

    A row with a problem or too large for any request is `invalid`, one with an empty line or a
    blank prompt is `blank`. With `repeats`, a question is asked once: other rows with it are copies
    of the first.
    """
    cutter = _Cutter(writer, total=total, limits=limits, repeats=repeats)
    for some in rows:
        yield from cutter.take(some)
    yield from cutter.rest()


class _Cutter:
    """Fills one part after another. Each `take` yields the parts that are full."""

    def __init__(
        self, writer: ItemWriter, *, total: int, limits: Limits, repeats: Repeats | None
    ) -> None:
        self._writer, self._limits, self._repeats = writer, limits, repeats
        self._most = rows_per_part(total, limits)
        # `_most` questions of this size fit into a part.
        enough = (limits.item_bytes - FRAME) // self._most - writer.picture_bytes
        self._enough = min(enough, limits.question_bytes) - 1
        self._part = Cut(number=1, first_row=0, lines=[], item_bytes=FRAME)
        self._row_bytes = 0

    def take(self, rows: Rows) -> Iterator[Cut]:
        """Add rows. Nearly always all are asked, and are small; then nobody looks at each."""
        bound = None if rows.problems or self._repeats else self._writer.bound(rows.cells)
        if bound is not None and self._are_small(rows.stored, bound):
            return self._take_all(rows, bound)
        return self._take_each(rows.each())

    def _are_small(self, stored: Sequence[bytes], bound: tuple[int, int]) -> bool:
        """Whether each row can be asked, and as many as these fit into a part as it may have."""
        each, times = bound
        number, longest = len(stored), max(map(len, stored))
        in_all = number * each + times * sum(map(len, stored))
        return (
            each + times * longest < self._limits.question_bytes
            and in_all <= number * self._enough
            and longest * self._most <= self._limits.row_bytes
        )

    def rest(self) -> Iterator[Cut]:
        """The last part, if it has rows."""
        if self._part.lines:
            yield self._ended()

    def _take_all(self, rows: Rows, bound: tuple[int, int]) -> Iterator[Cut]:
        each, times = bound
        at = 0
        while at < len(rows.stored):
            if len(self._part.lines) >= self._most:
                yield self._ended()
            part = self._part
            some = rows.stored[at : at + self._most - len(part.lines)]
            row_bytes = sum(map(len, some))
            item_bytes = len(some) * (1 + each) + times * row_bytes
            if part.item_bytes + item_bytes > self._limits.item_bytes:
                yield from self._take_each(islice(rows.each(), at, None))
                return
            if not part.lines:
                part.first_row = rows.number + at
            part.lines += some
            part.item_bytes += item_bytes
            self._row_bytes += row_bytes
            at += len(some)

    def _take_each(self, rows: Iterable[Row]) -> Iterator[Cut]:
        sized = _sized(rows, self._writer, enough=self._enough, limits=self._limits)
        for number, cells, stored, size, problem in sized:
            first = number
            if self._repeats and problem is None:
                first = self._repeats.first(self._writer.question(cells) or b"", number)
                if first != number:
                    size = 0
            if self._is_full(size, stored):
                yield self._ended()
            part = self._part
            if not part.lines:
                part.first_row = number
            if problem is not None:
                (part.blank if problem.blank else part.invalid)[len(part.lines)] = problem
            elif first != number:
                part.copies[len(part.lines)] = first
            part.lines.append(stored)
            part.item_bytes += size
            self._row_bytes += len(stored)

    def _is_full(self, size: int, stored: bytes) -> bool:
        """Whether a row of this size has no room in the part."""
        part, limits = self._part, self._limits
        return bool(part.lines) and (
            len(part.lines) >= self._most
            or part.item_bytes + size > limits.item_bytes
            or self._row_bytes + len(stored) > limits.row_bytes
        )

    def _ended(self) -> Cut:
        """The part, to which nothing is added any more."""
        part = self._part
        part.item_bytes = max(part.item_bytes, NOTHING)
        self._part = Cut(number=part.number + 1, first_row=0, lines=[], item_bytes=FRAME)
        self._row_bytes = 0
        return part


def _sized(
    rows: Iterable[Row], writer: ItemWriter, *, enough: int, limits: Limits
) -> Iterator[tuple[int, Cells, bytes, int, Problem | None]]:
    """Number, cells, stored cells, bytes of the item with its comma, and problem of each row.

    A row that cannot be asked has 0 bytes. enough: see `ItemWriter.size`.
    """
    # A model counts a picture otherwise than by its bytes; a request does not.
    pictured = writer.picture_bytes
    longest = min(limits.question_bytes, limits.item_bytes - FRAME - pictured)
    for row in rows:
        number, line, cells, problem, line_of_json = row
        stored = line_of_json or encode_row(cells)
        size = 0
        if problem is None:
            try:
                size = 1 + writer.size(number, cells, line, stored=len(stored), enough=enough)
            except BadInput as exc:
                problem = exc.problem
            if size > longest:
                problem, size = _too_large(row, size=size, limits=limits), 0
            elif size:
                size += pictured
        yield number, cells, stored, size, problem


def _too_large(row: Row, *, size: int, limits: Limits) -> Problem:
    """The problem of a row whose item has `size` bytes."""
    if FRAME + size > limits.item_bytes or limits.context_window is None:
        most = f"{limits.item_bytes / 1e6:.1f} MB"
        what = (
            f"its question would be {size / 1e6:.1f} MB, more than the {most} that one request "
            f"takes. Shorten its text{OR_SKIP}"
        )
    else:
        most = f"{round(limits.context_window * WORDS_FOR_TOKEN, -2):,.0f} words"
        what = (
            f"its question has about {round(size / BYTES_FOR_WORD, -2):,.0f} words, and the model "
            f"reads about {most} at once. Choose a model that reads more or shorten the text"
            f"{OR_SKIP}"
        )
    return Problem(what, row=row.number, line=row.line)
