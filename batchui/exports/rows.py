"""The rows that exports are made of."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

CHUNK_BYTES = 64 * 1024


class ExportRow(msgspec.Struct, gc=False):
    """One row of the file with its answer.

    cells: one for each column of the file. extras: the cells beyond them. columns: the object of
    a JSONL row as it was read, else None.
    answer, usage: raw JSON, or None. error: a sentence, None if nothing went wrong.
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
    """The rows in lists, each of about one chunk (CHUNK_BYTES)."""
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
