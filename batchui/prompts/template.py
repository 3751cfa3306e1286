"""Puts the cells of a row into a text with `{{column}}` in it."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec

from batchui.prompts.problems import BadInput, listed, quoted
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.rows import cell_text, shown_text

PromptOf = Callable[[Any], str | None]

LONGEST_TEXT = 100_000  # characters of a template, and of an instruction
# With 200 cells, each of up to 8 MB, no request would take a prompt for long.
MOST_USES = 200
# A wrong name is compared with the file's only where both are short, since that takes the product
# of their lengths for each column.
SHORT_NAME = 60
COLUMNS_COMPARED = 200

NOT_CLOSED = (
    "The text opens a column's name with {{ but does not close it. Close it with }}, like "
    "{{column}}."
)


class Template:
    """A text with names of columns between double braces.

    names: each once, in the order in which they appear. A name may have any characters except
    "}}". Everything else in the text stays as it is. Reading it takes time in proportion to its
    length, whatever is in it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # Literal text and names in turn; the first and the last are literals. Of a text that is too
        # long nothing more is wanted.
        self._pieces = list(_pieces(text[: LONGEST_TEXT + 1]))
        self.names = tuple(dict.fromkeys(self._pieces[1::2]))

    def renamed(self, names: Mapping[str, str]) -> str:
        """The text with other names of columns in place of these."""
        if not names or len(self.text) > LONGEST_TEXT:
            return self.text
        literals, marks = self._pieces[::2], self._pieces[1::2]
        named = ["{{" + names.get(one, one) + "}}" for one in marks]
        return "".join(chain.from_iterable(zip(literals, [*named, ""], strict=True)))

    def bind(
        self, columns: Sequence[str], *, before: str = "", needs_name: bool = True
    ) -> "Filler":
        """The filler for rows with these columns. before: literal text to put before the template.
        needs_name: False where a picture goes along, which is another for each row.

        A name is looked up as it is written, then without the white space around it. Raises
        BadInput for a name that is not a column, for a template without a name, and for one that
        is longer than LONGEST_TEXT or has more than MOST_USES names.
        """
        if len(self.text) > LONGEST_TEXT:
            raise BadInput(too_long("text", self.text))
        if not self.names and (needs_name or "{{" in self.text):
            raise BadInput(self._no_names())
        if "{{" in self._pieces[-1]:
            raise BadInput(NOT_CLOSED)
        uses = len(self._pieces) // 2
        if uses > MOST_USES:
            raise BadInput(
                f"The text names columns {uses:,} times; at most {MOST_USES} are possible. Remove "
                "some of them."
            )
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


def too_long(what: str, text: str) -> str:
    """The sentence for a text of a question with more than LONGEST_TEXT characters."""
    most = f"at most {LONGEST_TEXT:,} are possible"
    return f"The {what} has {len(text):,} characters; {most}. Shorten it."


def _pieces(text: str) -> Iterator[str]:
    """The text between the names, and the names, in turn. What is not closed is no name."""
    end = 0
    while (start := text.find("{{", end)) >= 0 and (close := text.find("}}", start + 2)) >= 0:
        yield text[end:start]
        yield text[start + 2 : close]
        end = close + 2
    yield text[end:]


def _position(name: str, columns: Sequence[str]) -> int:
    for wanted, known in (
        (name, columns),
        (name.strip(), columns),
        (_bare(name), list(map(_bare, columns))),
    ):
        if known.count(wanted) == 1:
            return known.index(wanted)
    raise BadInput(_unknown(name, columns))


