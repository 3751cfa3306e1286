"""An imitation of the Batch API with just enough of the wire for measuring.

Every request is answered as fast as possible, and a poll waits for the answers. The answer to an
item is four sentences that depend only on its question (`texts.py`). The items come back in another
order than they were sent in, as the API may do. It uses as little CPU time as possible, because the
client is what is measured; the bench prints its CPU time.

    python -m batchui.bench.echo [SECONDS]   prints its port, then serves until it is stopped

With SECONDS, a request is `running` until it was there for so long, and a poll does not wait.

GET /calls returns the number of submissions and polls.
"""

import json
import re
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import msgspec

from batchui.bench.texts import answer_places, answer_sentences

POLLED = re.compile(rb'^\s*\{\s*"request_id"\s*:\s*"(\d+)"')
ITEM = b'{"id":%d,"result":{"response":"%b %b %b %b"},"success":true,"external_reference":%b}'
REPLY = (
    b'{"result":{"responses":[%b],"usage":{"prompt_tokens":%d,"completion_tokens":%d,'
    b'"total_tokens":%d}},"success":true,"errors":[],"messages":[]}'
)
RECEIPT = (
    b'{"result":{"status":"queued","request_id":"%d"},"success":true,"errors":[],"messages":[]}'
)
RUNNING = RECEIPT.replace(b"queued", b"running")
GONE = (
    b'{"result":null,"success":false,"errors":[{"code":5504,"message":"Request not found in '
    b'queue"}],"messages":[]}'
)


class Message(msgspec.Struct, gc=False):
    """One message of an item."""

    content: str


class Item(msgspec.Struct, gc=False):
    """One item of a submission; every client of the bench sends one message."""

    messages: tuple[Message]
    external_reference: msgspec.Raw = msgspec.Raw(b"null")


class Body(msgspec.Struct):
    """A submission."""

    requests: list[Item]


class Api:
    """The requests that wait to be fetched, and the number of calls.

    One thread answers them one after another, while the client goes on to its next request.
    seconds: how long each is `running` before it is answered.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.submitted = self.polled = 0
        self._seconds = seconds
        self._numbers = count(1)
        self._replies: dict[int, tuple[float, Future[bytes]]] = {}
        self._worker = ThreadPoolExecutor(1)
        self._decode = msgspec.json.Decoder(Body).decode
        # As they are inside a JSON string.
        self._sentences = [msgspec.json.encode(sentence)[1:-1] for sentence in answer_sentences()]

    def submit(self, body: bytes) -> bytes:
        """Put a request into the queue. Returns the receipt."""
        number = next(self._numbers)
        self.submitted += 1
        answered_at = time.monotonic() + self._seconds
        self._replies[number] = answered_at, self._worker.submit(self._answered, body)
        return RECEIPT % number

    def reply(self, number: int) -> bytes | None:
        """The finished reply, as soon as it is there; None if it was fetched before.

        Before its time, what the API says of a request that it works on.
        """
        self.polled += 1
        answered_at, waiting = self._replies.get(number, (0.0, None))
        if time.monotonic() < answered_at:
            return RUNNING % number
        return waiting.result() if waiting else None

    def fetched(self, number: int) -> None:
        """Forget a reply that was sent completely."""
        self._replies.pop(number, None)

    def _answered(self, body: bytes) -> bytes:
        items = self._decode(body).requests
        found = [self._answer(place, item) for place, item in enumerate(items)]
        found.reverse()
        tokens = 75 * len(items)
        return REPLY % (b",".join(found), tokens, tokens, 2 * tokens)

    def _answer(self, place: int, item: Item) -> bytes:
        first, third = answer_places(item.messages[0].content)
        found = self._sentences
        return ITEM % (
            place,
            found[first],
            found[first + 1],
            found[third],
            found[third + 1],
            item.external_reference,
        )


class Handler(BaseHTTPRequestHandler):
    """HTTP for `Api`. Connections are kept open."""

    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm, a small segment would wait up to 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    api: Api

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        polled = POLLED.match(body)
        if not polled:
            self._send(200, self.api.submit(body))
            return
        number = int(polled[1])
        reply = self.api.reply(number)
        if reply is None:
            self._send(404, GONE)
        else:
            self._send(200, reply)
            if reply != RUNNING % number:
                self.api.fetched(number)

    def do_GET(self) -> None:
        calls = {"submitted": self.api.submitted, "polled": self.api.polled}
        self._send(200, json.dumps(calls).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """The HTTP server, with a thread for each connection."""

    daemon_threads = True
    request_queue_size = 64


def main(seconds: str = "0") -> None:
    Handler.api = Api(float(seconds))
    server = Server(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
