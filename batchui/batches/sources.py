"""What the rows of a batch are read from: its upload, or the file that was made of it.

A plain text (CSV, TSV, TXT, JSONL) is read as it was uploaded. Anything else is converted first.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import BinaryIO, NamedTuple

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.prompts.checking import SAMPLE_ROWS, sample_above
from batchui.prompts.format import Choices, Format
from batchui.prompts.problems import BadInput, quoted
from batchui.prompts.readers import read_beginning, read_blocks
from batchui.prompts.rows import sample_text
from batchui.prompts.sniffing import HEAD_BYTES, sniff


class Look(NamedTuple):
    """What the beginning of a file shows: how to read it, its first rows, and those above them."""

    format: Format
    sample: list[str]
    above: list[str]


def open_rows(batch: Batch) -> BinaryIO:
    """What the rows of a batch are read from, at its beginning."""
    if batch.converted_file:
        return files.open_unpacked(batch.converted_file)
    return files.open_file(batch.source_file)


def look(open_stream: Callable[[], BinaryIO], *, name: str, choices: Choices) -> Look:
    """What the beginning of a text shows, with what a person chose.

    A text of at most HEAD_BYTES is read to its end, so that a bad one is refused at once; of a
    larger one the check reports what comes later. `open_stream` opens it at its beginning. Raises
    BadInput.
    """
    stream = open_stream()
    head = stream.read(HEAD_BYTES)
    whole = not stream.read(1)
    form = sniff(head, name=name, whole=whole, choices=choices)
    refuse_nul(form)
    rows = _first_rows(open_stream(), form, whole=whole)
    return Look(form, rows, sample_above(open_stream(), form))


def look_again(batch: Batch, choices: Choices) -> Look:
    """What the beginning of a batch's file shows, with other choices. Raises BadInput."""
    with ExitStack() as opened:
        return look(
            lambda: opened.enter_context(open_rows(batch)), name=batch.source_name, choices=choices
        )


def _first_rows(stream: BinaryIO, form: Format, *, whole: bool) -> list[str]:
    rows: list[str] = []
    try:
        for block in read_blocks(stream, form) if whole else read_beginning(stream, form):
            rows += map(sample_text, block.cells[: SAMPLE_ROWS - len(rows)])
            if len(rows) == SAMPLE_ROWS and not whole:
                break
    except BadInput:
        if whole or not rows:
            raise
    return rows


def refuse_nul(form: Format) -> None:
    """Raise BadInput for a column name with a NUL character, which PostgreSQL cannot store."""
    for column in form.columns:
        if "\0" in column:
            raise BadInput(
                f"The name of the column {quoted(column)} contains a NUL character. Rename it and "
                "upload the file again."
            )
