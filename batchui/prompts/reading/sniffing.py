"""Finds out from the first 256 KiB what kind of file it is.

The content decides, and the ending of the name is a hint. But `.csv` and `.tsv` always mean CSV.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from batchui.prompts.problems import LIMITS, NAME_LIMIT, BadInput, listed
from batchui.prompts.reading.decoding import Decoder, detect, line_breaks, refuse_binary
from batchui.prompts.reading.dialects import (
    HEAD_ROWS,
    Dialect,
    doubled,
    find_dialect,
    split_sign,
    table_start,
)
from batchui.prompts.reading.format import (
    AS_FOUND,
    HEAD_BYTES,
    HEAD_SIZE,
    ONE_COLUMN,
    Choices,
    Format,
    Kind,
    Nested,
)
from batchui.prompts.reading.headers import find_header
from batchui.prompts.reading.quotes import find_fault
from batchui.prompts.reading.rows import flat
from batchui.prompts.ready_items import are_items

FILLED_LINE = re.compile(r"[^\r\n]+")
# Many programs write a text table, and call it a workbook.
WORKBOOK_ENDINGS = {"xls", "xlsx", "xlsm", "xlsb", "ods"}
HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)


def sniff(head: bytes, *, name: str, whole: bool, choices: Choices = AS_FOUND) -> Format:
    """The format of the file `name`, according to its first HEAD_BYTES.

    whole: `head` is the whole file. Raises BadInput for mistakes that can be seen at once: an empty
    file, names without rows, no text, NUL bytes, damaged text.
    """
    if len(head) > HEAD_BYTES:
        head, whole = head[:HEAD_BYTES], False
    refuse_binary(head)
    encoding = choices.encoding or detect(head, whole=whole)
    text = Decoder(encoding).decode(head, final=whole, rest="", line=1)
    if not text.strip():
        raise _nothing_in_it(whole=whole)
    if HTML.match(text):
        raise BadInput(
            "This file is a web page (HTML), not a table. Perhaps a sign-in page was saved instead "
            "of the table. Download the table again and upload that."
        )
    kind = _kind(text, ending=_ending(name), whole=whole) if choices.delimiter is None else "csv"
    made = READ_AS[kind](text, whole=whole, choices=choices)
    return replace(made, encoding=encoding, encoding_chosen=choices.encoding is not None)


def sniff_table(
    head: bytes, *, whole: bool, columns: int, named: bool | None, choices: Choices = AS_FOUND
) -> Format:
    """The format of a table that was made by a conversion, according to its first bytes.

    columns: how many it has. named: whether their names are in its first row; None if that is not
    known. Raises BadInput.
    """
    lines = head.splitlines() if whole else head.splitlines()[:-1]
    rows = [msgspec.json.decode(line, type=list) for line in lines[:HEAD_ROWS]]
    chosen = choices.header_row
    _refuse_row_beyond(chosen, rows, whole=whole)
    header = find_header(
        rows,
        chosen=int(named) if chosen is None and named is not None else chosen,
        width=min(columns, LIMITS.columns + 1),
    )
    if whole and len(rows) < min(header.first_row, HEAD_ROWS):
        raise BadInput(
            "This table has column names but no rows under them. Add the rows, or choose another "
            "sheet."
        )
    return Format(
        "table",
        "utf-8",
        None,
        header.columns,
        header=header.original,
        header_row=header.row,
        first_row=header.first_row,
    )


def _txt(_text: str, *, whole: bool, choices: Choices) -> Format:
    return Format("txt", "", None, ("prompt",))


def _jsonl(text: str, *, whole: bool, choices: Choices) -> Format:
    objects = _objects(text, whole=whole)
    items = are_items(objects)
    nested: Nested | None = None
    if not items and any(isinstance(value, dict) for item in objects for value in item.values()):
        nested = choices.nested or "columns"
    if nested == "columns":
        objects = [flat(item) for item in objects]
    return Format("jsonl", "", None, _keys(objects), items, nested=nested)


def _csv(text: str, *, whole: bool, choices: Choices) -> Format:
    found = find_dialect(text, whole=whole, delimiter=choices.delimiter)
    _refuse_open_quotes(text, found)
    if not found.rows:
        raise _no_rows(text)
    _refuse_row_beyond(choices.header_row, found.rows, whole=whole)
    header = find_header(found.rows, chosen=choices.header_row)
    if whole and len(found.rows) < min(header.first_row, HEAD_ROWS):
        raise BadInput(
            f"The file has a line with column names ({listed(header.columns)}) but no rows under "
            "it. Add the rows, or, if that line is already a row, put column names above it."
        )
    return Format(
        "csv",
        "",
        found.delimiter,
        header.columns,
        header=header.original,
        header_row=header.row,
        first_row=header.first_row,
        backslashes=found.backslashes,
    )


READ_AS: dict[str, Callable[..., Format]] = {"csv": _csv, "jsonl": _jsonl, "txt": _txt}


def in_encoding(fmt: Format, encoding: str, *, head: bytes) -> Format:
    """The same format in another encoding, with the names of its columns read again.

    `head` is the beginning of the file, HEAD_BYTES or all of it. Raises what `sniff` raises.
    """
    text = Decoder(encoding).decode(head, final=False, rest="", line=1)
    choices = Choices(delimiter=fmt.delimiter, header_row=fmt.header_row, nested=fmt.nested)
    made = READ_AS[fmt.kind](text, whole=False, choices=choices)
    return replace(fmt, encoding=encoding, columns=made.columns, header=made.header)


def _nothing_in_it(*, whole: bool) -> BadInput:
    if whole:
        return BadInput("The file is empty. Choose a file with at least one row.")
    return BadInput(
        f"The first {HEAD_SIZE} of the file are blank. Remove the blank lines at its beginning and "
        "upload it again."
    )


def _no_rows(text: str) -> BadInput:
    start = table_start(text)
    if start and not text[start:].strip():
        above = text[:start].strip()
        return BadInput.at(
            f"there are no column names below the line “{above}”. Choose a file with column names "
            "and at least one row.",
            line=2,
        )
    return BadInput(
        f"The first line of the file is longer than {HEAD_SIZE}, too long for a line of column "
        "names. Put the names of the columns in the first line."
    )


def _refuse_row_beyond(row: int | None, rows: Sequence[object], *, whole: bool) -> None:
    """Raise BadInput if the row that was chosen for the column names is not one of the first."""
    if not row or row <= len(rows):
        return
    if whole:
        raise BadInput.at(
            "the column names cannot be here, because the table ends above this row. Choose "
            "another row.",
            row=row,
        )
    raise BadInput.at(
        "the column names cannot be here, because the rows above are too long together: the names "
        f"must be within the first {HEAD_SIZE} of the table. Choose a row further up, or remove "
        "what stands above this one.",
        row=row,
    )


def _refuse_open_quotes(text: str, found: Dialect) -> None:
    """Raise BadInput, with the line, for a wrong quotation mark in the first line that has text."""
    first = FILLED_LINE.search(text, table_start(text))
    if first is None:
        return
    line = 1 + line_breaks(text[: first.start()])
    text = doubled(text[first.start() :]) if found.backslashes else text[first.start() :]
    fault = find_fault(text, start=0, delimiter=split_sign(found.delimiter))
    if fault:
        raise BadInput.at(
            "the quotation mark that opens a cell here is "
            f"{'not closed' if fault.kind == 'unclosed' else 'closed within the cell'}. Put each "
            "cell in quotation marks as a whole, or in none.",
            line=line + line_breaks(text[: fault.start]),
        )


def _ending(name: str) -> str:
    return name.lower().rpartition(".")[2] if "." in name else ""


def _kind(text: str, *, ending: str, whole: bool) -> Kind:
    if ending in {"csv", "tsv"}:
        return "csv"
    first = FILLED_LINE.search(text)
    if ending in {"jsonl", "ndjson", "json"} or (first and first[0].lstrip()[:1] == "{"):
        if _is_jsonl(text, ending=ending, whole=whole):
            return "jsonl"
        if ending in {"jsonl", "ndjson", "json"}:
            raise BadInput(
                "The name says that this is JSON, but its lines are not JSON objects. Write one "
                'object on each line, like {"text": "…"}: not one long list, and no object over '
                "several lines."
            )
    if ending in WORKBOOK_ENDINGS or _is_table(text, ending=ending, whole=whole):
        return "csv"
    return "txt"


def _is_jsonl(text: str, *, ending: str, whole: bool) -> bool:
    lines = _lines(text, whole=whole)
    if not lines:  # a first line longer than the head
        return text.lstrip().startswith("{")
    found = len(_objects(text, whole=whole))
    if ending in {"jsonl", "ndjson"}:
        return found > 0
    return found == sum(1 for line in lines if line.strip())


def _is_table(text: str, *, ending: str, whole: bool) -> bool:
    """Whether a text is a table although its name does not say so. A prompt may have commas, too.

    It is a table if every row has as many cells as the first, and the first looks like names. A
    `.txt` must also have tabs, as Excel's "Unicode Text" has.
    """
    if ending == "txt" and "\t" not in text:
        return False
    delimiter, _, rows = find_dialect(text, whole=whole)
    if delimiter == ONE_COLUMN or len(rows) < 2 or (ending == "txt" and delimiter != "\t"):
        return False
    columns = rows[0]
    widths = {len(row) for row in rows if row}
    names = {
        name
        for name in columns
        if name and name[0] != " " and not name.isdigit() and len(name) <= NAME_LIMIT
    }
    return widths == {len(columns)} == {len(names)}


def _lines(text: str, *, whole: bool) -> list[str]:
    """The complete lines of the head that are not empty."""
    end = len(text) if whole else max(text.rfind("\n"), text.rfind("\r")) + 1
    return FILLED_LINE.findall(text[:end])


def _objects(text: str, *, whole: bool) -> list[dict[str, Any]]:
    objects = []
    for line in _lines(text, whole=whole):
        try:
            value = msgspec.json.decode(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects


def _keys(objects: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The keys of these objects; the check finds the others, and says which are too long."""
    found = dict.fromkeys(key for item in objects for key in item if len(key) <= NAME_LIMIT)
    return tuple(found)[: LIMITS.columns]
