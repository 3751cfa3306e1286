"""The cells of a sheet, as a page shows them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from batchui.batches.answer_editing import MAY_BE_EDITED
from batchui.batches.part_answers import is_cut
from batchui.batches.results import Result
from batchui.batches.states import AnswerStatus, PartStatus
from batchui.exports.answers import answer_text
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import Value, fields_of
from batchui.web.damaged_files import without_path
from batchui.web.sheet.columns import NUMBERS, SheetColumn
from batchui.web.sheet.edited import Mark, places_of
from batchui.web.sheet.in_short import in_short

# In characters: a longer cell is cut in the grid; the row's panel has all of it.
LONGEST_CELL = 400
# Of the values of a list, so many stand in a cell.
MOST_TAGS = 12
# What a row without an answer waits for, by the status of its part.
WAITS = {
    PartStatus.READY: "waits",
    PartStatus.SENDING: "on its way",
    PartStatus.QUEUED: "queued",
    PartStatus.RUNNING: "on its way",
    PartStatus.HELD: "paused",
    PartStatus.UNSURE: "needs a decision",
}
NEVER_ASKED = (AnswerStatus.INVALID, AnswerStatus.SKIPPED)
AT_CLOUDFLARE = (PartStatus.SENDING, PartStatus.QUEUED, PartStatus.RUNNING)


@dataclass(frozen=True)
class AnswerCell:
    """A cell of an answer.

    number: of its row. at: which column of the answers, from 0. classes: also “edits” where it can
    be corrected. tags: values out of a list, in place of a text. status: of the row, “” while it
    waits. note: why there is no good answer, or what the row waits for; only the first cell says
    so. again: what a row waits for that has an answer and is asked again. moves: its part is at
    Cloudflare now. mark: who corrected this value by hand. is_cut: the answer was cut off; the
    first cell says so.
    """

    number: int
    at: int
    classes: str
    status: str
    text: str = ""
    tags: Sequence[str] = ()
    note: str = ""
    again: str = ""
    moves: bool = False
    mark: Mark | None = None
    is_cut: bool = False

    @property
    def is_skipped(self) -> bool:
        """Whether its row was never asked: the word says enough."""
        return self.status in NEVER_ASKED


def said_once(rows: Iterable[Sequence[AnswerCell]]) -> Iterator[Sequence[AnswerCell]]:
    """Rows of cells in which each reason stands once, at the first row that it is the reason of.

    The others have its badge; their panel and “Needs attention” have the sentence. A row that is
    skipped keeps its own, which only its badge says, on hover.
    """
    said: set[tuple[str, str]] = set()
    for first, *more in rows:
        reason = (first.status, first.note.removeprefix(f"Row {first.number:,}, "))
        is_said = first.status and not first.is_skipped and reason in said
        yield [replace(first, note="") if is_said else first, *more]
        said.add(reason)


def cut(text: str, most: int = LONGEST_CELL) -> str:
    """A text as a cell of the grid shows it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def answer_cells(
    result: Result,
    columns: Sequence[SheetColumn],
    wanted: Sequence[AnswerColumn],
    waits_in: PartStatus | None,
    mark: Mark | None = None,
) -> list[AnswerCell]:
    """The cells of a row's answers.

    wanted: the answer columns that were asked for. waits_in: the status of the part of a row that
    waits. mark: who corrected the row.
    """
    values: Sequence[Value] = (
        fields_of(result.answer, wanted) if wanted else [_whole(result.answer, columns[0])]
    )
    edited = places_of(result, wanted)
    return [
        _cell(result, column, value, waits_in, mark if column.at in edited else None)
        for column, value in zip(columns, values, strict=True)
    ]


def _whole(answer: bytes | None, column: SheetColumn) -> str:
    return in_short(answer) if column.kind == NUMBERS else answer_text(answer)


def _cell(
    result: Result,
    column: SheetColumn,
    value: Value,
    waits_in: PartStatus | None,
    mark: Mark | None,
) -> AnswerCell:
    tags = _tags(value) if column.has_tags else ()
    return AnswerCell(
        number=result.row,
        at=column.at,
        classes=f"{column.classes} edits" if result.status in MAY_BE_EDITED else column.classes,
        status=result.status,
        text="" if tags else cut(value_text(value)),
        tags=tags,
        note=_note(result, waits_in) if column.at == 0 else "",
        again=WAITS.get(waits_in, "") if waits_in and result.status and column.at == 0 else "",
        moves=waits_in in AT_CLOUDFLARE,
        mark=mark,
        is_cut=column.at == 0 and is_cut(result.status, result.error),
    )


def _note(result: Result, waits_in: PartStatus | None) -> str:
    if result.status:
        return cut(without_path(result.error or ""))
    return WAITS.get(waits_in or PartStatus.READY, WAITS[PartStatus.READY])


def _tags(value: Value) -> Sequence[str]:
    if value is None:
        return ()
    if isinstance(value, list):
        left = len(value) - MOST_TAGS
        shown = [cut(one) for one in value[:MOST_TAGS]]
        return shown if left <= 0 else [*shown, f"and {left} more"]
    return (cut(value_text(value)),)


def value_text(value: Value) -> str:
    """A value of an answer column as text; “” for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
