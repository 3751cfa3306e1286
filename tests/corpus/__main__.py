"""Writes every file of the corpus into a folder: `python -m tests.corpus FOLDER`."""

import sys
from pathlib import Path

from tests.corpus.catalogue import ALL


def main(folder: Path) -> None:
    for number, entry in enumerate(ALL, 1):
        place = folder / f"{number:03} {entry.title}".replace("/", " ")
        place.mkdir(parents=True)
        (place / entry.name).write_bytes(entry.content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
