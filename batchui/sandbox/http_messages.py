"""HTTP requests and responses, without the connection."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Literal
from urllib.parse import parse_qsl, unquote


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request. body: None if it is larger than the sandbox accepts.

    host: the caller's address. headers: with names in lower case.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = b""
    host: str = "127.0.0.1"


@dataclass(slots=True, kw_only=True)
class Response:
    """A response. body: whole, or in chunks that are made while it is sent.

    cut: close the connection without an answer, by FIN (close) or by RST (reset).
    truncated: announce the whole body, but send half of it.
    """

    status: int = 200
    body: bytes | Iterator[bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: Literal["", "close", "reset"] = ""
    truncated: bool = False


def split_target(target: str) -> tuple[str, dict[str, str]]:
    """The path (unquoted) and the query of a request line's target."""
    path, _, query = target.partition("?")
    return unquote(path), dict(parse_qsl(query, keep_blank_values=True))


def read_body(stream: BufferedIOBase, *, length: int, limit: int) -> bytes | None:
    """A body of `length` bytes (at least 0); None if it is longer than `limit`.

    A body that is too long is read and thrown away, so that the caller can read the answer. Raises
    ConnectionError if the body ends early.
    """
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
