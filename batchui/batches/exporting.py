"""Downloads: the rows of a batch with their answers, as the bytes of a file."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from batchui.batches import references, results
from batchui.batches.models import Batch
from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.rows import ExportRow
from batchui.exports.table import Table
from batchui.prompts.rows import as_list, extras


class Kind(NamedTuple):
    """A kind of download: what makes its bytes, its content type, its ending, its name."""

    chunks: Callable[[Batch], Iterator[bytes]]
    content_type: str
    ending: str
    label: str


# The status of a row that has none of `states.AnswerStatus` yet.
WAITING = "waiting"


def csv(batch: Batch) -> Iterator[bytes]:
    """CSV for spreadsheets: with a byte order mark, and without cells that run as a formula."""
    return csv_chunks(export_rows(batch), table(batch), delimiter=batch.format.delimiter)


def csv_plain(batch: Batch) -> Iterator[bytes]:
    """CSV for programs: every cell exactly as it is."""
    return csv_chunks(
        export_rows(batch), table(batch), delimiter=batch.format.delimiter, plain=True
    )


def json(batch: Batch) -> Iterator[bytes]:
    """JSON: one array of objects."""
    return json_chunks(export_rows(batch), table(batch))


def jsonl(batch: Batch) -> Iterator[bytes]:
    """JSONL: one object on each line."""
    return jsonl_chunks(export_rows(batch), table(batch))


# By the word for each in addresses and options.
KINDS: dict[str, Kind] = {
    "csv": Kind(csv, "text/csv; charset=utf-8", "csv", "CSV for Excel and Sheets"),
    "csv-plain": Kind(
        csv_plain, "text/csv; charset=utf-8", "plain.csv", "CSV, every cell exactly as it is"
    ),
    "json": Kind(json, "application/json", "json", "JSON"),
    "jsonl": Kind(jsonl, "application/x-ndjson", "jsonl", "JSONL, one row on each line"),
}


def table(batch: Batch) -> Table:
    """What the file of a batch says about its rows."""
    read = batch.format
    return Table(read.columns, header=read.header, typed=read.kind == "table")


def export_rows(batch: Batch) -> Iterator[ExportRow]:
    """Every row of a batch, for an export. A row without a status of its own is "waiting"."""
    columns = batch.columns
    reference = references.reference_of(batch)
    for row, cells, status, answer, error, usage in results.results(batch):
        if cells is None:  # its text is lost; the error says why
            cells = [""] * len(columns)
        yield ExportRow(
            row=row,
            cells=as_list(cells, columns),
            extras=extras(cells, columns),
            columns=cells if isinstance(cells, dict) else None,
            answer=answer,
            status=status or WAITING,
            error=error,
            external_reference=reference(row, cells),
            usage=usage,
        )
