"""The first rows of a draft's file, and how the file is read."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRefresh

from batchui.batches import intake
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.code_pages import NAMES
from batchui.prompts.reading.decoding import NotUnicode
from batchui.prompts.reading.rows import as_list, decode_row, shown_text
from batchui.web.asking.file_line import file_line
from batchui.web.asking.saving import save_typed
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.forms.reading import ReadingForm
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

# Where a sheet is chosen, each one is shown with so many cells of its first rows.
CELLS_OF_A_SHEET = 6
# Of the first rows, where the one with the names is chosen.
ROWS_SHOWN = 3
NO_SUCH_TEXT = "This file is not in {}. Choose another encoding."
READ_AS_BEFORE = "Until then it is read as before."


@dataclass(frozen=True)
class SampleRow:
    """One of the first rows of a file, or a row above them.

    has_names: it is the row with the names of the columns.
    """

    number: int
    cells: list[str]
    is_above: bool
    has_names: bool


@dataclass(frozen=True)
class ShownSheet:
    """A sheet of a workbook, to be chosen. radio: its button in the form."""

    name: str
    size: str
    rows: list[list[str]]
    radio: Any


def file_context(batch: Batch, reading: ReadingForm | None = None) -> dict[str, Any]:
    """What the part of the page about the file needs."""
    reading = reading or ReadingForm(batch=batch)
    return {
        "reading": reading,
        "file_line": file_line(batch, reading),
        "sheet_choices": _sheets(batch, reading),
        "sample_rows": _sample_rows(batch),
    }


def _sheets(batch: Batch, reading: ReadingForm) -> list[ShownSheet]:
    if "sheet" not in reading.fields:
        return []
    return [
        ShownSheet(
            name=sheet["name"],
            size=_size(sheet),
            rows=[_first_cells(decode_row(text.encode())) for text in sheet["first_rows"]],
            radio=radio,
        )
        for sheet, radio in zip(batch.sheets, reading["sheet"], strict=True)
    ]


def _size(sheet: dict[str, Any]) -> str:
    """“2,400 rows, 5 columns”."""
    if not sheet["rows"]:
        return "nothing in it"
    columns = f"{sheet['columns']:,} column{'' if sheet['columns'] == 1 else 's'}"
    hidden = ", a hidden sheet" if sheet["hidden"] else ""
    return f"{rows_phrase(sheet['rows'])}, {columns}{hidden}"


def _first_cells(cells: Any) -> list[str]:
    return [shown_text(cell) for cell in cells[:CELLS_OF_A_SHEET]]


def _sample_rows(batch: Batch) -> list[SampleRow]:
    form = batch.format
    shown = [at for at, column in enumerate(form.columns) if column not in form.empty]
    first_rows = enumerate(batch.first_rows[:ROWS_SHOWN], form.first_row)
    rows = []
    # Names as they are in the first row stand in the head of the table already.
    above = [] if form.header_row == 1 and form.header is None else batch.rows_above
    for number, cells in (*above, *first_rows):
        listed = as_list(cells, form.columns)
        rows.append(
            SampleRow(
                number=number,
                cells=[shown_text(listed[at]) for at in shown],
                is_above=number < form.first_row,
                has_names=number == form.header_row,
            )
        )
    return rows


@with_own_draft
def encodings(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """All encodings that the text of a draft can be read as, to choose from."""
    reading = ReadingForm(batch=batch)
    return HttpResponse(str(reading["encoding"]) if "encoding" in reading.fields else "")


@post_only
@with_own_draft
def read_as(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Read the file of a draft differently. What is typed for the draft is saved first."""
    if "template" in request.POST:
        save_typed(batch, AskForm(request.POST, batch=batch))
    form = ReadingForm(request.POST, batch=batch)
    if form.is_valid():
        try:
            intake.read_differently(batch, form.choices(), by=request.user)
        except NotUnicode:
            name = NAMES[form.cleaned_data.get("encoding") or batch.format.encoding]
            form.add_error(None, f"{NO_SUCH_TEXT.format(name)} {READ_AS_BEFORE}")
        except BadInput as problem:
            form.add_error(None, f"The file cannot be read so. {problem} {READ_AS_BEFORE}")
        else:
            return HttpResponseClientRefresh() if request.htmx else redirect(batch)
    context = {"batch": batch, **file_context(batch, form)}
    if request.htmx:
        return render(request, "asking/_file.html", context, status=422)
    return redirect(batch)
