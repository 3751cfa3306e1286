"""The sizes of the files in the product's data folder, by kind: at once, and after its sweeps."""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from batchui.bench.own_process import WITH_DJANGO, output_of

KINDS = ("upload", "rows", "draft rows", "answers", "replies", "database", "other")
# When the disk is measured: as it is, and after the product's own sweeps at a later time.
LATER = {"an hour later": timedelta(hours=1.1), "three days later": timedelta(days=3.1)}


def disk_over_time(data: Path, environment: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The disk use as it is, and as the product's sweeps leave it (LATER).

    environment: of the product, which does not run any more. Its own clock is moved. Raises
    BenchFailed.
    """
    found = {"when it has ended": disk_use(data)}
    for name, passed in LATER.items():
        _sweep(passed, environment)
        found[name] = disk_use(data)
    return found


def _sweep(passed: timedelta, environment: Mapping[str, str]) -> None:
    seconds = passed.total_seconds()
    later = "batchui.bench.later"
    output_of(WITH_DJANGO, later, seconds, what="The sweeps", environment=environment)


def disk_use(data: Path) -> dict[str, int]:
    """The bytes of all files below `data`, by kind (KINDS).

    `CONTRIBUTING.md`, “Where things live”, says what the files are.
    """
    sizes = dict.fromkeys(KINDS, 0)
    for folder, _, names in os.walk(data):
        for name in names:
            path = Path(folder, name)
            sizes[_kind(path)] += path.stat().st_size
    return sizes


def _kind(path: Path) -> str:
    if ".sqlite3" in path.name:
        return "database"
    of_batch = path.parent.name == "source"
    kinds = {
        "rows": "draft rows" if of_batch else "rows",
        "answers": "answers",
        "reply": "replies",
    }
    return kinds.get(path.name.partition("-")[0], "upload" if of_batch else "other")