def with_line_feeds(text: str) -> str:
    """The text with every kind of line break as a line feed, whatever file or browser it is of."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bare(name: str) -> str:
    return with_line_feeds(name).strip()


def _unknown(name: str, columns: Sequence[str]) -> str:
    if not name.strip():
        return "There is no column's name between {{ and }}. Write one there, like {{column}}."
    by_fold = {
        column.strip().casefold(): column
        for column in columns[:COLUMNS_COMPARED]
        if len(column) <= SHORT_NAME
    }
    wanted = name.strip().casefold()
    close = difflib.get_close_matches(wanted, by_fold, n=1) if len(wanted) <= SHORT_NAME else []
    if close:
        advice = f"Did you mean {quoted(by_fold[close[0]])}?"
    elif columns:
        advice = f"Its columns are {listed(columns)}."
    else:
        advice = "It has no columns."
    return f"The text names the column {quoted(name)}, which the file does not have. {advice}"


class Filler:
    """Puts the cells of a row into a template, exactly as they are.

    prompt_of(cells): the text for one row; None if it has cells, and all of them are blank. It runs
    for every row of a batch, so a specialised function is built once.
    used: the columns in the template. uses: how often the most frequent one is in it.
    constant_bytes: the size, as JSON, of the text that is the same in every row.
    is_blank(cells): whether every cell in the text is blank. cell_bytes(cells): the size of the
    cells in the text, as JSON. For both the text itself is not built: it may be a thousand times as
    long as the row.
    """

    def __init__(
        self, *, literals: Sequence[str], positions: Sequence[int], columns: Sequence[str]
    ) -> None:
        self._positions = tuple(positions)
        self._different = tuple(dict.fromkeys(positions))
        self._names = tuple(columns[position] for position in positions)
        self._places = tuple((at, columns[at]) for at in self._different)
        self._literals = tuple(literals)
        self.used = tuple(dict.fromkeys(self._names))
        self.uses = max(map(self._positions.count, positions), default=0)
        self.constant_bytes = len(msgspec.json.encode("".join(literals)))
        self.prompt_of = self._specialised()

    def fill(self, cells: Cells, most: int) -> str:
        """The text for one row, blank or not, cut off after `most` characters.

        A cell that is missing in the row is empty.
        """
        texts = self._cells_or_empty(cells)
        made: list[str] = []
        for piece in chain(self._literals[:1], *zip(texts, self._literals[1:], strict=True)):
            made.append(piece[:most])
            most -= len(made[-1])
        return "".join(made)

    def is_blank(self, cells: Cells) -> bool:
        if not self._positions:
            return False
        if isinstance(cells, dict):
            return not any(cell_text(cells.get(name)).strip() for name in self.used)
        for at in self._different:
            cell = cells[at] if at < len(cells) else ""
            text = cell if type(cell) is str else shown_text(cell)
            if text and not text.isspace():
                return False
        return True

    def none_is_blank(self, rows: Sequence[Any]) -> bool:
        """Whether certainly none of these rows is blank: a column of the text has text in each."""
        for at, name in self._places:
            try:
                place = name if type(rows[0]) is dict else at
                if all(map(str.strip, map(itemgetter(place), rows))):
                    return True
            # Rows that lack the column, are of another kind, or have no text there.
            except (IndexError, KeyError, TypeError):
                continue
        return not self._positions

    def cell_bytes(self, cells: Cells) -> int:
        texts = self._cells_or_empty(cells)
        sizes = {text: len(msgspec.json.encode(text)) - 2 for text in dict.fromkeys(texts)}
        return sum(map(sizes.__getitem__, texts))

    def _cells_or_empty(self, cells: Cells) -> tuple[str, ...]:
        """The cells for the template; "" for one that the row does not have."""
        if isinstance(cells, dict):
            texts = {name: cell_text(cells.get(name)) for name in self.used}
            return tuple(map(texts.__getitem__, self._names))
        return tuple(shown_text(cells[at]) if at < len(cells) else "" for at in self._positions)

    def _specialised(self) -> PromptOf:
        match len(self._positions):
            case 0:
                text = self._literals[0]
                return lambda cells: text
            case 1:
                return self._for_one()
        return self._for_several()

    def _for_several(self) -> PromptOf:
        """`prompt_of` for a template that names columns several times."""
        pick = itemgetter(*self._positions)
        template = "%s".join(literal.replace("%", "%%") for literal in self._literals)
        cells_or_empty = self._cells_or_empty

        def prompt_of(cells: Any) -> str | None:
            try:
                texts = cells_or_empty(cells) if type(cells) is dict else pick(cells)
                together = "".join(texts)
            except (IndexError, TypeError):  # a row that is too short, or has numbers
                texts = cells_or_empty(cells)
                together = "".join(texts)
            return None if not together or together.isspace() else template % texts

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
            if type(text) is not str:
                text = shown_text(text)
            return None if not text or text.isspace() else before + text + after

        return prompt_of
