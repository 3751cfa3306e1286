"""What a conversion says and leaves behind: known to the child that makes it and to its starter.

Every file that is made has lines of JSON, compressed with zstd; `open_lines` reads one.
"""

import io
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import zstandard


class Progress(msgspec.Struct, frozen=True):
    """done, of: in the same unit (bytes or rows). what: the sheet that is read, or empty."""

    done: int
    of: int
    what: str = ""


class Text(msgspec.Struct, frozen=True):
    """A text table that was packed. file: its bytes, compressed. name: its own, inside."""

    file: str
    name: str


class Jsonl(msgspec.Struct, frozen=True):
    """Objects, one on each line, their numbers exactly as they were written.

    inside: the key of the list that held them in `{"data": […]}`; None if there was none.
    """

    file: str
    rows: int
    inside: str | None = None


class Sheet(msgspec.Struct, frozen=True):
    """A table of typed cells: a JSON array for each row of the sheet, from its row 1.

    rows, columns: up to the last cell with something in it.
    header: the first row is certainly names (Parquet), or certainly none (a list of texts); None:
    it has to be found out. hidden: the sheet itself.
    hidden_rows, errors (like #N/A; each is a blank), merged (ranges), uncalculated (formulas
    without a value, blanks too): how many; None where the format does not tell.
    first_hidden_row: its number. first_error, first_uncalculated: a place such as C17.
    lost: what this format does not tell about its cells, as sentences.
    """

    file: str
    name: str
    rows: int
    columns: int
    header: bool | None = None
    hidden: bool = False
    hidden_rows: int | None = None
    first_hidden_row: int | None = None
    errors: int | None = None
    first_error: str | None = None
    uncalculated: int | None = None
    first_uncalculated: str | None = None
    merged: int | None = None
    lost: tuple[str, ...] = ()


class Message(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line that the child prints. The last one has a result, a problem, or an error number.

    problem: a sentence, as BadInput has it. errno: of an OSError that is not the file's fault, such
    as a full disk.
    """

    progress: Progress | None = None
    text: Text | None = None
    jsonl: Jsonl | None = None
    sheets: tuple[Sheet, ...] | None = None
    problem: str | None = None
    errno: int | None = None

    @property
    def result(self) -> "Result | None":
        """What the file was turned into, if the message says so."""
        return self.text or self.jsonl or self.sheets


Result = Text | Jsonl | tuple[Sheet, ...]


def open_lines(path: Path) -> BinaryIO:
    """The bytes of a file that a conversion made, as a stream that is never whole in memory."""
    reader = zstandard.ZstdDecompressor().stream_reader(path.open("rb"))
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, reader), 128 * 1024))
