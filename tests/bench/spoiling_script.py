"""A side of the bench that does its work, and then changes one word in the middle of it."""

import csv
from pathlib import Path

from batchui.bench import bare


def main(source: str, target: str, url: str) -> None:
    bare.main(source, target, url)
    with Path(target).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows[len(rows) // 2][-1] += " Not."
    with Path(target).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
