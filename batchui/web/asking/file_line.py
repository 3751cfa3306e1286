"""How the file of a draft is read, as one line of choices under the title."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchui.batches.models import Batch
from batchui.batches.phrases import counted
from batchui.prompts.reading.dialects import DELIMITERS
from batchui.prompts.reading.mendings import mendings, remarks
from batchui.web.forms.reading import ReadingForm


@dataclass(frozen=True)
class LineChoice:
    """One choice of the line. name: the field of the form. words: how it is now."""

    name: str
    words: str
    field: Any


@dataclass(frozen=True)
class FileLine:
    """choices: what can be chosen. size: rows and columns. notes: sentences on what was done."""

    choices: list[LineChoice]
    size: str
    notes: list[str]


def file_line(batch: Batch, reading: ReadingForm) -> FileLine:
    """The line about a draft's file. Before its beginning was read, another sheet can be chosen."""
    if not batch.source_format:
        return FileLine(_choices(reading, {"sheet": _sheet(batch)}), "", [])
    words = {
        "sheet": _sheet(batch),
        "header_row": _names_row(batch.format.header_row),
        "encoding": _encoding(batch),
        "delimiter": _delimiter(batch),
        "nested": "objects within objects "
        + ("are columns" if batch.format.nested == "columns" else "stay text"),
    }
    return FileLine(_choices(reading, words), _size(batch), _notes(batch))


def _choices(reading: ReadingForm, words: Mapping[str, str]) -> list[LineChoice]:
    """Those of the choices that this file has."""
    return [
        LineChoice(name, words[name], reading[name]) for name in words if name in reading.fields
    ]


def _sheet(batch: Batch) -> str:
    return f"sheet “{batch.sheet['name']}”" if batch.sheet else ""


def _names_row(row: int) -> str:
    return f"column names in row {row:,}" if row else "no row with column names"


def _encoding(batch: Batch) -> str:
    verb = "recognised" if batch.format.encoding_guessed else "read"
    return f"{verb} as {batch.format.encoding_name}"


def _delimiter(batch: Batch) -> str:
    if batch.format.kind == "txt":
        return "each line is a row"
    return f"{DELIMITERS[batch.format.delimiter]}s" if batch.format.delimiter else "one column"


def _size(batch: Batch) -> str:
    """“2,400 rows, 5 columns”; the rows are known once the whole file is read."""
    columns = counted(len(batch.columns), "column")
    return f"{counted(batch.rows, 'row')}, {columns}" if batch.rows else columns


def _notes(batch: Batch) -> list[str]:
    """What was done to the columns of a file, and what else is to be known, as sentences."""
    return [*mendings(batch.format), *(remarks(batch.sheet) if batch.sheet else ())]
