"""Fetches pictures from the addresses that people put into cells.

Whoever may put an address into a cell may have this server open it. So only public hosts are opened
(`public`), at the address that was looked at (`connecting`), redirects are not followed, nothing is
sent along (no cookie, no password, no proxy of the environment), and both the bytes and the seconds
have a limit.
"""

import ssl
import time
from collections.abc import Collection
from http.client import HTTPException, HTTPResponse
from typing import Any

from batchui.pictures.addresses import Address, is_address, read_address
from batchui.pictures.connecting import Line, Peer, connected, resolve
from batchui.pictures.problems import LARGEST_SOURCE, NoPicture, too_large

__all__ = ["fetch", "is_address"]

# Seconds before the second and the third try.
PAUSES = (0.5, 1.5)
_BUSY = (408, 425, 429)
_GONE = (404, 410)
_CLOSED = (401, 403)


def fetch(address: str, *, allowed: Collection[str] = (), seconds: float = 20) -> bytes:
    """What an address leads to: at most LARGEST_SOURCE bytes, which nobody has looked at.

    allowed: "host" or "host:port" of those that may be opened though they are not public; a name in
    other letters is in its "xn--" form, an IPv6 address in brackets. seconds: for all of it. What
    may pass is tried three times within them. Raises NoPicture.
    """
    ends = time.monotonic() + seconds
    place = read_address(address)
    peers = resolve(place, allowed=allowed, ends=ends)
    pauses = iter(PAUSES)
    while True:
        try:
            return _fetched(place, peers, ends)
        except NoPicture as problem:
            pause = next(pauses, None)
            if not problem.passes or pause is None or time.monotonic() + pause >= ends:
                raise
        time.sleep(pause)


def _fetched(address: Address, peers: list[Peer], ends: float) -> bytes:
    """One try. No exception of the network leaves it: it could have the address in it."""
    try:
        with connected(address, peers, ends) as line:
            return _exchange(address, line)
    except ssl.SSLCertVerificationError:
        raise NoPicture(
            f"{address.shown} could not prove to be that host: its certificate is not valid. "
            "Correct the address in the cell, or put another one there."
        ) from None
    except TimeoutError:
        raise NoPicture(
            f"{address.shown} did not send the picture in time. Try again later.", passes=True
        ) from None
    except (OSError, HTTPException):
        raise NoPicture(
            f"{address.shown} could not be reached, or broke off. Try again later.", passes=True
        ) from None


def _exchange(address: Address, line: Line) -> bytes:
    line.send(
        f"GET {address.target} HTTP/1.1\r\n"
        f"Host: {address.authority}\r\n"
        "User-Agent: batchui\r\n"
        "Accept: image/*, */*;q=0.5\r\n"
        "Accept-Encoding: identity\r\n"
        "Connection: close\r\n\r\n".encode("ascii")
    )
    # It wants nothing else of a socket.
    source: Any = line
    with HTTPResponse(source, method="GET") as response:
        response.begin()
        if response.status != 200:
            raise _no_success(address, response.status)
        return _content(address, response)


def _content(address: Address, response: HTTPResponse) -> bytes:
    """The body. Raises NoPicture if it is too large, OSError if it ends too early."""
    if (response.length or 0) > LARGEST_SOURCE:
        raise too_large(f"The picture at {address.shown}")
    content = response.read(LARGEST_SOURCE + 1)
    if len(content) > LARGEST_SOURCE:
        raise too_large(f"The picture at {address.shown}")
    if response.length:
        raise OSError("the reply was cut short")
    return content


def _no_success(address: Address, status: int) -> NoPicture:
    """The error for a reply other than 200."""
    host, told = address.shown, f"(HTTP {status})"
    if status in _BUSY or status >= 500:
        return NoPicture(f"{host} cannot send it now {told}. Try again later.", passes=True)
    if 300 <= status < 400:
        return NoPicture(
            f"The address at {host} leads elsewhere {told}. Put the address that it leads to in "
            "the cell."
        )
    if status in _GONE:
        return NoPicture(f"{host} has no such picture {told}. Correct the address in the cell.")
    if status in _CLOSED:
        return NoPicture(
            f"{host} does not give the picture to everybody {told}. Put an address that opens "
            "without signing in, and is still valid, in the cell."
        )
    return NoPicture(
        f"{host} gave no picture {told}. Open the address in a browser, and correct it."
    )
