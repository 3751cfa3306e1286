"""A request and a response, apart from how they travel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal, Protocol
from urllib.parse import parse_qsl, unquote

_STATUSES = frozenset(int(status) for status in HTTPStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`body` is None when it was larger than the sandbox takes (it was read and thrown away).

    `host` is the caller's address, header names are in lower case.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = b""
    host: str = "127.0.0.1"


@dataclass(slots=True, kw_only=True)
class Response:
    """`cut`: close the connection instead of answering, at once (reset) or politely (close).
    `truncated`: announce the whole body and send half of it. A body in chunks can be large."""

    status: int = 200
    body: bytes | Iterator[bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: Literal["", "close", "reset"] = ""
    truncated: bool = False

    def whole(self) -> bytes:
        """The body in one piece, which takes as much memory as it is long."""
        if not isinstance(self.body, bytes):
            self.body = b"".join(self.body)
        return self.body


def phrase(status: int) -> str:
    """What an HTTP status is called; Cloudflare's own (520 and so on) have no standard name."""
    return HTTPStatus(status).phrase if status in _STATUSES else "Unknown"


class Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


def split_target(target: str) -> tuple[str, dict[str, str]]:
    """The path (unquoted) and the query of a request line's target."""
    path, _, query = target.partition("?")
    return unquote(path), dict(parse_qsl(query, keep_blank_values=True))


def read_body(stream: Reader, *, length: int, limit: int) -> bytes | None:
    """A body of `length` bytes; None when that is above `limit` (it is read and thrown away, so
    that the caller gets to read the answer). Raises ConnectionError when it ends early."""
    kept = bytearray()
    left = length
    while left:
        chunk = stream.read(min(left, 256 * 1024))
        if not chunk:
            raise ConnectionError("The body ended early.")
        left -= len(chunk)
        if length <= limit:
            kept += chunk
    return bytes(kept) if length <= limit else None
