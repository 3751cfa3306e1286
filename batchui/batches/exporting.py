"""The rows of a batch with their answers, and the downloads that are made while they are sent."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from django.db import DatabaseError

from batchui.batches import references, results, sources
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.progress import Progress, in_steps, telling, untold
from batchui.batches.results import WAITING, Result
from batchui.batches.sheet.selection import STATUSES
from batchui.exports import names
from batchui.exports.csv import csv_chunks, spreadsheet_delimiter
from batchui.exports.formulas import Changed
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.names import ANSWER
from batchui.exports.rows import ExportRow, TextRows
from batchui.exports.table import Selection, Table
from batchui.prompts.answer_fitting import fields_of
from batchui.prompts.reading.readers import rows_above
from batchui.prompts.reading.rows import as_list, cell_text, extras, typed_cell

logger = logging.getLogger(__name__)

# Which rows go out, by the word for them in addresses and options.
ONLY: dict[str, frozenset[str] | None] = {
    "all": None,
    **{word: frozenset(STATUSES[word]) for word in ("answered", "attention")},
}


@dataclass(frozen=True)
class Choice:
    """What of a batch goes out.

    only: a key of ONLY. columns: of the file; None: all. answer: the name of the column of answers.
    whole: where answers have columns of their own, whether a column has them as they came, too.
    """

    only: str = "all"
    columns: tuple[str, ...] | None = None
    answer: str = ANSWER
    whole: Literal["unfit", "always", "never"] = "unfit"  # unfit: if one does not fit its columns

    @property
    def selection(self) -> Selection:
        """The same for the writers."""
        columns = None if self.columns is None else frozenset(self.columns)
        return Selection(columns=columns, answer=self.answer, statuses=ONLY[self.only])

    @property
    def has_everything(self) -> bool:
        """Whether all rows and all columns go out."""
        return self.only == "all" and self.columns is None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, for the database."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Choice":
        """The choice that `to_dict` wrote."""
        columns = stored.get("columns")
        return cls(**{**stored, "columns": None if columns is None else tuple(columns)})


ALL = Choice()


class Chunks(Protocol):
    """Makes a download while it is sent, and tells now and then how many rows are done."""

    def __call__(
        self, batch: Batch, choice: Choice = ..., progress: Progress = ..., /
    ) -> Iterator[bytes]: ...


# Makes a download as a whole in a file (see `whole_files.py`). Returns sentences about it.
Write = Callable[[Batch, Choice, Path, Progress], list[str]]


def always(_: Batch) -> bool:
    """What fits every batch."""
    return True


class Kind(NamedTuple):
    """A kind of download: its name on pages, its content type, its ending, and who makes it.

    chunks: makes it while it is sent. write: makes it as a whole. Each kind has one of them.
    fits: whether it can be made of a batch. instead: the kind to make where that fails; "" if there
    is none. meant_for: which of similar kinds to take, in a few words; "" where the name says it.
    """

    label: str
    content_type: str
    ending: str
    chunks: Chunks | None = None
    write: Write | None = None
    fits: Callable[[Batch], bool] = always
    instead: str = ""
    meant_for: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it has to be made as a whole before it is sent."""
        return self.write is not None


def csv(batch: Batch, choice: Choice = ALL, progress: Progress = untold) -> Iterator[bytes]:
    """CSV for spreadsheets: with a byte order mark, and without cells that run as a formula.

    How many cells that has changed is noted at the end, if all rows and columns went out. Where the
    database takes no note (its disk is full, it is locked), the download is whole all the same.
    """
    rows, changed = _rows_of_csv(batch, choice, progress), Changed()
    delimiter = spreadsheet_delimiter(batch.format.delimiter)
    yield from csv_chunks(
        rows, table(batch, choice), choice.selection, delimiter=delimiter, changed=changed
    )
    if choice.has_everything:
        with suppress(DatabaseError):
            Batch.objects.filter(pk=batch.pk).update(cells_made_inert=changed.cells)


def csv_plain(batch: Batch, choice: Choice = ALL, progress: Progress = untold) -> Iterator[bytes]:
    """CSV for programs: every cell exactly as it is, with the delimiter of the file."""
    rows, delimiter = _rows_of_csv(batch, choice, progress), batch.format.delimiter
    return csv_chunks(rows, table(batch, choice), choice.selection, delimiter=delimiter, plain=True)


