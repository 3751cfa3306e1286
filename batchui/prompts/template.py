"""Puts the cells of a row into a text with `{{column}}` in it."""

import difflib
import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import msgspec

from batchui.prompts.blocks import Cells
from batchui.prompts.problems import BadInput, listed, quoted
from batchui.prompts.rows import cell_text

PromptOf = Callable[[Any], str | None]

NAME = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


NOT_CLOSED = (
    "The text opens a column's name with {{ but does not close it. Close it with }}, like "
    "{{column}}."
)


class Template:
    """A text with names of columns between double braces.

    names: each once, in the order in which they appear. A name may have any characters except
    "}}". Everything else in the text stays as it is.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # Literal text and names in turn; the first and the last are literals.
        self._pieces = NAME.split(text)
        self.names = tuple(dict.fromkeys(self._pieces[1::2]))

    def bind(self, columns: Sequence[str], *, before: str = "") -> "Filler":
        """The filler for rows with these columns. before: literal text to put before the template.

        A name is looked up as it is written, then without the white space around it. Raises
        BadInput for a name that is not a column, and for a template without a name.
        """
        if not self.names:
            raise BadInput(self._no_names())
        if "{{" in self._pieces[-1]:
            raise BadInput(NOT_CLOSED)
        positions = {name: _position(name, columns) for name in self.names}
        literals = [before + self._pieces[0], *self._pieces[2::2]]
        return Filler(
            literals=literals,
            positions=[positions[name] for name in self._pieces[1::2]],
            columns=columns,
        )

    def _no_names(self) -> str:
        if "{{" in self.text:
            return NOT_CLOSED
        return (
            "The text names no column, so every row would get the same question. Put the name of a "
            "column in double braces where its text should be, like {{column}}."
        )


def _position(name: str, columns: Sequence[str]) -> int:
    for wanted, known in (
        (name, columns),
        (name.strip(), columns),
        (name.strip(), [column.strip() for column in columns]),
    ):
        if known.count(wanted) == 1:
            return known.index(wanted)
    raise BadInput(_unknown(name, columns))


def _unknown(name: str, columns: Sequence[str]) -> str:
    if not name.strip():
        return "There is no column's name between {{ and }}. Write one there, like {{column}}."
    by_fold = {column.strip().casefold(): column for column in columns}
    close = difflib.get_close_matches(name.strip().casefold(), by_fold, n=1)
    if close:
        advice = f"Did you mean {quoted(by_fold[close[0]])}?"
    elif columns:
        advice = f"Its columns are {listed(columns)}."
    else:
        advice = "It has no columns."
    return f"The text names the column {quoted(name)}, which the file does not have. {advice}"


class Filler:
    """Puts the cells of a row into a template, exactly as they are.

    prompt_of(cells): the text for one row; None if every cell in it is blank. It runs for every
    row of a batch, so a specialised function is built once.
    used: the columns in the template. uses: how often the most frequent one is in it.
    constant_bytes: the size, as JSON, of the text that is the same in every row.
    """

    def __init__(
        self, *, literals: Sequence[str], positions: Sequence[int], columns: Sequence[str]
    ) -> None:
        self._positions = tuple(positions)
        self._names = tuple(columns[position] for position in positions)
        self._literals = tuple(literals)
        self.used = tuple(dict.fromkeys(self._names))
        self.uses = max(map(self._positions.count, positions))
        self.constant_bytes = len(msgspec.json.encode("".join(literals)))
        self.prompt_of = self._for_several() if len(positions) > 1 else self._for_one()

    def fill(self, cells: Cells) -> str:
        """The text for one row, blank or not. A cell that is missing in the row is empty."""
        texts = self._cells_or_empty(cells)
        return self._literals[0] + "".join(
            text + literal for text, literal in zip(texts, self._literals[1:], strict=True)
        )

    def _cells_or_empty(self, cells: Cells) -> tuple[str, ...]:
        """The cells for the template; "" for one that the row does not have."""
        if isinstance(cells, dict):
            return tuple(cell_text(cells.get(name)) for name in self._names)
        return tuple(cells[at] if at < len(cells) else "" for at in self._positions)

    def _for_several(self) -> PromptOf:
        """`prompt_of` for a template that names columns several times."""
        pick = itemgetter(*self._positions)
        template = "%s".join(literal.replace("%", "%%") for literal in self._literals)
        cells_or_empty = self._cells_or_empty

        def prompt_of(cells: Any) -> str | None:
            try:
                texts = cells_or_empty(cells) if type(cells) is dict else pick(cells)
            except IndexError:  # a row that is too short
                texts = cells_or_empty(cells)
            return template % texts if any(map(str.strip, texts)) else None

        return prompt_of

    def _for_one(self) -> PromptOf:
        """`prompt_of` for a template that names one column once."""
        position = self._positions[0]
        before, after = self._literals
        cells_or_empty = self._cells_or_empty

        def prompt_of(cells: Any) -> str | None:
            try:
                text = cells_or_empty(cells)[0] if type(cells) is dict else cells[position]
            except IndexError:  # a row that is too short
                text = ""
            return None if not text or text.isspace() else before + text + after

        return prompt_of
