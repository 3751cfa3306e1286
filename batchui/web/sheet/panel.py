"""The panel beside the grid: one row in full."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import Http404

from batchui.batches import one_row
from batchui.batches.answer_editing import MAY_BE_EDITED, seen_of
from batchui.batches.models import Attempt, Batch
from batchui.batches.nearest import embedding_of
from batchui.batches.one_row import OneRow, ReplyUnread
from batchui.batches.sheet.pages import Neighbours, neighbours
from batchui.batches.sheet.selection import parse
from batchui.batches.states import ENDED_PARTS, SENT_PARTS, AnswerStatus, PartStatus
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import Value, fields_of
from batchui.prompts.item_settings import whole_instruction
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import as_object, cell_text, extras, shown_text
from batchui.prompts.template import Template
from batchui.web.damaged_files import without_path
from batchui.web.prompt_preview import prompt_filler
from batchui.web.sheet.answer_views import AnswerView, view_of, view_of_text
from batchui.web.sheet.became import Became, became_of
from batchui.web.sheet.cells import value_text
from batchui.web.sheet.columns import TAGGED
from batchui.web.sheet.edited import Mark, marks_of, places_of
from batchui.web.sheet.likeness import Passage, ranked
from batchui.web.sheet.pictures import picture_of
from batchui.web.sheet.view import SheetView

# In characters: of the prompt, of one cell, and of all cells together. The download has all.
LONGEST_SHOWN = 100_000
LONGEST_CELLS = 400_000
# Of rows with these, nothing was sent.
NEVER_ASKED = (AnswerStatus.INVALID, AnswerStatus.SKIPPED)
SHORT, LONG, LONG_LINES = 36, 500, 12


@dataclass(frozen=True)
class Text:
    """A text with its name. is_cut: it goes on."""

    name: str
    text: str
    is_cut: bool = False

    @property
    def is_long(self) -> bool:
        """Whether it may scroll in a frame of its own."""
        return len(self.text) > LONG or self.text.count("\n") > LONG_LINES

    @property
    def is_wide(self) -> bool:
        """Whether it needs more room than a short value, such as a date."""
        return len(self.text) > SHORT or len(self.name) > SHORT


@dataclass(frozen=True)
class Answer:
    """An answer with the name of its column.

    id: of its place on the page. tags: values out of a list, in place of the view. at: which answer
    column it is, where somebody may correct it; None: nobody may. is_edited: somebody did.
    """

    id: str
    name: str
    view: AnswerView
    tags: tuple[str, ...] = ()
    at: int | None = None
    is_edited: bool = False


@dataclass(frozen=True)
class Own:
    """What the model had answered to a row that somebody corrected, who did, and when.

    answer: None if it had none; error: why. seen: of the answer as it is now, to take it back.
    """

    mark: Mark
    answer: AnswerView | None
    error: str
    seen: str


@dataclass(frozen=True)
class PanelRow:
    """A row in full.

    used: the columns that the question uses; others: the rest. prompt: None if it was not asked, or
    its text is lost. before, after: the numbers of the rows beside it in the filter; None: none.
    own: the model's answer, where somebody corrected it. ranked: the passages of a ranking, the
    best first. has_numbers: its answer is an embedding.
    """

    number: int
    status: str
    error: str
    answers: list[Answer]
    used: list[Text]
    others: list[Text]
    prompt: Text | None
    became: Became
    part: int
    before: int | None
    after: int | None
    own: Own | None = None
    ranked: list[Passage] = field(default_factory=list)
    has_numbers: bool = False


def row_context(batch: Batch, view: SheetView, number: int) -> dict[str, Any]:
    """What the panel of a row needs. Raises Http404 if the batch has no such row."""
    found = found_row(batch, number)
    beside = _beside(batch, view, found, number)
    used, others = split_columns(batch, found.result.cells)
    row = PanelRow(
        number=number,
        status=found.result.status,
        error=without_path(found.result.error or ""),
        answers=_answers(batch, found),
        used=used,
        others=others,
        prompt=_prompt(batch, found),
        became=became_of(batch, found),
        part=found.part.number,
        before=beside.before,
        after=beside.after,
        own=_own(found),
        ranked=ranked(batch, found.result.answer, found.result.cells),
        has_numbers=embedding_of(found.result.answer) is not None,
    )
    instruction = "" if batch.ask.as_items else whole_instruction(batch.ask)
    return {
        "batch": batch,
        "view": view,
        "row": row,
        "picture": picture_of(batch, found.result.cells, number),
        "opened": number,
        "instruction": instruction,
    }


def reply_context(batch: Batch, number: int) -> dict[str, Any]:
    """What Cloudflare's reply says of a row, for its technical details. Raises Http404.

    latest: the latest request that the row was in, if none has brought a reply.
    """
    found = found_row(batch, number)
    sent = one_row.tries(found)
    attempt = one_row.answered_by(sent)
    latest = sent[-1] if sent and attempt is None else None
    context = {"batch": batch, "part": found.part, "attempt": attempt, "latest": latest}
    return context | _item(attempt, found)


def found_row(batch: Batch, number: int) -> OneRow:
    """The row of a batch with this number. Raises Http404 if it has none."""
    found = one_row.find(batch, number) if number < 2**31 else None
    if found is None:
        raise Http404(_no_such_row(batch, number))
    return found


def _no_such_row(batch: Batch, number: int) -> str:
    first = batch.first_row
    return (
        f"This batch has no row {number:,}. Its rows are {first:,} to {first + batch.rows - 1:,}, "
        "numbered as in your spreadsheet."
    )


def _item(attempt: Attempt | None, found: OneRow) -> dict[str, Any]:
    if attempt is None:
        return {"problem": "There is no reply to this row."}
    try:
        return {"item": one_row.reply_item(attempt, found)}
    except ReplyUnread as problem:
        return {"problem": str(problem)}


def _beside(batch: Batch, view: SheetView, found: OneRow, number: int) -> Neighbours:
    """The rows before and after a row, of those that the view shows."""
    selection = parse(view.show, view.q)
    if not selection.is_all:
        return neighbours(batch, selection, number)
    is_first = found.position == 0 and found.part.number == 1
    is_last = number == found.part.last_row and found.part.number == batch.part_count
    return Neighbours(None if is_first else number - 1, None if is_last else number + 1)


def _answers(batch: Batch, found: OneRow) -> list[Answer]:
    """The answer; or a value for each answer column, and the whole answer where one is missing."""
    raw, wanted = found.result.answer, batch.ask.answer_columns
    may_be_edited = found.part.status in ENDED_PARTS and found.result.status in MAY_BE_EDITED
    if raw is None and not may_be_edited:
        return []
    edited = places_of(found.result, wanted)
    whole = Answer("row-answer", "Answer", view_of(raw))
    if not wanted:
        return [_editable(whole, 0, edited) if may_be_edited else whole]
    values = fields_of(raw, wanted)
    answers = [
        _value(f"row-answer-{at}", column, value)
        for at, (column, value) in enumerate(zip(wanted, values, strict=True))
    ]
    if may_be_edited:
        answers = [_editable(answer, at, edited) for at, answer in enumerate(answers)]
    is_whole = found.result.status == AnswerStatus.ANSWERED and None not in values
    if is_whole or raw is None or found.result.edit is not None:
        return answers
    return [*answers, replace(whole, name="What the model answered")]


def _editable(answer: Answer, at: int, edited: Container[int]) -> Answer:
    """The answer with what is needed to correct it, unless it is nothing to be edited as text."""
    if answer.view.is_cut or answer.view.kind == "vectors":
        return answer
    return replace(answer, at=at, is_edited=at in edited)


def _own(found: OneRow) -> Own | None:
    result = found.result
    mark = marks_of([result]).get(result.row)
    if result.edit is None or mark is None:
        return None
    answer = None if result.own_answer is None else view_of(result.own_answer)
    error = without_path(result.edit.error or "")
    return Own(mark, answer, error, seen_of(result.answer, (), 0))


def _value(identity: str, column: AnswerColumn, value: Value) -> Answer:
    if value is not None and column.kind in TAGGED:
        tags = tuple(value) if isinstance(value, list) else (value_text(value),)
        return Answer(identity, column.name, view_of_text(""), tags)
    return Answer(identity, column.name, view_of_text(value_text(value)))


def _prompt(batch: Batch, found: OneRow) -> Text | None:
    """What was asked of a row, or will be. None if nothing, or if its text is lost."""
    cells = found.result.cells
    if found.result.status in NEVER_ASKED or cells is None:
        return None
    try:
        fill = prompt_filler(batch, batch.ask.template, as_items=batch.ask.as_items)
    except BadInput:  # it was checked at Start; a row is shown all the same
        return None
    was_sent = found.result.status or found.part.status in (*SENT_PARTS, PartStatus.SENDING)
    name = "What was sent" if was_sent else "What will be sent"
    return _text(name, fill(cells, LONGEST_SHOWN + 1), LONGEST_SHOWN)


def split_columns(batch: Batch, cells: Any) -> tuple[list[Text], list[Text]]:
    """The cells of a row that the question uses, in its order, and the others, in the file's."""
    if cells is None:
        return [], []
    wanted = () if batch.ask.as_items else Template(batch.ask.template).names
    if batch.ask.shows_pictures:
        wanted = (batch.ask.picture_column, *wanted)
    names = {name: place for place, name in enumerate(wanted)}
    names |= {name.strip(): place for name, place in names.items()}
    used: list[tuple[int, Text]] = []
    others: list[Text] = []
    room = LONGEST_CELLS
    for name, value in _cells(batch, cells):
        text = _text(name, value, min(LONGEST_SHOWN, room))
        room -= len(text.text)
        place = names.get(name, names.get(name.strip()))
        if place is None:
            others.append(text)
        else:
            used.append((place, text))
    return [text for _, text in sorted(used, key=lambda pair: pair[0])], others


def _cells(batch: Batch, cells: Any) -> Iterator[tuple[str, str]]:
    as_text = cell_text if isinstance(cells, dict) else shown_text
    for name, value in as_object(cells, batch.columns).items():
        yield name, as_text(value)
    for place, value in enumerate(extras(cells, batch.columns), len(batch.columns) + 1):
        yield f"Cell {place:,}, beyond the columns", as_text(value)


def _text(name: str, text: str, most: int) -> Text:
    return Text(name, text[:most], len(text) > most)
