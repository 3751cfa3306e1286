"""Files of any rows, in the formats that people upload, with the cells that must come back."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow
import pyarrow.parquet
from hypothesis import strategies as st
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from batchui.exports.rows import Cell, cell_text
from batchui.prompts.conversion.cells import MOST_DIGITS
from batchui.prompts.reading.format import Choices

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class AnyFile:
    """A file with the columns `columns` and rows from the row `first_row` on.

    rows: the cells of each row, as the product keeps them (see `exports/rows.py`); more cells than
    columns where the file has them. objects: the rows of a JSONL file, as they must come back.
    """

    content: bytes
    name: str
    columns: list[str]
    rows: list[list[Cell]]
    first_row: int = 2
    choices: Choices = field(default_factory=Choices)
    objects: list[dict[str, Any]] | None = None

    def text(self, cell: Cell) -> str:
        """A cell as plain CSV has it: a boolean of JSON as it stands there."""
        is_json = self.objects is not None and isinstance(cell, bool)
        return json_text(cell).decode() if is_json else cell_text(cell)


STRANGE = [
    *("=1+1", "+5", "-5", "@SUM(A1)", "\t=1", "x;=1+1", "x\n=1+1", '=HYPERLINK("http://x/")'),
    *("00123", "123456789012345678", "1.10", "1e5", "7", "2.5", "TRUE", "2026-05-01", "25%"),
    *(
        "",
        " ",
        "  two  blanks ",
        "two\nlines",
        "\r\n",
        "a\rb",
        '"',
        '""',
        '\\"',
        "a\\",
        "'",
        ";,|\t",
    ),
    *(
        "\x01\x7f" + "x" * 90,
        "\x85",
        "\u2028",
        "日本語 😀",
        "ß\u0301",
        "<r>&amp;</r>",
        "null",
        "[1]",
    ),
    *("x" * 4_000, "é,\n" * 900),
]
# Files with many control characters are no text, so there are few.
TEXTS = st.sampled_from(STRANGE) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff")
    | st.sampled_from('\r\n\t";,|='),
    max_size=12,
)
# Some columns have nothing else; one with a text that is no plain number is one of texts.
NUMBER_TEXTS = st.sampled_from(["", "0.0", "1.50", "-0.0", "7", "-12", "0.00000001"]) | st.decimals(
    -(10**9), 10**9, places=2
).map(str)
NAMES = st.lists(
    st.sampled_from(["text", "answer", "Status", "=1+1", "two\nlines", "a;b,c", "7", "{{x}}"]),
    min_size=2,
    max_size=2,
    unique=True,
)
# Each with what a person chose, where it cannot be seen for sure.
ENCODINGS: dict[str, str | None] = {
    **dict.fromkeys(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    "utf-16-le": "utf-16-le",
    "gb18030": "gb18030",
    "cp1252": "cp1252",
}


def tables(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    """Rows of two cells each, up to 40 of them."""
    return st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=40)


def numbered(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The rows with a first cell that none of the others has."""
    return [[f"r{at}", *row] for at, row in enumerate(rows)]


@st.composite
def any_csv(draw: Draw) -> AnyFile:
    """CSV of any dialect and encoding; some rows have a cell more than there are columns."""
    encoding = draw(st.sampled_from(sorted(ENCODINGS)))
    cells = TEXTS.map(lambda text: text.encode(encoding, "ignore").decode(encoding))
    names = ["id", *draw(NAMES)]
    rows = numbered(draw(tables(cells)))
    if draw(st.booleans()):
        for row in rows:
            row[2] = draw(NUMBER_TEXTS)
    for at in draw(st.sets(st.integers(1, 39), max_size=3)):
        if at < len(rows):
            rows[at].append(draw(cells.filter(bool)))
    delimiter, line_end = draw(st.sampled_from(",;\t|")), draw(st.sampled_from(["\r\n", "\n"]))
    more = set(delimiter) if draw(st.booleans()) else set(" aeiou0123456789")
    text = "".join(
        delimiter.join(quoted(cell, {*'"\r\n', delimiter, *more}) for cell in row) + line_end
        for row in [names, *rows]
    )
    choices = Choices(encoding=ENCODINGS[encoding], delimiter=delimiter, header_row=1)
    return AnyFile(text.encode(encoding), "rows.csv", names, rows, choices=choices)


def quoted(cell: str, signs: set[str]) -> str:
    """The cell of a CSV, in quotation marks if it has one of these signs."""
    return '"' + cell.replace('"', '""') + '"' if signs.intersection(cell) else cell


VALUES = (
    TEXTS
    | st.integers()
    | st.decimals(places=2, min_value=-(10**9), max_value=10**9)
    | st.booleans()
    | st.none()
    | st.lists(st.integers(), max_size=3)
)


