"""An HTTP request and a response, apart from how they travel."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Literal
from urllib.parse import parse_qsl, unquote


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
    """A body in chunks may be large: it is made while it is sent.

    `cut`: close the connection instead of answering, by FIN (close) or by RST (reset).
    `truncated`: announce the whole body and send half of it.
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
    """A body of `length` bytes, which is not below 0; None when it is longer than `limit`.

    What is too long is read and thrown away, so that the caller gets to read the answer. Raises
    ConnectionError when the body ends early.
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
