"""What the exports are made of."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

CHUNK_BYTES = 64 * 1024


class ExportRow(msgspec.Struct, gc=False):
    """One row of the file and what became of it.

    `cells` are aligned with the file's columns, `extras` stand beyond them; `columns` is the
    object of a JSONL row as it was read. `answer` and `usage` are raw JSON, None where there is
    none. `error` is a sentence, None where nothing went wrong.
    """

    row: int
    cells: list[str]
    extras: list[str]
    columns: dict[str, Any] | None
    answer: bytes | None
    status: str
    error: str | None
    external_reference: str | None
    usage: bytes | None


def groups(rows: Iterable[ExportRow]) -> Iterator[list[ExportRow]]:
    """The rows in lists that make about a chunk each."""
    group: list[ExportRow] = []
    size = 0
    for row in rows:
        group.append(row)
        size += 100 + sum(map(len, row.cells)) + len(row.answer or b"")
        if size >= CHUNK_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