def streamed(
    chunks_of: Callable[[Iterable[ExportRow], Table, Selection], Iterator[bytes]],
) -> Chunks:
    """The maker of downloads with a function of `exports/` that makes bytes of rows."""

    def made(batch: Batch, choice: Choice = ALL, progress: Progress = untold, /) -> Iterator[bytes]:
        return chunks_of(export_rows(batch, progress), table(batch, choice), choice.selection)

    return made


json, jsonl = streamed(json_chunks), streamed(jsonl_chunks)


def table(batch: Batch, choice: Choice = ALL, *, typed: bool = False) -> Table:
    """What the file of a batch says about its rows. typed: as in `export_rows`."""
    form = batch.format
    is_typed = form.kind == "table" or (typed and form.kind == "jsonl")
    return Table(
        form.columns,
        header=form.header,
        above=_above(batch),
        typed=is_typed,
        of_texts=form.delimiter is not None,  # also the table of the answers to a CSV
        fields=[column.name for column in batch.ask.answer_columns],
        whole=has_whole_answers(batch, choice),
    )


def has_whole_answers(batch: Batch, choice: Choice) -> bool:
    """Whether answers go out as they came: where they have no columns, or it is chosen."""
    if not batch.ask.answer_columns or choice.whole == "always":
        return True
    return choice.whole == "unfit" and batch.unfit > 0


def added_columns(batch: Batch, choice: Choice = ALL) -> tuple[str, ...]:
    """The names of the columns for answer, status and error that are added to those of the file."""
    form = batch.format
    return names.added_columns(
        [*form.columns, *(form.header or ())],
        fields=[column.name for column in batch.ask.answer_columns],
        whole=has_whole_answers(batch, choice),
        answer=choice.answer,
    )


def _above(batch: Batch) -> list[list[Any]]:
    """The rows above the names of the columns.

    If the stored file is lost or damaged, those that were shown: no answer depends on it.
    """
    form = batch.format
    if form.first_row - 1 <= bool(form.header_row):
        return []
    try:
        with sources.open_rows(batch) as stream:
            rows = rows_above(stream, form)
    except (OSError, DamagedFile) as problem:
        logger.warning("The rows above those of batch %s cannot be read: %s", batch.pk, problem)
        rows = [cells for _, cells in batch.rows_above]
    return [
        row for row in rows[: form.header_row - 1 if form.header_row else None] if type(row) is list
    ]


def _rows_of_csv(
    batch: Batch, choice: Choice, progress: Progress
) -> Iterator[ExportRow | TextRows]:
    """Every row of a batch for a CSV: many at once where it is one of texts, and all goes out."""
    is_of_texts = batch.format.kind in ("csv", "txt")
    if not (is_of_texts and choice.has_everything) or batch.ask.answer_columns:
        yield from export_rows(batch, progress)
        return
    done, tell = 0, in_steps(progress)
    for part in batch.parts.order_by("number").iterator():
        there = 0
        with suppress(DamagedFile):  # then the rest of its rows are read one by one
            for rows in results.text_rows(part, columns=len(batch.columns)):
                yield rows
                there += len(rows.cells)
                tell(done + there)
        rest = islice(results.readable_results(part), there, None) if there < part.rows else ()
        yield from _exported(batch, rest)
        done += part.rows
        tell(done)


def export_rows(
    batch: Batch, progress: Progress = untold, *, typed: bool = False
) -> Iterator[ExportRow]:
    """Every row of a batch, for an export. A row without a status of its own is "waiting".

    progress: told now and then how many rows there were. typed: the numbers and booleans of JSON
    objects stay what they are in the cells, too; else these are texts.
    """
    return _exported(batch, telling(results.results(batch), progress), typed=typed)


def _exported(batch: Batch, found: Iterable[Result], *, typed: bool = False) -> Iterator[ExportRow]:
    columns, wanted = batch.columns, batch.ask.answer_columns
    value_cell = typed_cell if typed else cell_text
    reference = references.reference_of(batch)
    for result in found:
        row, cells, status, answer, error, usage, edit = result
        if cells is None:  # its text is lost; the error says why
            cells = [""] * len(columns)
        yield ExportRow(
            row=row,
            cells=as_list(cells, columns, value_cell),
            extras=extras(cells, columns),
            columns=cells if isinstance(cells, dict) else None,
            answer=answer,
            status=status or WAITING,
            error=error,
            external_reference=reference(row, cells),
            usage=usage,
            fields=fields_of(answer, wanted) if wanted else (),
            edited=edit is not None,
            own_answer=result.own_answer if edit else None,
        )
