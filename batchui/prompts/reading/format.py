"""How a file is read: what was found in it, and what a person chose."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from batchui.prompts.reading.code_pages import CODE_PAGES, NAMES

Kind = Literal["csv", "jsonl", "txt", "table"]
Nested = Literal["columns", "text"]

# So much of its beginning is looked at. The row with the names of the columns is within it, too:
# every download has the rows above it, and keeps them in memory.
HEAD_BYTES = 256 * 1024
HEAD_SIZE = f"{HEAD_BYTES // 1024} KB"
# The delimiter of a CSV of a single column. It is not None, which leaves a choice to the file.
ONE_COLUMN = ""


@dataclass(frozen=True)
class Choices:
    """What a person chose about how to read a file. None: what is found in the file.

    encoding: a key of `code_pages.NAMES`. delimiter: one of `dialects.DELIMITERS`, or ONE_COLUMN.
    header_row: the row of the sheet with the names of the columns, from 1; 0: there is none, the
    first row is already a row. sheet: the name of a sheet of a workbook. nested: whether objects
    within objects become columns (`a.b`) or stay JSON text.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    nested: Nested | None = None

    def to_dict(self) -> dict[str, Any]:
        """What was chosen, as plain JSON for the database."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Choices":
        """The choices that `to_dict` wrote."""
        return cls(**stored)


AS_FOUND = Choices()


@dataclass(frozen=True)
class Format:
    """How to read a file.

    kind: `table` is a sheet of a workbook or of another file that was converted; its lines are
    arrays of cells. encoding: a key of `code_pages.NAMES`. encoding_chosen: a person chose it, so
    it is never guessed again. delimiter: of a CSV, ONE_COLUMN where its text may have commas;
    None for everything else but a table made of the answers to a CSV, which is written with it.
    backslashes: one stands before a quotation mark in a cell.

    columns: unique and never blank; `("prompt",)` for TXT; the keys of JSONL, in the order in which
    they were found. header: the names as the file has them, where they differ; None: it has the
    same. header_row: the row of the sheet with the names, 0 if there is none. first_row: the number
    of the first row. empty: columns without a text in any row; they are not shown.

    items: the JSONL objects look like ready-made items of the Batch API. nested: see `Choices`;
    None if no object has another within.
    """

    kind: Kind
    encoding: str
    delimiter: str | None
    columns: tuple[str, ...]
    items: bool = False
    encoding_chosen: bool = False
    header: tuple[str, ...] | None = None
    header_row: int = 0
    first_row: int = 1
    backslashes: bool = False
    empty: tuple[str, ...] = ()
    nested: Nested | None = None

    @property
    def encoding_name(self) -> str:
        """The usual name of the encoding: “Windows-1251 (Cyrillic)”."""
        return NAMES[self.encoding]

    @property
    def encoding_guessed(self) -> bool:
        """Whether the encoding is only the most likely one for this text."""
        return self.encoding in CODE_PAGES and not self.encoding_chosen

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns that have something in them."""
        return tuple(column for column in self.columns if column not in self.empty)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, for the database."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Format":
        """The format that `to_dict` wrote.

        One that an older version wrote has no `header_row`: the names are in a CSV's first row.
        """
        lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
        named = stored["kind"] == "csv"
        return cls(**{"header_row": int(named), "first_row": 1 + named, **stored, **lists})


# As long as nothing is known about a file.
UNKNOWN = Format("table", "utf-8", None, ())
