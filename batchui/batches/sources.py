"""What the rows of a batch are read from: its upload, or the file that was made of it.

A plain text (CSV, TSV, TXT, JSONL) is read as it was uploaded. Anything else is converted first.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from django.core.files.storage import default_storage

from batchui.batches import uploads
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import DamagedFile, open_unpacked
from batchui.batches.models import Batch
from batchui.prompts.conversion.looking import read_head
from batchui.prompts.problems import BadInput, quoted
from batchui.prompts.reading.checking import SAMPLE_ROWS, sample_above
from batchui.prompts.reading.format import Choices, Format
from batchui.prompts.reading.readers import read_beginning, read_blocks
from batchui.prompts.reading.rows import sample_text
from batchui.prompts.reading.sniffing import sniff, sniff_table


class Look(NamedTuple):
    """What the beginning of a file shows: how to read it, its first rows, and those above them."""

    format: Format
    sample: list[str]
    above: list[str]

    def as_fields(self) -> BatchChanges:
        """It as fields of a batch."""
        return {
            "source_format": self.format.to_dict(),
            "sample": self.sample,
            "above": self.above,
        }


def open_rows(batch: Batch) -> BinaryIO:
    """What the rows of a batch are read from, at its beginning."""
    if batch.converted_file:
        return open_unpacked(batch.converted_file)
    return uploads.open_upload(batch.source_file)


def refuse_changed(batch: Batch) -> None:
    """Raise DamagedFile for an upload that is not as long as it was stored; OSError if it is lost.

    Its rows may be in another file by now, but the answers are to go into this one.
    """
    size = default_storage.size(batch.source_file)
    stored_size = uploads.stored_size(batch)
    if size != stored_size:
        raise DamagedFile(
            f"The stored file {batch.source_file} is damaged: it has {size:,} bytes in place of "
            f"{stored_size:,}."
        )


def head(batch: Batch) -> bytes:
    """The first HEAD_BYTES of an upload."""
    with uploads.open_upload(batch.source_file) as source:
        return read_head(source)


def look_at_text(open_stream: Callable[[], BinaryIO], *, name: str, choices: Choices) -> Look:
    """What the beginning of a text shows, with what a person chose.

    A text of at most HEAD_BYTES is read to its end, so that a bad one is refused at once; of a
    larger one the check reports what comes later. `open_stream` opens it at its beginning. Raises
    BadInput.
    """
    head, whole = _head(open_stream())
    return _look(open_stream, sniff(head, name=name, whole=whole, choices=choices), whole=whole)


def look(batch: Batch, choices: Choices) -> Look:
    """What the beginning of a batch's file shows, with these choices.

    A file that has to be converted must have been. Raises BadInput.
    """
    about, sheet = batch.converted, batch.sheet
    with ExitStack() as opened:

        def open_stream() -> BinaryIO:
            return opened.enter_context(open_rows(batch))

        if sheet is None:
            name = {"text": about.get("name"), "jsonl": "objects.jsonl"}.get(about.get("kind", ""))
            return look_at_text(open_stream, name=name or batch.source_name, choices=choices)
        head, whole = _head(open_stream())
        form = sniff_table(
            head, whole=whole, columns=sheet["columns"], named=sheet["header"], choices=choices
        )
        form = replace(form, delimiter=about.get("delimiter"))
        return _look(open_stream, form, whole=whole)


def _look(open_stream: Callable[[], BinaryIO], form: Format, *, whole: bool) -> Look:
    refuse_nul(form)
    rows = _first_rows(open_stream(), form, whole=whole)
    return Look(form, rows, sample_above(open_stream(), form))


def _head(stream: BinaryIO) -> tuple[bytes, bool]:
    """The first HEAD_BYTES, and whether that is all."""
    return read_head(stream), not stream.read(1)


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
