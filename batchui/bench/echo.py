"""A server that speaks just enough of the wire to measure against: every item of a request is
answered at once with 300 bytes of text. It costs as little as it can, so that what is measured is
the client."""

import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

ANSWER = ("The guest liked the room and the breakfast, and would have liked more quiet. " * 4)[:300]
ITEM = '{"id":%d,"result":{"response":"' + ANSWER + '"},"success":true,"external_reference":null}'
# Both clients send `max_tokens` with every item.
COUNTED = b'"max_tokens"'
POLLED = re.compile(rb'^\s*\{\s*"request_id"\s*:\s*"(\d+)"')

_sizes: dict[int, int] = {}
_numbers = count(1)


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        polled = POLLED.match(body)
        reply = _answers(int(polled[1])) if polled else _receipt(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_request(self, *_: object) -> None:
        pass


def _receipt(body: bytes) -> bytes:
    number = next(_numbers)
    _sizes[number] = body.count(COUNTED)
    return b'{"result":{"status":"queued","request_id":"%d"},"success":true}' % number


def _answers(number: int) -> bytes:
    items = ",".join([ITEM % index for index in range(_sizes.pop(number))])
    return ('{"result":{"responses":[' + items + ']},"success":true,"errors":[]}').encode()


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
