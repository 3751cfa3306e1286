"""Cuts rows into parts, each small enough for one request."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from batchui.prompts.items import ItemWriter
from batchui.prompts.payload import CLOSE, OPEN
from batchui.prompts.problems import BadInput, Problem
from batchui.prompts.readers import Row
from batchui.prompts.rows import encode_row

# The bytes of a body without items. Each item counts one comma; FRAME has one byte less, because
# the first item needs none.
NOTHING = len(OPEN) + len(CLOSE)
FRAME = NOTHING - 1


@dataclass(frozen=True)
class Limits:
    """How large a part may be.

    A batch gets about `parts` parts, each with at least `least_rows` and at most `rows` rows.
    item_bytes: of the request's body. row_bytes: of the rows as they are stored.
    """

    rows: int = 5_000
    item_bytes: int = 8_000_000
    row_bytes: int = 32_000_000
    least_rows: int = 25
    parts: int = 20


USUAL = Limits()


@dataclass
class Cut:
    """One part of a batch.

    number: from 1. first_row: the number of its first row. lines: its rows, from `encode_row`.
    item_bytes: the request body without the `invalid` rows has at most this size.
    invalid: position -> problem, for rows that cannot be asked. They stay in `lines`.
    """

    number: int
    first_row: int
    lines: list[bytes]
    item_bytes: int
    invalid: dict[int, Problem]


def rows_per_part(total: int, limits: Limits = USUAL) -> int:
    """The number of rows in a part of a batch of `total` rows, if they are not too large."""
    wanted = -(-total // limits.parts)
    return min(max(wanted, limits.least_rows), limits.rows)


def cut(
    rows: Iterable[Row], writer: ItemWriter, *, total: int, limits: Limits = USUAL
) -> Iterator[Cut]:
    """Cut consecutive rows into parts, with one part in memory.

    A row with a problem, with a blank prompt, or too large for any request is `invalid`.
    """
    most = rows_per_part(total, limits)
    enough = (limits.item_bytes - FRAME) // most - 1  # `most` items of this size fit into a part
    number, first_row, item_bytes, row_bytes = 1, 0, FRAME, 0
    lines: list[bytes] = []
    invalid: dict[int, Problem] = {}
    for row in rows:
        row_number, line, cells, problem = row
        stored = encode_row(cells)
        size = 0
        if problem is None:
            try:
                size = 1 + writer.size(row_number, cells, line, stored=len(stored), enough=enough)
            except BadInput as exc:
                problem = exc.problem
            if FRAME + size > limits.item_bytes:
                problem, size = _too_large(row, size=size, limits=limits), 0
        if lines and (
            len(lines) >= most
            or item_bytes + size > limits.item_bytes
            or row_bytes + len(stored) > limits.row_bytes
        ):
            yield Cut(number, first_row, lines, max(item_bytes, NOTHING), invalid)
            number, item_bytes, row_bytes = number + 1, FRAME, 0
            lines, invalid = [], {}
        if not lines:
            first_row = row_number
        if problem is not None:
            invalid[len(lines)] = problem
        lines.append(stored)
        item_bytes += size
        row_bytes += len(stored)
    if lines:
        yield Cut(number, first_row, lines, max(item_bytes, NOTHING), invalid)


def _too_large(row: Row, *, size: int, limits: Limits) -> Problem:
    """The problem of a row whose item has `size` bytes."""
    most = f"{limits.item_bytes / 1e6:.1f} MB"
    what = (
        f"its question would be {size / 1e6:.1f} MB, more than the {most} that one request takes. "
        "Shorten its text, or skip the row."
    )
    return Problem(what, row=row.number, line=row.line)
