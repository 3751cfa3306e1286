"""Writes values as cells of a sheet, with their text in them ("inline strings")."""

import re
from collections.abc import Sequence
from decimal import Decimal
from xml.sax.saxutils import escape

from batchui.exports import xlsx_text, xlsx_values
from batchui.exports.rows import cell_text

# What nearly all texts are made of: nothing that needs markup or an escape.
_usual = re.compile(r"[\t\n -%'-;=?-^`-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*+").fullmatch

# Numbers are as JSON has them: finite.
Value = None | str | int | float | Decimal | bool


class CellWriter:
    """Writes the cells of some columns.

    letters: of the columns. prefix: of the sheet's elements, `x:` or nothing. cut: how many cells
    were too long (`xlsx_text.is_too_long`), and lost their end.
    """

    def __init__(self, letters: Sequence[str], prefix: str) -> None:
        self.cut = 0
        self._starts = [f'<{prefix}c r="{column}' for column in letters]
        self._end = f"</{prefix}c>"
        self._text = f' t="inlineStr"><{prefix}is><{prefix}t xml:space="preserve">'
        self._text_end = f"</{prefix}t></{prefix}is>{self._end}"
        self._number = f"><{prefix}v>"
        self._number_end = f"</{prefix}v>{self._end}"
        self._truth = f' t="b"{self._number}'

    def cell(self, at: int, row: int, value: Value, style: str | None = None) -> str:
        """The cell of a value in the column at this index; nothing for None and for no text.

        A number that Excel would show otherwise is written as text. style: the number of a cell
        format.
        """
        if value is None or value == "":
            return ""
        start = f'{self._starts[at]}{row}"'
        if style is not None:
            start = f'{start} s="{style}"'
        if not isinstance(value, str):
            if isinstance(value, bool):
                return f"{start}{self._truth}{value:d}{self._number_end}"
            text = cell_text(value)
            if xlsx_values.number(text):
                return f"{start}{self._number}{text}{self._number_end}"
            value = text
        if len(value) > xlsx_text.SURELY_FITS or not _usual(value):
            value = self._written(value)
        return f"{start}{self._text}{value}{self._text_end}"

    def _written(self, text: str) -> str:
        if xlsx_text.is_too_long(text):
            self.cut += 1
            text = xlsx_text.cut(text)
        return escape(xlsx_text.escaped(text))
