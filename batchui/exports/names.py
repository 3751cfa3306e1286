"""Names for the added columns and the downloaded files."""

import re
from collections.abc import Sequence

ADDED = ("answer", "status", "error")
LONGEST_STEM = 100
# Everything except letters and digits of any script, and a few safe signs.
UNSAFE = re.compile(r"[^\w.()\- ]+")


def answer_columns(columns: Sequence[str]) -> tuple[str, str, str]:
    """The names of the columns for answer, status and error.

    A name that the file already has, in capitals or not, gets a number at its end.
    """
    taken = {column.strip().casefold() for column in columns}
    answer, status, error = (_free(name, taken) for name in ADDED)
    return answer, status, error


def _free(name: str, taken: set[str]) -> str:
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def download_name(source_name: str, kind: str) -> str:
    """A file name for a download: "reviews.xlsx" and "csv" make "reviews-answers.csv"."""
    name = re.split(r"[/\\]", source_name)[-1]
    stem = name.rpartition(".")[0] or name
    stem = UNSAFE.sub("-", stem)[:LONGEST_STEM].strip(" .-")
    return f"{stem or 'batch'}-answers.{kind}"
