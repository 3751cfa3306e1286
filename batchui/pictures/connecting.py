"""Opens a connection to exactly the machine that was looked at, and ends each wait in time.

The name is resolved once. Whoever asked a second time could be told another address than the one
that was found to be public.
"""

import io
import socket
import ssl
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal

import certifi

from batchui.pictures.addresses import Address
from batchui.pictures.problems import NoPicture
from batchui.pictures.public import is_public

SECONDS_TO_CONNECT = 5.0
# Some systems have no word of its own for a host without an address.
_NO_SUCH_HOST = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
# What getaddrinfo says of one address of a host: family, kind, protocol, name, socket address.
Peer = tuple[Any, Any, int, str, Any]


def resolve(address: Address, *, allowed: Collection[str], ends: float) -> list[Peer]:
    """Where the host of an address is. ends: on the clock of `time.monotonic`.

    Raises NoPicture: there is no such host, or one of its addresses is not public, and it is not
    among `allowed`.
    """
    try:
        peers = _looked_up(address, ends)
    except socket.gaierror as exc:
        if exc.errno not in _NO_SUCH_HOST:
            raise _not_found_now(address) from None
        raise NoPicture(
            f"There is no host {address.shown}. Correct the address in the cell."
        ) from None
    except (OSError, RuntimeError):  # too late, no more files or threads
        raise _not_found_now(address) from None
    if not address.is_among(allowed) and not all(is_public(peer[4][0]) for peer in peers):
        raise NoPicture(
            f"{address.shown} is not on the public internet, and pictures are fetched from there "
            "alone. Put a public address in the cell, or pack the pictures as a zip."
        )
    return peers


def _looked_up(address: Address, ends: float) -> list[Peer]:
    """The peers. Raises OSError, and RuntimeError if no thread can start.

    The system's resolver cannot be told to stop, and a name server of a stranger may be slow: the
    thread is left to itself then.
    """
    found: SimpleQueue[list[Peer] | OSError] = SimpleQueue()

    def look_up() -> None:
        try:
            # Bytes: a str would be encoded again, by older rules.
            host = address.host.encode("ascii")
            found.put(socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM))
        except OSError as exc:
            found.put(exc)

    Thread(target=look_up, daemon=True).start()
    try:
        result = found.get(timeout=left(ends))
    except Empty:
        raise TimeoutError from None
    if isinstance(result, OSError):
        raise result
    return result


def _not_found_now(address: Address) -> NoPicture:
    return NoPicture(
        f"The host {address.shown} could not be looked up. Try again later.", passes=True
    )


class Line(io.RawIOBase):
    """A connection to write to and read from until the deadline: TimeoutError after it.

    A timeout of a socket limits each read, and not the whole: a server that sends a byte each
    second would hold a worker for hours.
    """

    def __init__(self, connection: socket.socket, ends: float) -> None:
        self._socket = connection
        self._ends = ends

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.settimeout(left(self._ends))
        self._socket.sendall(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(left(self._ends))
        return self._socket.recv_into(buffer)

    def makefile(self, mode: Literal["rb"]) -> io.BufferedReader:
        """What http.client asks a socket for."""
        return io.BufferedReader(self)


@contextmanager
def connected(address: Address, peers: list[Peer], ends: float) -> Iterator[Line]:
    """A line to the first peer that takes one. Over TLS it must prove to be the host.

    Raises OSError: TimeoutError, ssl.SSLCertVerificationError, and others.
    """
    with _connect(peers, ends) as plain:
        if not address.is_secure:
            yield Line(plain, ends)
            return
        plain.settimeout(left(ends))
        with _certificates().wrap_socket(plain, server_hostname=address.host) as secured:
            yield Line(secured, ends)


def _connect(peers: list[Peer], ends: float) -> socket.socket:
    problem = OSError("the host has no address")
    for family, kind, protocol, _, peer in peers:
        try:
            connection = socket.socket(family, kind, protocol)
        except OSError as exc:  # a machine without IPv6
            problem = exc
            continue
        try:
            connection.settimeout(min(left(ends), SECONDS_TO_CONNECT))
            connection.connect(peer)
        except OSError as exc:
            connection.close()
            problem = exc
        else:
            return connection
    raise problem


def left(ends: float) -> float:
    """The seconds until then. Raises TimeoutError if there are none."""
    seconds = ends - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that this machine trusts (its own network's are among them), and the usual
    ones, which a small container may not have. They are read once, because it is slow.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
