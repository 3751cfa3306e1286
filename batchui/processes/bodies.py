"""What the web server keeps of a request's body.

waitress takes a body in before a thread works on the request. Here are the limits on top of it.
"""

import copy
import io
from collections.abc import Callable, Mapping
from typing import Any

from waitress.parser import HTTPRequestParser
from waitress.receiver import ChunkedReceiver
from waitress.utilities import BadRequest

# The largest body that is kept, by the path and the request's headers (COOKIE …), and by how many
# bytes of other requests are still to come and to be kept.
MostBytes = Callable[[str, Mapping[str, str], int], int]
# Whether its sender may still send it, by the headers. It is asked in a thread.
MaySend = Callable[[Mapping[str, str]], bool]
# The header that a request gets whose body was thrown away (in WSGI HTTP_THROWN_AWAY).
THROWN_AWAY = "THROWN_AWAY"

# How much of a chunked body may be no content: so many bytes, and one for so many of content. The
# first is the longest control line and the longest trailer, too.
FRAMING_BYTES, CONTENT_FOR_FRAMING = 8 * 1024, 8
# waitress copies the rest of what it is given for each chunk in it.
PIECE_BYTES = 16 * 1024


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads a request. A body that is too large is read and thrown away.

    The page then answers by its length. Answering before it is read would reset the connection, and
    the browser would show no answer at all.
    """

    most_bytes: MostBytes
    may_send: MaySend
    adj: Any
    body_rcv: Any
    was_asked = is_refused = False

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        self.headers.pop(THROWN_AWAY, None)  # only we say so
        if self.body_rcv is None:
            return
        most = self.most_bytes(self.path, self.headers, self.under_way())
        if self.chunked:
            self.body_rcv = Chunked(self.body_rcv.getbuf())
            # Its length is not known before; waitress refuses it when it gets too large.
            self.adj = copy.copy(self.adj)
            self.adj.max_request_body_size = most
        elif self.content_length > most:
            self._throw_away()

    def received(self, data: bytes) -> int:
        if self.is_refused and self.coming:
            self._throw_away()
        return int(super().received(data))

    def under_way(self) -> int:
        """How many bytes of other requests are still to come and to be kept."""
        return 0

    @property
    def coming(self) -> int:
        """How many bytes are still to come and to be kept; of a body in chunks at most."""
        if self.body_rcv is None or isinstance(self.body_rcv, Discarded):
            return 0
        length = self.adj.max_request_body_size if self.chunked else self.content_length
        return int(length - self.body_bytes_received)

    @property
    def must_ask(self) -> bool:
        """Whether the body will be written to the disk, and its sender is still to be asked for."""
        return not self.was_asked and self.coming > self.adj.inbuf_overflow

    def _throw_away(self) -> None:
        """Keep nothing of the body, also of what has come."""
        if self.chunked:
            self.adj.max_request_body_size = 0
            return
        self.body_rcv.getbuf().close()
        self.body_rcv = Discarded(self.content_length - self.body_bytes_received)
        self.headers[THROWN_AWAY] = "1"


class Inquiry:
    """Asks whether somebody may still send a body. A task for a thread of waitress.

    Meanwhile the body comes in: the loop that reads it cannot wait for a database.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        parser.was_asked = True

    def service(self) -> None:
        self._parser.is_refused = not self._parser.may_send(self._parser.headers)

    def cancel(self) -> None:
        """The server ends."""


class Chunked(ChunkedReceiver):  # type: ignore[misc]
    """A body in chunks, of which most must be content.

    Otherwise a client would keep the web server busy with lines that never end, or with chunks of a
    byte each. Browsers announce a length; proxies send chunks of kilobytes.
    """

    error: BadRequest | None

    def __init__(self, buffer: Any) -> None:
        super().__init__(buffer)
        self._taken = 0

    def received(self, data: bytes) -> int:
        taken = 0
        while taken < len(data) and not (self.completed or self.error):
            taken += super().received(data[taken : taken + PIECE_BYTES])
            self._refuse_too_little_content(self._taken + taken)
        self._taken += taken
        return len(data) if self.error else taken  # the rest is no other request

    def _refuse_too_little_content(self, taken: int) -> None:
        unfinished = max(len(self.control_line), len(self.trailer))
        framing = taken - len(self)
        allowed = FRAMING_BYTES + len(self) // CONTENT_FOR_FRAMING
        if unfinished > FRAMING_BYTES or framing > allowed:
            self.error = BadRequest("Too little content for so many chunks")


class Discarded:
    """A body that is counted and not kept."""

    error = None

    def __init__(self, length: int) -> None:
        self._left = length
        self.completed = False

    def __len__(self) -> int:
        return 0

    def received(self, data: bytes) -> int:
        taken = min(len(data), self._left)
        self._left -= taken
        self.completed = not self._left
        return taken

    def getfile(self) -> io.BytesIO:
        return io.BytesIO()

    def getbuf(self) -> io.BytesIO:
        return io.BytesIO()
