"""The items of requests that an upstream works off, and their answers, in the sandbox's file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from batchui.sandbox.store import NOT_YET, Store

_CHUNK = 64 * 1024  # bytes
_AT_ONCE = 20  # entries in memory


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A request that has not ended. left: the positions of its items without an answer."""

    id: str
    account: str
    model: str
    left: Sequence[int]


class _Reference(msgspec.Struct):
    external_reference: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class WorkStore:
    """The items. Safe to use from many threads. Its methods raise sqlite3.Error."""

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def add(self, *, account: str, model: str, body: bytes, items: Sequence[bytes]) -> str:
        """Store a request with its items, of which there is at least one. Returns its new id."""
        return self._store.add(
            account=account,
            model=model,
            body=body,
            items=len(items),
            moments=(NOT_YET, NOT_YET),
            work=items,
        )

    def unfinished(self) -> list[Unfinished]:
        """The requests that have not ended, the oldest first."""
        with self._store.transaction() as database:
            found = database.execute(
                "SELECT id, account, model FROM requests WHERE done_at = ? ORDER BY created, rowid",
                (NOT_YET,),
            ).fetchall()
            left = "SELECT position FROM items WHERE request_id = ? AND entry IS NULL ORDER BY 1"
            return [
                Unfinished(
                    request_id,
                    account,
                    model,
                    [position for (position,) in database.execute(left, (request_id,))],
                )
                for request_id, account, model in found
            ]

    def begin(self, request_id: str) -> None:
        """An item of the request is asked. After the first one this changes nothing."""
        with self._store.transaction() as database:
            database.execute(
                "UPDATE requests SET runs_at = ? WHERE id = ? AND runs_at = ?",
                (self._clock(), request_id, NOT_YET),
            )

    def asked(self, request_id: str, position: int) -> bytes | None:
        """The item as it was sent; None if it is answered, or the request was dropped."""
        with self._store.transaction() as database:
            row = database.execute(
                "SELECT asked FROM items WHERE request_id = ? AND position = ?",
                (request_id, position),
            ).fetchone()
        return row[0] if row else None

    def answer(
        self, request_id: str, position: int, *, result: bytes, read: int, written: int
    ) -> None:
        """Store the answer to an item, unless it has one. read, written: tokens."""
        entry = {"success": True, "result": msgspec.Raw(result)}
        self._settle(request_id, [position], entry, read=read, written=written)

    def fail(self, request_id: str, positions: Sequence[int], reason: str) -> None:
        """Store why items have no answer, those that have none."""
        self._settle(request_id, positions, {"success": False, "error": reason})

    def _settle(
        self,
        request_id: str,
        positions: Sequence[int],
        entry: dict[str, object],
        *,
        read: int = 0,
        written: int = 0,
    ) -> None:
        with self._store.transaction() as database:
            for position in positions:
                where = (request_id, position)
                row = database.execute(
                    "SELECT asked FROM items WHERE request_id = ? AND position = ?"
                    " AND entry IS NULL",
                    where,
                ).fetchone()
                if row:
                    whole = {"index": position, **entry, **_reference(row[0])}
                    database.execute(
                        "UPDATE items SET asked = NULL, entry = ?, read = ?, written = ?"
                        " WHERE request_id = ? AND position = ?",
                        (msgspec.json.encode(whole), read, written, *where),
                    )

    def finish(self, request_id: str) -> None:
        """Every item has its answer, or none for good: the reply can be fetched."""
        with self._store.transaction() as database:
            database.execute(
                "UPDATE requests SET runs_at = min(runs_at, ?1), done_at = ?1, stored = stored +"
                " (SELECT coalesce(sum(length(entry)), 0) FROM items WHERE request_id = ?2)"
                " WHERE id = ?2 AND done_at = ?3",
                (self._clock(), request_id, NOT_YET),
            )

    def reply(self, request_id: str) -> Iterator[bytes]:
        """The result of a finished request as JSON, in chunks of about 64 KiB.

        Raises ConnectionError half-way if the request is dropped meanwhile.
        """
        with self._store.transaction() as database:
            count, read, written = database.execute(
                "SELECT count(*), sum(read), sum(written) FROM items WHERE request_id = ?",
                (request_id,),
            ).fetchone()
        buffer, position = bytearray(b'{"results":['), 0
        while position < count:
            entries = self._entries(request_id, position)
            if not entries:
                raise ConnectionError("The request was dropped while its reply was sent.")
            for entry in entries:
                buffer += b"," if position else b""
                buffer += entry
                position += 1
            if len(buffer) >= _CHUNK:
                yield bytes(buffer)
                buffer.clear()
        usage = {
            "prompt_tokens": read or 0,
            "completion_tokens": written or 0,
            "total_tokens": (read or 0) + (written or 0),
        }
        yield bytes(buffer) + b'],"usage":' + msgspec.json.encode(usage) + b"}"

    def _entries(self, request_id: str, begin: int) -> list[bytes]:
        """The next entries in the order of their positions, from the position `begin` on."""
        with self._store.transaction() as database:
            rows = database.execute(
                "SELECT entry FROM items WHERE request_id = ? AND position >= ? AND position < ?"
                " ORDER BY position",
                (request_id, begin, begin + _AT_ONCE),
            ).fetchall()
        return [entry for (entry,) in rows]


def _reference(asked: bytes) -> dict[str, object]:
    """The external_reference of an item, to be echoed; {} if it has none."""
    try:
        found = msgspec.json.decode(asked, type=_Reference).external_reference
    except msgspec.MsgspecError:
        return {}
    return {} if found is msgspec.UNSET else {"external_reference": found}
