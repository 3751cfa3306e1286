"""Says what was done to the columns of a file, so that it can be read as a table."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from batchui.prompts.problems import listed, quoted
from batchui.prompts.reading.format import Format


def mendings(fmt: Format) -> list[str]:
    """A sentence for each thing that was done: rows left above, names made, columns left out."""
    return [*_above(fmt), *_unnamed(fmt), *_repeated(fmt), *_empty(fmt)]


def _above(fmt: Format) -> list[str]:
    above = fmt.first_row - 1 - bool(fmt.header_row)
    if not above:
        return []
    below = "the column names" if fmt.header_row else "the first row of the table"
    rows = "Row 1 stands" if above == 1 else f"Rows 1 to {above:,} stand"
    return [f"{rows} above {below}, so nothing is asked about {'it' if above == 1 else 'them'}."]


def _unnamed(fmt: Format) -> list[str]:
    if fmt.header is None:
        return []
    made = [new for old, new in zip(fmt.header, fmt.columns, strict=True) if not old.strip()]
    shown = [name for name in made if name not in fmt.empty]
    if not shown:
        return []
    if len(shown) == 1:
        return [f"One column has no name in the file. Here it is called {quoted(shown[0])}."]
    return [
        f"{len(shown):,} columns have no name in the file. Here they are called {listed(shown)}."
    ]


def _repeated(fmt: Format) -> list[str]:
    found = defaultdict(list)
    for old, new in zip(fmt.header or (), fmt.columns, strict=False):
        if old.strip():
            found[old].append(new)
    return [
        f"{len(columns):,} columns have the name {quoted(old)}. Here they are called "
        f"{listed(columns)}."
        for old, columns in found.items()
        if len(columns) > 1
    ]


def _empty(fmt: Format) -> list[str]:
    if not fmt.empty:
        return []
    if len(fmt.empty) == 1:
        what = f"The column {listed(fmt.empty)} has nothing in it, so it is left out here."
        return [f"{what} The downloads have it."]
    what = f"The columns {listed(fmt.empty)} have nothing in them, so they are left out here."
    return [f"{what} The downloads have them."]


def remarks(sheet: Mapping[str, Any]) -> list[str]:
    """Sentences about what a sheet has besides its values: see `converted.Sheet`, as plain JSON."""
    return [*_hidden(sheet), *_errors(sheet), *_uncalculated(sheet), *_lost(sheet)]


def _hidden(sheet: Mapping[str, Any]) -> list[str]:
    count = sheet.get("hidden_rows") or 0
    if not count:
        return []
    first = f"row {sheet['first_hidden_row']:,}"
    if count == 1:
        return [f"One row is hidden in the sheet, {first}. It is read like the others."]
    return [f"{count:,} rows are hidden in the sheet; the first is {first}. They are read, too."]


def _errors(sheet: Mapping[str, Any]) -> list[str]:
    count = sheet.get("errors") or 0
    if not count:
        return []
    if count == 1:
        return [f"The cell {sheet['first_error']} has an error such as #N/A. It is read as blank."]
    first = f"the first is {sheet['first_error']}"
    return [f"{count:,} cells have an error such as #N/A; {first}. They are read as blank."]


def _uncalculated(sheet: Mapping[str, Any]) -> list[str]:
    count = sheet.get("uncalculated") or 0
    if not count:
        return []
    which = "One formula has" if count == 1 else f"{count:,} formulas have"
    return [
        f"{which} no value in the file, beginning with {sheet['first_uncalculated']}. To have it, "
        "open the workbook in Excel or LibreOffice, save it and upload it again."
    ]


def _lost(sheet: Mapping[str, Any]) -> list[str]:
    lost = sheet.get("lost")
    return [" ".join(lost)] if lost else []
