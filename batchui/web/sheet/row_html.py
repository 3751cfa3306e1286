"""The HTML of a row of the grid, in as few bytes as it takes.

A page has hundreds of cells. Made by templates, they take half the time of the page. What follows
from the number of a row (the names of its cells, the box to tick it) is added by `sheet.js`.
"""

from collections.abc import Iterable, Sequence
from html import escape

from django.utils.safestring import SafeString

from batchui.web import status_words
from batchui.web.sheet.cells import AnswerCell
from batchui.web.sheet.columns import SheetColumn
from batchui.web.sheet.edited import Mark
from batchui.web.templatetags.times import time

_ANSWERED = "answered"
# Of an answer that goes on beyond its limit; the panel of the row says more.
_CUT_OFF = '<small class="cut-off">… cut off</small>'


def row_head(number: int, *, address: str) -> SafeString:
    """The first cell of a row: its number, which opens it."""
    link = f'<a href="{escape(address)}">{number:,}</a>'
    return SafeString(f'<th scope="row" class="n">{link}</th>')


def file_cells(columns: Sequence[SheetColumn], texts: Sequence[str], number: int) -> SafeString:
    """The cells of the file, of the row with this number."""
    made = (
        f'<td class="{column.classes}">'
        f"{_picture(column, text, number) if column.pictures else ''}"
        f"<div>{escape(text)}</div></td>"
        for column, text in zip(columns, texts, strict=True)
    )
    return SafeString("".join(made))


def _picture(column: SheetColumn, text: str, number: int) -> str:
    """The picture that a cell names. `pictures.js` fetches it once it is in view."""
    if not text.strip():
        return ""
    address = escape(column.pictures.format(number))
    return f'<img class="thumb" data-src="{address}" alt="" width="44" height="44">'


def answer_cells(cells: Iterable[AnswerCell]) -> SafeString:
    """The cells of the answers of a row."""
    return SafeString("".join(map(_cell, cells)))


def changed_cells(cells: Iterable[AnswerCell]) -> SafeString:
    """Cells that take the place of those on a page."""
    return SafeString(
        "".join(
            _cell(cell, f'id="cell-{cell.number}-{cell.at}" hx-swap-oob="true" ') for cell in cells
        )
    )


def _cell(cell: AnswerCell, more: str = "") -> str:
    opening = f'<td {more}class="{cell.classes}">'
    mark = _mark(cell.mark) if cell.mark else ""
    cut = _CUT_OFF if cell.is_cut else ""
    return f"{opening}{_inside(cell)}{cut}{mark}{_again(cell)}</td>"


def _inside(cell: AnswerCell) -> str:
    if cell.at and cell.moves and not cell.status:
        return '<div class="words"><span class="waits moves"></span></div>'
    if cell.status == _ANSWERED or cell.at:
        return _value(cell)
    if cell.status:
        shown = status_words.of_state(cell.status)
        hint = f' title="{escape(cell.note)}"' if cell.is_skipped and cell.note else ""
        data = f'data-status="{escape(cell.status)}" data-tone="{shown.tone}"'
        badge = f'<span class="badge" {data}{hint}>{escape(shown.word)}</span>'
        note = f' <span class="soft">{escape(cell.note)}</span>' if cell.note and not hint else ""
        return f'<div class="words">{badge}{note}</div>'
    if cell.note:
        moves = " moves" if cell.moves else ""
        return f'<div class="words"><span class="waits{moves}">{escape(cell.note)}</span></div>'
    return ""


def _mark(mark: Mark) -> str:
    """Who corrected the value, and when; the style sheet shows that on hover and focus."""
    who = f"by {escape(mark.who)}, {time(mark.at, 'local')}"
    return f'<small class="edited">✎ edited <span>{who}</span></small>'


def _again(cell: AnswerCell) -> str:
    """What a row waits for that has an answer, which stays until another one comes."""
    moves = " moves" if cell.moves else ""
    words = f'<small class="again waits{moves}">asked again: {escape(cell.again)}</small>'
    return words if cell.again else ""


def _value(cell: AnswerCell) -> str:
    if not cell.tags:
        return f"<div>{escape(cell.text)}</div>"
    tags = " ".join(f'<span class="tag">{escape(tag)}</span>' for tag in cell.tags)
    return f'<div class="words">{tags}</div>'
