"""A script that somebody tuned by hand: msgspec, four threads, each with a kept connection.

    python tuned.py INPUT.csv OUTPUT.csv URL

What is the same in every item is encoded once. Replies are decoded into structs. Every cell is
quoted, because `csv.writer` checks each character, which took two thirds of the time. A thread
takes a part from its rows to its bytes of CSV. Parts are written in order; at most eight are in
memory.
"""

import csv
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import count, islice
from urllib.parse import urlsplit

import msgspec

PART = 5000
THREADS = 4
PROMPT = "Say in one sentence what the guest liked and disliked: "
ITEM = b'{"messages":[{"role":"user","content":%b}],"max_tokens":1024,"external_reference":"%d"}'
HEADERS = {"Authorization": "Bearer token", "Content-Type": "application/json"}

encode = msgspec.json.encode


class Answer(msgspec.Struct, gc=False):
    response: str


class Item(msgspec.Struct, gc=False):
    id: int
    result: Answer


class Result(msgspec.Struct):
    request_id: str = ""
    responses: list[Item] | None = None


class Reply(msgspec.Struct):
    result: Result


decode = msgspec.json.Decoder(Reply).decode


class Client(threading.local):
    """A connection for each thread, which is kept."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.path = f"{address.path}?queueRequest=true"
        self.connection = HTTPConnection(address.netloc, timeout=120)

    def post(self, body: bytes) -> Result:
        self.connection.request("POST", self.path, body, HEADERS)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"HTTP {reply.status}: {text[:200]!r}")
        return decode(text).result


def line(row: list[str]) -> str:
    cells = [cell.replace('"', '""') for cell in row]
    return '"' + '","'.join(cells) + '"\r\n'


def answered(client: Client, rows: list[list[str]], first: int) -> bytes:
    """The rows with their answers, as CSV."""
    items = [ITEM % (encode(PROMPT + row[2]), number) for number, row in enumerate(rows, first)]
    receipt = client.post(b'{"requests":[%b]}' % b",".join(items))
    polled = encode({"request_id": receipt.request_id})
    while (answers := client.post(polled).responses) is None:
        time.sleep(1)
    for item in answers:
        rows[item.id].append(item.result.response)
    return "".join(map(line, rows)).encode()


def main(source: str, target: str, url: str) -> None:
    client = Client(url)
    parts: deque[Future[bytes]] = deque()
    with (
        ThreadPoolExecutor(THREADS) as pool,
        open(source, newline="", encoding="utf-8") as file,
        open(target, "wb") as out,
    ):
        reader = csv.reader(file)
        out.write(line([*next(reader), "answer"]).encode())
        for first in count(1, PART):
            rows = list(islice(reader, PART))
            if not rows:
                break
            parts.append(pool.submit(answered, client, rows, first))
            if len(parts) == 2 * THREADS:
                out.write(parts.popleft().result())
        for part in parts:
            out.write(part.result())


if __name__ == "__main__":
    main(*sys.argv[1:])
