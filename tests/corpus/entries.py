"""An entry of the corpus: a file, and what must come of it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from batchui.prompts.problems import BadInput
from tests.batches.conftest import MakeBatch


class Table(NamedTuple):
    """What a strange but good file is read as.

    columns: their names, without those that are empty throughout. first: the cells of the first
    row; an object of a JSON file as it is. encoding: a key of `code_pages.NAMES`. bad: how many of
    the rows cannot be asked.
    """

    columns: tuple[str, ...]
    rows: int
    first: Any
    encoding: str = "utf-8"
    bad: int = 0


class Entry(NamedTuple):
    """A file with a title and a name as it is uploaded.

    data: its bytes, or what makes them. expected: a table; or the sentence for a person, of which
    “…” at the end leaves the rest open.
    """

    title: str
    name: str
    data: bytes | Callable[[], bytes]
    expected: Table | str

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.data if isinstance(self.data, bytes) else self.data()


def found_in(receive: MakeBatch, entry: Entry) -> Table | str:
    """What becomes of a file on the product's own path: what is read, or the sentence.

    Of a sentence only as much as the entry expects.
    """
    try:
        batch = receive(entry.content, entry.name)
    except BadInput as exc:
        return _beginning(str(exc), entry.expected)
    if batch.problem:
        return _beginning(batch.problem, entry.expected)
    form = batch.format
    return Table(form.shown_columns, batch.rows, batch.first_rows[0], form.encoding, batch.bad_rows)


def _beginning(sentence: str, expected: Table | str) -> str:
    if isinstance(expected, Table) or not expected.endswith("…"):
        return sentence
    return sentence[: len(expected) - 1] + "…"


def each(entries: Sequence[Entry]) -> pytest.MarkDecorator:
    """Runs a test with each of these entries, under its title."""
    titles = [f"{entry.title} ({entry.name})" for entry in entries]
    return pytest.mark.parametrize("entry", entries, ids=titles)


def lines(*rows: str, end: str = "\n") -> bytes:
    """A text of these lines, in UTF-8."""
    return "".join(row + end for row in rows).encode()
