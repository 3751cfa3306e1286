"""The options of `manage.py submit` for how the file is read."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from batchui.batches.models import Batch
from batchui.batches.phrases import rows_are
from batchui.prompts.problems import BadInput, listed, quoted
from batchui.prompts.reading.code_pages import NAMES, encoding_called
from batchui.prompts.reading.dialects import DELIMITERS
from batchui.prompts.reading.format import ONE_COLUMN, Choices
from batchui.prompts.reading.mendings import mendings
from batchui.prompts.reading.mendings import remarks as remarks_on_sheet
from batchui.web.forms.reading import LAST_NAMES_ROW

DELIMITER_NAMES = ", ".join(DELIMITERS.values())
SIGNS = {name: sign for sign, name in DELIMITERS.items()} | {"\\t": "\t", "none": ONE_COLUMN}


def add_reading_options(parser: ArgumentParser) -> None:
    """An option for each of `Choices`."""
    parser.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook")
    names = parser.add_mutually_exclusive_group()
    names.add_argument(
        "--header-row", type=int, metavar="N", help="the row with the names of the columns, from 1"
    )
    names.add_argument(
        "--no-header", action="store_true", help="there are no such names: the first row is a row"
    )
    parser.add_argument(
        "--encoding", metavar="NAME", help="of a text: utf-8, latin1, windows-1251, shift-jis …"
    )
    parser.add_argument(
        "--delimiter",
        metavar="SIGN",
        help=f"what is between the cells of a text: {DELIMITER_NAMES}, or the sign itself; none: "
        "there is one column",
    )
    parser.add_argument(
        "--nested", choices=("columns", "text"), help="what objects within JSON objects become"
    )


def choices(options: dict[str, Any]) -> Choices:
    """What was chosen. Raises BadInput, which names the option."""
    return Choices(
        encoding=_encoding(options["encoding"]),
        delimiter=_delimiter(options["delimiter"]),
        header_row=_header_row(options),
        sheet=options["sheet"],
        nested=options["nested"],
    )


def refuse_unfit(batch: Batch, chosen: Choices) -> None:
    """Raise BadInput, which names the option, for one that means nothing for a checked file."""
    name = batch.source_name
    if not batch.converted and not batch.source_format:
        return  # it could not be read, and `batch.problem` says why
    if chosen.sheet is not None and not batch.sheets:
        raise BadInput(f"--sheet: {name} has no sheets.")
    for option in ("encoding", "delimiter"):
        if getattr(chosen, option) is not None and not batch.is_text:
            raise BadInput(f"--{option}: {name} says itself how it is to be read.")
    kind = batch.format.kind
    if chosen.header_row and kind == "jsonl":
        raise BadInput(f"--header-row: the names of the columns are in each object of {name}.")
    if chosen.header_row and kind == "txt":
        raise BadInput(
            f"--header-row: {name} is read as plain text, a row on each line. If it is a table, "
            "say what is between its cells: --delimiter."
        )
    if chosen.nested and batch.source_format and kind != "jsonl":
        raise BadInput(f"--nested: {name} has no JSON objects.")


def remarks(batch: Batch) -> Iterator[str]:
    """What to know about how a checked file was read, as sentences."""
    chosen, form = batch.choices, batch.format
    if batch.sheet and len(batch.sheets) > 1 and chosen.sheet is None:
        name, names = batch.sheet["name"], [sheet["name"] for sheet in batch.sheets]
        yield (
            f"The sheet {quoted(name)} is read. The workbook has {listed(names)}; --sheet names "
            "another one."
        )
    if batch.is_text and form.encoding_guessed:
        yield (
            f"The text was recognised as {form.encoding_name}. If letters come out wrong, name its "
            "encoding: --encoding."
        )
    if form.kind in ("csv", "table") and not form.header_row and chosen.header_row is None:
        yield (
            f"No row was recognised as the names of the columns, so they are called "
            f"{listed(form.columns)}. If there is one, give its number: --header-row."
        )
    yield from mendings(form)
    yield from remarks_on_sheet(batch.sheet or {})


def about_skipped(batch: Batch) -> str:
    """The sentence about the rows of a started batch that are skipped; "" if there are none."""
    if not batch.never_asked:
        return ""
    why = "" if batch.invalid else ", with nothing to ask about"
    return f"{rows_are(batch.never_asked)} skipped{why}, and the downloads say so."


def _encoding(name: str | None) -> str | None:
    if name is None:
        return None
    key = encoding_called(name)
    if key is None:
        known = ", ".join(NAMES.values())
        raise BadInput(f"--encoding: batchui knows no encoding {quoted(name)}. It knows {known}.")
    return key


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    sign = given if given in DELIMITERS else SIGNS.get(given.strip().casefold())
    if sign is None:
        raise BadInput(
            f"--delimiter: {quoted(given)} cannot be between cells. Write {DELIMITER_NAMES} or "
            "none."
        )
    return sign


def _header_row(options: dict[str, Any]) -> int | None:
    row: int | None = options["header_row"]
    if options["no_header"]:
        return 0
    if row is not None and not 1 <= row <= LAST_NAMES_ROW:
        raise BadInput(f"--header-row: write a number from 1 to {LAST_NAMES_ROW:,}.")
    return row
