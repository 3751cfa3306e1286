"""Downloads that have to be made as a whole: workbooks and Parquet. And the list of all kinds.

The next format is a module of `exports/`, and a line in KINDS.
"""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from batchui.batches import exporting, files
from batchui.batches.exporting import (
    Choice,
    Kind,
    Write,
    added_columns,
    export_rows,
    table,
)
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.batches.progress import Progress
from batchui.batches.states import AnswerStatus
from batchui.exports import parquet
from batchui.exports.answers import answer_cell, field_cell
from batchui.exports.names import download_name
from batchui.exports.ods import write_ods
from batchui.exports.ods_frame import MIMETYPE as ODS_TYPE
from batchui.exports.parquet import write_parquet
from batchui.exports.rows import cell_text
from batchui.exports.sheets import MOST_ROWS, Written, sheets_for
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.splicing import Answers
from batchui.exports.workbook.writer import ENDINGS, Added, add_columns
from batchui.exports.xlsx import MIMETYPE as XLSX_TYPE
from batchui.exports.xlsx import write_xlsx


def _nothing(_: object) -> list[str]:
    return []


def whole(write: Callable[..., Any], remarks: Callable[[Any], list[str]] = _nothing) -> Write:
    """The maker of downloads with a function of `exports/` that writes a new file.

    remarks: from what `write` returns to what a person should know about the file.
    """

    def made(batch: Batch, choice: Choice, target: Path, progress: Progress) -> list[str]:
        written = write(
            export_rows(batch, typed=True),
            table(batch, choice, typed=True),
            choice.selection,
            target=target,
            folder=target.parent,
            progress=progress,
        )
        return remarks(written)

    return made


def workbook(batch: Batch, choice: Choice, target: Path, progress: Progress) -> list[str]:
    """The workbook that was uploaded, with the answers beside its columns."""
    sheet = batch.sheet
    if sheet is None:
        raise CannotWrite("This batch did not come from an Excel workbook. Choose a new one.")
    form = batch.format
    with files.open_file(batch.source_file) as source, target.open("w+b") as out:
        added = add_columns(
            source,
            out,
            sheet=sheet["name"],
            header_row=form.header_row,
            columns=added_columns(batch, choice),
            rows=_answers(batch, choice),
            progress=progress,
        )
    return _about_columns(added, sheet["name"])


def _answers(batch: Batch, choice: Choice) -> Iterator[Answers]:
    statuses = exporting.ONLY[choice.only]
    has_whole = exporting.has_whole_answers(batch, choice)
    for row in export_rows(batch):
        if statuses is None or row.status in statuses:
            answers = [*map(field_cell, row.fields)]
            if has_whole:
                answers.append(answer_cell(row.answer))
            values = [cell_text(one) if isinstance(one, dict) else one for one in answers]
            yield row.row, (*values, row.status, row.error)


def _about_columns(added: Added, sheet: str) -> list[str]:
    columns = f"{added.letters[0]} to {added.letters[-1]}"
    return [f"The answers are in the columns {columns} of the sheet “{sheet}”.", *added.remarks()]


def _came_from_workbook(batch: Batch) -> bool:
    return batch.sheet is not None and batch.source_name.lower().endswith(ENDINGS)


# By the word for each in addresses and options. The order is that of the menu.
KINDS: dict[str, Kind] = {
    "workbook": Kind(
        "My workbook, with the answers in it",
        "application/octet-stream",  # XLSX or XLSM: a browser may change an ending that is no XLSX
        "xlsx",
        write=workbook,
        fits=_came_from_workbook,
        instead="xlsx",
    ),
    "xlsx": Kind("Excel workbook", XLSX_TYPE, "xlsx", write=whole(write_xlsx, Written.remarks)),
    "csv": Kind(
        "CSV for Excel and Sheets",
        "text/csv; charset=utf-8",
        "csv",
        chunks=exporting.csv,
        meant_for="for people: opens in every spreadsheet, and runs nothing",
    ),
    "csv-plain": Kind(
        "CSV, every cell exactly as it is",
        "text/csv; charset=utf-8",
        "plain.csv",
        chunks=exporting.csv_plain,
        meant_for="for programs, and for another upload",
    ),
    "json": Kind(
        "JSON", "application/json", "json", chunks=exporting.json, meant_for="for programs"
    ),
    "jsonl": Kind(
        "JSONL, one row on each line",
        "application/x-ndjson",
        "jsonl",
        chunks=exporting.jsonl,
        meant_for="for programs",
    ),
    "parquet": Kind(
        "Parquet",
        "application/vnd.apache.parquet",
        "parquet",
        write=whole(write_parquet),
        meant_for="for data tools",
        fits=lambda _: parquet.is_available(),
    ),
    "ods": Kind(
        "OpenDocument spreadsheet", ODS_TYPE, "ods", write=whole(write_ods, Written.remarks)
    ),
}


def kinds_for(batch: Batch) -> dict[str, Kind]:
    """The kinds that can be made of a batch."""
    return {word: kind for word, kind in KINDS.items() if kind.fits(batch)}


def file_name(batch: Batch, kind: str, day: date) -> str:
    """The usual name of a download of this kind that was made on this day."""
    ending = KINDS[kind].ending
    if _came_from_workbook(batch):
        if kind == "workbook":  # one with macros keeps its ending
            ending = batch.source_name.rpartition(".")[2].lower()
        elif kind == "xlsx":  # not the name of her own one with the answers
            ending = "new.xlsx"
    return download_name(batch.name, day, ending)


def said_before(batch: Batch) -> str:
    """What a person should know before a download is chosen; "" if there is nothing."""
    sheets = sheets_for(batch.rows)
    if sheets == 1:
        return ""
    return (
        f"In a new spreadsheet, the {rows_phrase(batch.rows)} take {sheets} sheets: one has room "
        f"for {MOST_ROWS:,}."
    )


def rows_going_out(batch: Batch, choice: Choice) -> int:
    """How many rows a download has."""
    statuses = exporting.ONLY[choice.only]
    if statuses is None:
        return batch.rows
    counts = batch.answer_counts()
    return sum(counts[AnswerStatus(status)] for status in statuses)
