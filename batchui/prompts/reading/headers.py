"""Finds the row with the names of the columns, and makes names of it that can be used.

It works on the first rows of a table, whether they are texts of a CSV or typed cells of a sheet.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

from batchui.prompts.problems import LIMITS, NAME_LIMIT, BadInput, quoted
from batchui.prompts.reading.rows import shown_text

# How many rows below a first row show whether it is one of them.
COMPARED = 50
# Below a title there may be a second one, and lines about what is in the table.
MOST_ABOVE = 20
LONG = 60

NUMBER = re.compile(r"[-+]?[$€£]?\s?\d[\d.,'\s]*\s?[%$€£]?")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d\d(?::\d\d)?")
YEAR = re.compile(r"(?:19|20)\d\d")
# What programs write into a cell without a value.
NO_VALUE = frozenset({"\\n", "null", "nil", "none", "na", "n/a", "#n/a", "nan", "-", "?"})
# Words that stand in the first line of many tables.
USUAL_WORDS = """
id key name title text review reviews comment comments question questions prompt answer message
body content summary description subject sentence word words email mail phone url link
address city town country state region date time day month year created updated author user
customer client company product item category type kind tag tags label labels status rating
score price amount total quantity count number no nr notes note language lang code sku order
source target input output value feedback file path image column field row index rank group
nom titre texte avis commentaire ville pays prix frage fragen titel bewertung kommentar stadt
ort land preis datum kunde nombre texto ciudad fecha precio titulo pregunta nome testo cidade
data preço naam stad vraag tekst имя текст дата город отзыв 名前 名称 姓名 标题 内容 评论
"""
USUAL = frozenset(USUAL_WORDS.split())
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
LETTERS = re.compile(r"[^\W\d_]+")
DIGITS = re.compile(r"\d+")
# Shapes that a name and a cell often share: one word.
PLAIN_SHAPES = frozenset({"a", "Aa", "A"})


class Header(NamedTuple):
    """The names of a table's columns.

    row: of the sheet, from 1; 0: there are no names, the first row is already a row. first_row:
    where the rows begin. columns: unique and never blank. original: as the file has them, where
    they differ; else None.
    """

    row: int
    first_row: int
    columns: tuple[str, ...]
    original: tuple[str, ...] | None


def table_top(rows: Sequence[Sequence[Any]]) -> int:
    """The position of the first row of the table; above it are titles and blank rows.

    A title fills few cells, and the first one; a row of the table fills more than half of as many
    as most rows do. The names of a table with an index leave the first cell blank.
    """
    start = next((at for at, row in enumerate(rows) if is_filled(row)), None)
    return 0 if start is None else start + _top(rows[start : start + COMPARED + MOST_ABOVE])


def _top(rows: Sequence[Sequence[Any]]) -> int:
    """The same for rows of which the first is not blank."""
    filled = [sum(map(_is_filled, row)) for row in rows]
    counted = sorted(count for count in filled if count)
    usual = counted[len(counted) // 2]
    least = 1 if usual == 1 else max(2, usual // 2 + 1)
    starts = [bool(row) and _is_filled(row[0]) for row in rows]
    has_index = sum(starts) * 2 > len(counted)
    top = next(
        at
        for at, (count, starts_filled) in enumerate(zip(filled, starts, strict=True))
        if count >= least or (count * 2 >= usual - 1 and count and has_index and not starts_filled)
    )
    for at in range(top + 1, min(top + MOST_ABOVE, len(rows))):
        # A title of several cells: the names are below it, and fill the table's width.
        if filled[top] < usual <= filled[at]:
            here, above = (_votes(rows[row], rows[row + 1 :]) for row in (at, top))
            return at if here > max(0, above) else top
    return top


def find_header(
    rows: Sequence[Sequence[Any]], *, chosen: int | None = None, width: int = 0
) -> Header:
    """The names of the columns of a table that begins with `rows`.

    chosen: the row that a person chose, 0 for none. width: how many columns there are at least.
    Raises BadInput for a name that is too long, for too many columns, and for rows that are all
    blank unless one of them was chosen.
    """
    if chosen is None:
        _refuse_blank(rows)
    row, first_row = _begins(rows) if chosen is None else (chosen, chosen + 1)
    under = rows[first_row - 1 :]
    names = list(rows[row - 1]) if 0 < row <= len(rows) else []
    original = tuple(map(shown_text, _fitted(names, under, width=width)))
    if len(original) > LIMITS.columns:
        raise BadInput(
            f"The table has {len(original):,} columns; at most {LIMITS.columns:,} can be read. "
            "Remove the columns that are not needed."
        )
    _refuse_long_names(original, row)
    columns = unique_names(original)
    return Header(row, first_row, columns, original if row and original != columns else None)


def is_filled(row: Sequence[Any]) -> bool:
    """Whether a row has a cell with more than blanks."""
    return any(map(_is_filled, row))


def _refuse_blank(rows: Sequence[Sequence[Any]]) -> None:
    if rows and not any(map(is_filled, rows)):
        raise BadInput(
            "The first rows of this table are all blank. Remove the blank rows above the table, or "
            "choose a file or a sheet with a table in it."
        )


def _begins(rows: Sequence[Sequence[Any]]) -> tuple[int, int]:
    """The row with the names (0: none), and the first row below it, both from 1."""
    top = table_top(rows)
    if not rows or not _is_header(rows[top], rows[top + 1 :]):
        return 0, top + 1
    return top + 1, top + 2


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """A name for every column: “Column 3” for one without, “name (2)” for one that is repeated."""
    taken = {name for name in names if name.strip()}
    found: dict[str, None] = {}
    for number, name in enumerate(names, 1):
        if not name.strip():
            found[_free(f"Column {number}", taken | found.keys())] = None
        elif name in found:
            found[_free(name, taken | found.keys())] = None
        else:
            found[name] = None
    return tuple(found)


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with a number at its end if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _fitted(names: list[Any], under: Sequence[Sequence[Any]], *, width: int) -> list[Any]:
    """The names, one for each column that the rows have.

    Where every row has one cell more than there are names, the first column has none, as R and
    pandas write it; unless the last cells are blank, which a delimiter at the end of a line makes.
    Names at the end that are blank, and have no cells below them, are left out. Rows of different
    widths, and a single row, say nothing about the columns: perhaps a text has a delimiter.
    """
    filled = [row for row in under if row]
    widths = Counter(map(len, filled))
    if len(filled) > 1 and len(widths) == 1:
        if (
            names
            and len(filled[0]) == len(names) + 1
            and any(_is_filled(row[-1]) for row in filled)
        ):
            return ["", *names]
        width = max(width, len(filled[0]))
    if not names and widths:
        width = max(width, widths.most_common(1)[0][0])
    while len(names) > max(width, *widths, 1) and not _is_filled(names[-1]):
        names = names[:-1]
    return names + [""] * (width - len(names))


def _is_header(first: Sequence[Any], under: Sequence[Sequence[Any]]) -> bool:
    """Whether a row has names, and is not a row like those under it."""
    votes = _votes(first, under)
    if votes or sum(map(_is_filled, first)) > 1:
        return votes >= 0
    # A list without votes: one word over words. Names are rarely written like what they name.
    at = next(at for at, cell in enumerate(first) if _is_filled(cell))
    shapes = [_shape(cell) for cell in _below(under, at)]
    return not shapes or shapes.count(_shape(first[at])) * 2 < len(shapes)


def _votes(first: Sequence[Any], under: Sequence[Sequence[Any]]) -> int:
    """How many columns say that a row has their names, less those that say that it is a row."""
    counted = _counts_up(first) and not any(map(_counts_up, under[:1]))
    return sum(
        _vote(name, _below(under, at), counted=counted)
        for at, name in enumerate(first)
        if _is_filled(name)
    )


def _below(under: Sequence[Sequence[Any]], at: int) -> list[Any]:
    """The filled cells of a column, in the first COMPARED rows."""
    return [row[at] for row in under[:COMPARED] if at < len(row) and _is_filled(row[at])]


def _vote(name: Any, below: Sequence[Any], *, counted: bool) -> int:
    """1: this is the name of the cells below it; -1: it is one of them; 0: either.

    counted: numbers are names here, as they count up and the next row does not.
    """
    kind = _kind(name)
    if kind == "text" and shown_text(name).strip().casefold() in NO_VALUE:
        return 0
    if not below:
        return 0 if kind == "text" else -1
    kinds = Counter(map(_kind, below))
    usual, times = kinds.most_common(1)[0]
    if kind != "text":
        return 0 if counted or kind != usual or _names_a_year(name, below) else -1
    if usual != "text" and times * 5 >= len(below) * 4:
        return 1
    return _vote_of_text(shown_text(name), [shown_text(cell) for cell in below])


def _vote_of_text(name: str, below: Sequence[str]) -> int:
    if any(word.casefold() in USUAL for word in WORD.findall(name[:LONG])):
        return 1 if len(name) <= LONG else 0
    if name in below:
        return -1
    lengths = sorted(map(len, below))
    if len(name) > LONG and lengths[len(lengths) // 2] * 2 > len(name):
        return -1
    shape = _shape(name)
    alike = sum(_shape(text) == shape for text in below)
    return -1 if shape not in PLAIN_SHAPES and alike * 5 >= len(below) * 4 else 0


def _names_a_year(name: Any, below: Sequence[Any]) -> bool:
    """Whether a number is the name of a column: a year, over cells that are none."""
    return bool(YEAR.fullmatch(shown_text(name))) and not all(
        YEAR.fullmatch(shown_text(c)) for c in below
    )


def _counts_up(row: Sequence[Any]) -> bool:
    """Whether three cells of a row count up: 1, 2, 3."""
    texts = map(shown_text, row)
    whole = [int(text) if text.isdecimal() and len(text) < 10 else None for text in texts]
    return any(
        first is not None and second == first + 1 and third == first + 2
        for first, second, third in zip(whole, whole[1:], whole[2:], strict=False)
    )


def _kind(cell: Any) -> str:
    if not isinstance(cell, str):
        return "date" if isinstance(cell, dict) and "percent" not in cell else "number"
    text = cell.strip()[:LONG]
    if DATE.fullmatch(text):
        return "date"
    return "number" if NUMBER.fullmatch(text) else "text"


def _shape(cell: Any) -> str:
    """What a text looks like: “Aa a 9” for “Order of 12”."""
    shape = LETTERS.sub(_case, shown_text(cell)[: 4 * LONG].strip())
    return DIGITS.sub("9", shape)


def _case(letters: re.Match[str]) -> str:
    text = letters[0]
    if text.islower():
        return "a"
    return "Aa" if len(text) > 1 and text[1:].islower() else "A"


def _is_filled(cell: Any) -> bool:
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


def _refuse_long_names(names: Sequence[str], row: int) -> None:
    for at, name in enumerate(names, 1):
        if len(name) > NAME_LIMIT:
            raise BadInput.at(
                f"the name of column {at:,}, {quoted(name)}, has {len(name):,} characters; at most "
                f"{NAME_LIMIT:,} are possible. Shorten it; or choose “The first line is already a "
                "row”.",
                row=row,
            )
