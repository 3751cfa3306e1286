"""What people download: a batch's rows with their answers, as bytes of each kind."""

from collections.abc import Callable, Iterator

from batchui.batches import results
from batchui.batches.models import Batch
from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.rows import ExportRow
from batchui.prompts.rows import as_list, extras

Chunks = Callable[[Batch], Iterator[bytes]]


def csv(batch: Batch) -> Iterator[bytes]:
    """For spreadsheets: with a byte order mark, and no cell that would run as a formula."""
    return csv_chunks(
        export_rows(batch), columns=batch.columns, delimiter=batch.format.delimiter or ","
    )


def csv_plain(batch: Batch) -> Iterator[bytes]:
    """For programs: every cell exactly as it is."""
    return csv_chunks(
        export_rows(batch),
        columns=batch.columns,
        delimiter=batch.format.delimiter or ",",
        plain=True,
    )


def json(batch: Batch) -> Iterator[bytes]:
    """One array of objects."""
    return json_chunks(export_rows(batch), columns=batch.columns)


def jsonl(batch: Batch) -> Iterator[bytes]:
    """An object a line."""
    return jsonl_chunks(export_rows(batch), columns=batch.columns)


# Kind: what makes it, its content type, its ending.
KINDS: dict[str, tuple[Chunks, str, str]] = {
    "csv": (csv, "text/csv; charset=utf-8", "csv"),
    "csv-plain": (csv_plain, "text/csv; charset=utf-8", "csv"),
    "json": (json, "application/json", "json"),
    "jsonl": (jsonl, "application/x-ndjson", "jsonl"),
}


def export_rows(batch: Batch) -> Iterator[ExportRow]:
    """Every row of a batch, as the exports take them. A row still on its way has its part's
    status."""
    columns = batch.columns
    reference = results.reference_of(batch)
    for part in batch.parts.order_by("number").iterator():
        under_way = str(part.status)
        for row, cells, status, answer, error, usage in results.part_results(part):
            yield ExportRow(
                row=row,
                cells=as_list(cells, columns),
                extras=extras(cells, columns),
                columns=cells if isinstance(cells, dict) else None,
                answer=answer,
                status=status or under_way,
                error=error,
                external_reference=reference(row, cells),
                usage=usage,
            )
