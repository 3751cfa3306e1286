"""Reads the address of a picture, as it stands in a cell."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import idna

from batchui.pictures.problems import NoPicture
from batchui.prompts.problems import quoted

_BEGINNINGS = ("http://", "https://")
_PORTS = {"http": 80, "https": 443}
# A name, an IPv4 address in any form, or an IPv6 address without a zone.
_HOST = re.compile(r"[a-z0-9_][a-z0-9._-]*|[0-9a-f]*:[0-9a-f:.]+")
# What stays as it is in a path and a query: all that RFC 3986 allows, and what is quoted already.
_STAYS = "%/:=&?~+!$,;'@()*[]"


@dataclass(frozen=True, slots=True)
class Address:
    """An address. host: in small letters, ASCII, no brackets. target: path and query, quoted."""

    is_secure: bool
    host: str
    port: int
    target: str

    @property
    def shown(self) -> str:
        """Its host for a sentence. The rest may hold a signature, and is never shown."""
        return quoted(self.host)

    @property
    def authority(self) -> str:
        """Host and port as the header Host has them: the usual port is left out."""
        usual = _PORTS["https" if self.is_secure else "http"]
        return self._host if self.port == usual else f"{self._host}:{self.port}"

    def is_among(self, allowed: Collection[str]) -> bool:
        """Whether one of the entries "host" or "host:port" is this one, in any case of letters."""
        entries = {entry.strip().lower() for entry in allowed}
        return self._host in entries or f"{self._host}:{self.port}" in entries

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def is_address(text: str) -> bool:
    """Whether a cell has the address of a picture, and not the name of a file."""
    return text.strip().lower().startswith(_BEGINNINGS)


def host_of(text: str) -> str:
    """The host of an address, for a sentence; "" if there is none in the text."""
    try:
        return read_address(text).shown
    except NoPicture:
        return ""


def read_address(text: str) -> Address:
    """The parts of an address. Raises NoPicture if it is none, or has a password in it."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
        host = _ascii(parts.hostname or "")
        target = quote(parts.path or "/", safe=_STAYS)
        query = quote(parts.query, safe=_STAYS)
    except ValueError:
        raise _no_address() from None
    if not is_address(text) or not _HOST.fullmatch(host) or port == 0:
        raise _no_address()
    if "@" in parts.netloc:
        raise NoPicture(
            f"The address at {quoted(host)} has a user name in it. Pictures are fetched without "
            "signing in: take it out, or put an address that everybody can open in the cell."
        )
    return Address(
        is_secure=parts.scheme == "https",
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        target=f"{target}?{query}" if query else target,
    )


def _ascii(host: str) -> str:
    """A host as the wire has it. Raises ValueError if it cannot be one.

    The dot at the end of a full name is left out: certificates are made out without it.
    """
    if not host.isascii():
        host = idna.encode(host, uts46=True).decode("ascii")
    return host.lower().removesuffix(".")


def _no_address() -> NoPicture:
    return NoPicture(
        "This is no address that can be opened. Put one like https://example.com/picture.jpg in "
        "the cell."
    )
