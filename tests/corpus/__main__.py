"""Writes every file of the corpus into a folder: `python -m tests.corpus FOLDER`."""

import os
import sys
from pathlib import Path

import django


def main(folder: Path) -> None:
    """Write each file below its title, as titles and not names are unique."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    from tests.corpus.catalogue import ALL  # its fixtures know the models

    for number, entry in enumerate(ALL, 1):
        place = folder / f"{number:03} {entry.title.replace('/', ' ')}"
        place.mkdir(parents=True)
        (place / entry.name).write_bytes(entry.content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
