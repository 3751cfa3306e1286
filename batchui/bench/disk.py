"""The sizes of the files in the product's data folder, by kind."""

import os
from pathlib import Path

KINDS = ("upload", "rows", "answers", "replies", "database", "other")


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
    kinds = {
        "rows": "rows",
        "answers": "answers",
        "reply": "replies",
    }  # rows: also those of a draft
    kind = kinds.get(path.name.partition("-")[0], "other")
    return "upload" if path.parent.name == "source" and kind == "other" else kind
