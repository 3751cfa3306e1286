"""The script that a programmer would write instead: csv, json, httpx. Nothing of ours.

    python bare.py INPUT.csv OUTPUT.csv URL

It reads the file part by part, keeps some parts under way, and writes the rows with their answers
in order. Only those parts are in memory.
"""

import csv
import sys
import time
from collections import deque
from itertools import count, islice

import httpx

PART = 5000
UNDER_WAY = 8
PROMPT = "Say in one sentence what the guest liked and disliked: "
QUEUED = {"queueRequest": "true"}


def prepare(*_: str) -> None:
    """Import all of httpx, which imports half of itself when it is first used."""
    httpx.Client().close()


def submit(client: httpx.Client, url: str, rows: list[list[str]], first: int) -> str:
    items = [
        {
            "messages": [{"role": "user", "content": PROMPT + row[2]}],
            "max_tokens": 1024,
            "external_reference": str(number),
        }
        for number, row in enumerate(rows, first)
    ]
    reply = client.post(url, params=QUEUED, json={"requests": items})
    reply.raise_for_status()
    return str(reply.json()["result"]["request_id"])


def fetch(client: httpx.Client, url: str, request_id: str) -> dict[int, str]:
    while True:
        reply = client.post(url, params=QUEUED, json={"request_id": request_id})
        reply.raise_for_status()
        result = reply.json()["result"]
        if "responses" in result:
            return {item["id"]: item["result"]["response"] for item in result["responses"]}
        time.sleep(1)


def main(source: str, target: str, url: str) -> None:
    parts: deque[tuple[list[list[str]], str]] = deque()
    with (
        httpx.Client(timeout=120, headers={"Authorization": "Bearer token"}) as client,
        open(source, newline="", encoding="utf-8") as file,
        open(target, "w", newline="", encoding="utf-8") as out,
    ):
        reader, writer = csv.reader(file), csv.writer(out)

        def write_oldest() -> None:
            rows, request_id = parts.popleft()
            answers = fetch(client, url, request_id)
            writer.writerows([*row, answers[place]] for place, row in enumerate(rows))

        writer.writerow([*next(reader), "answer"])
        for first in count(1, PART):
            rows = list(islice(reader, PART))
            if not rows:
                break
            parts.append((rows, submit(client, url, rows, first)))
            if len(parts) == UNDER_WAY:
                write_oldest()
        while parts:
            write_oldest()


if __name__ == "__main__":
    main(*sys.argv[1:])
