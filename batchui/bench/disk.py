"""What the product keeps in its data folder, by kind."""

import os
from pathlib import Path

KINDS = ("upload", "rows", "answers", "replies", "database", "other")


def disk_use(data: Path) -> dict[str, int]:
    """The bytes of every file below `data`, by kind (KINDS); `CONTRIBUTING.md`, “Where things
    live”, says which file is which."""
    sizes = dict.fromkeys(KINDS, 0)
    for folder, _, names in os.walk(data):
        for name in names:
            path = Path(folder, name)
            sizes[_kind(path)] += path.stat().st_size
    return sizes


def _kind(path: Path) -> str:
    if path.parent.name == "source":
        return "upload"
    if ".sqlite3" in path.name:
        return "database"
    kind = {"rows": "rows", "answers": "answers", "reply": "replies"}
    return kind.get(path.name.partition("-")[0], "other")