@st.composite
def any_jsonl(draw: Draw) -> AnyFile:
    """JSONL of objects with values of every kind."""
    names = ["id", *draw(NAMES)]
    objects = [dict(zip(names, row, strict=True)) for row in numbered(draw(tables(VALUES)))]
    content = b"".join(json_text(one) + b"\n" for one in objects)
    rows: list[list[Cell]] = [
        [
            "" if value is None else json_text(value).decode() if isinstance(value, list) else value
            for value in one.values()
        ]
        for one in objects
    ]
    return AnyFile(content, "rows.jsonl", names, rows, first_row=1, objects=objects)


json_text = msgspec.json.Encoder(decimal_format="number").encode

DAYS = st.dates(min_value=date(1900, 3, 1))
# Midnight among days is a day to those who read it.
SECONDS = st.datetimes(min_value=datetime.fromisoformat("1900-03-01")).map(
    lambda at: at.replace(second=max(1, at.second), microsecond=0)
)
# As xlsxwriter writes them: it takes what looks like an escape or like XML of its own for that.
SHEET_TEXTS = TEXTS.filter(lambda text: not re.search("_x[0-9a-fA-F]{4}|^<r>", text))
SHEET_CELLS = (
    SHEET_TEXTS
    | st.integers(-(10**14), 10**14)
    | st.integers(-(10**9), 10**9).map(lambda thousandths: Decimal(thousandths) / 1000)
    | st.booleans()
    | st.integers(-(10**4), 10**4).map(lambda percent: {"percent": f"{percent}%"})
)


@st.composite
def any_workbook(draw: Draw) -> AnyFile:
    """A workbook with a title, and in its second sheet typed cells and blank rows."""
    names = ["id", *draw(NAMES)]
    # A day in a column of moments would be its midnight.
    cells = st.tuples(SHEET_CELLS | DAYS, SHEET_CELLS | SECONDS)
    rows = numbered(draw(st.lists(cells, min_size=1, max_size=40)))
    for at in draw(st.sets(st.integers(1, 38), max_size=2)):
        if at < len(rows) - 1:
            rows[at] = ["", "", ""]
    made = io.BytesIO()
    with Workbook(made) as book:
        book.add_worksheet("Read me").write_string("A1", "No table is here")
        sheet = book.add_worksheet("Rows")
        formats = {
            dict: book.add_format({"num_format": "0%"}),
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        sheet.write_string(0, 0, "A title")
        for at, row in enumerate([names, *rows], 2):
            for column, cell in enumerate(row):
                write(sheet, at, column, cell, formats)
        book.add_worksheet("Notes").write_formula("A1", "=Rows!A3", None, "id")
    choices = Choices(sheet="Rows", header_row=3)
    kept = [[as_kept(cell) for cell in row] for row in rows]
    return AnyFile(made.getvalue(), "rows.xlsx", names, kept, first_row=4, choices=choices)


def write(sheet: Worksheet, row: int, column: int, cell: Any, formats: dict[type, Format]) -> None:
    if isinstance(cell, str):
        sheet.write_string(row, column, cell)
    elif isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif isinstance(cell, date):
        sheet.write_datetime(row, column, cell, formats[type(cell)])
    elif isinstance(cell, dict):
        sheet.write_number(row, column, int(cell["percent"][:-1]) / 100, formats[dict])
    else:
        sheet.write_number(row, column, cell)


def as_kept(cell: Any) -> Cell:
    """A value of Python as the product keeps it."""
    if isinstance(cell, datetime):
        return {"datetime": str(cell).rstrip("0") if cell.microsecond else str(cell)}
    if isinstance(cell, date):
        return {"date": str(cell)}
    if isinstance(cell, float):  # its shortest text
        cell = Decimal(repr(cell))
    if isinstance(cell, Decimal) and cell.adjusted() < MOST_DIGITS and cell == int(cell):
        return int(cell)
    return "" if cell is None else cell


COLUMNS: list[tuple[pyarrow.DataType, st.SearchStrategy[Any]]] = [
    (pyarrow.string(), TEXTS),
    (pyarrow.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pyarrow.float64(), st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)),
    (pyarrow.bool_(), st.booleans()),
    (pyarrow.date32(), st.dates(min_value=date(1, 1, 1))),
    (pyarrow.timestamp("us"), st.datetimes(min_value=datetime.fromisoformat("1700-01-01"))),
]


@st.composite
def any_parquet(draw: Draw) -> AnyFile:
    """Parquet with two columns of any types, and with nulls."""
    names = ["id", *draw(NAMES)]
    count = draw(st.integers(1, 40))
    kinds = [(pyarrow.string(), None), *draw(st.tuples(*[st.sampled_from(COLUMNS)] * 2))]
    columns = [
        [f"r{at}" for at in range(count)]
        if cells is None
        else draw(st.lists(cells | st.none(), min_size=count, max_size=count))
        for _, cells in kinds
    ]
    arrays = [
        pyarrow.array(cells, type=kind) for (kind, _), cells in zip(kinds, columns, strict=True)
    ]
    made = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=names), made)
    rows = [[as_kept(cell) for cell in row] for row in zip(*columns, strict=True)]
    return AnyFile(made.getvalue(), "rows.parquet", names, rows, choices=Choices(header_row=1))
