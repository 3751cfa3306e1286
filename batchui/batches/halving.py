"""Chooses the rows of the next request of a part after Cloudflare refused one for what it says.

Rows that were refused together are cut in halves, until the row that is refused stands alone. Each
request shows more: an accepted half leaves the other one suspect. So one bad row among n is found
with about log2(n) requests, and no row is accepted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tried:
    """A request for some rows, and whether Cloudflare accepted it or refused it."""

    rows: frozenset[int]
    accepted: bool


def next_rows(waiting: Sequence[int], tried: Sequence[Tried]) -> Sequence[int]:
    """The rows to send next.

    waiting: the rows without an answer, in order; at least one. tried: the requests so far, in
    order. A row that was refused alone no longer waits.
    """
    refused = [request.rows for request in tried if not request.accepted]
    accepted = [request.rows for request in tried if request.accepted]
    alone = {row for rows in refused if len(rows) == 1 for row in rows}
    together = [rows for rows in refused if alone.isdisjoint(rows)]
    suspects = [row for row in waiting if row in together[-1]] if together else []
    if suspects:
        return suspects[: (len(suspects) + 1) // 2]
    if alone and not accepted:
        # Perhaps every row is refused. Rows far from each other show it sooner than neighbours.
        return waiting[-1:] if len(alone) % 2 else waiting[len(waiting) // 2 :][:1]
    if accepted and any(rows.isdisjoint(waiting) for rows in together):
        # Accepted in pieces, although it was refused as a whole: there were too many rows.
        return waiting[: max(map(len, accepted))]
    return waiting
