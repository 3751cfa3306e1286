"""The script a programmer would write instead: csv, json, httpx. Nothing of ours.

    python bare.py INPUT.csv OUTPUT.csv URL

Reads the rows, posts them in parts, polls each part, writes the joined CSV. Prints one line of
JSON: seconds, and the peak of its memory in MB.
"""

import csv
import json
import resource
import sys
import time

import httpx

PART = 5000
PROMPT = "Say in one sentence what the guest liked and disliked: "


def main(source: str, target: str, url: str) -> None:
    began = time.perf_counter()
    client = httpx.Client(timeout=120, headers={"Authorization": "Bearer token"})
    with open(source, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader)
        rows = list(reader)

    requests = []
    for start in range(0, len(rows), PART):
        items = [
            {
                "messages": [{"role": "user", "content": PROMPT + row[2]}],
                "max_tokens": 1024,
                "external_reference": str(start + index + 1),
            }
            for index, row in enumerate(rows[start : start + PART])
        ]
        reply = client.post(url, params={"queueRequest": "true"}, json={"requests": items})
        reply.raise_for_status()
        requests.append((start, reply.json()["result"]["request_id"]))

    answers = [""] * len(rows)
    for start, request_id in requests:
        while True:
            reply = client.post(
                url, params={"queueRequest": "true"}, json={"request_id": request_id}
            )
            reply.raise_for_status()
            result = reply.json()["result"]
            if "responses" in result:
                break
            time.sleep(1)
        for item in result["responses"]:
            answers[start + item["id"]] = item["result"]["response"]

    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*header, "answer"])
        for row, answer in zip(rows, answers, strict=True):
            writer.writerow([*row, answer])
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"seconds": seconds, "peak_mb": peak}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
