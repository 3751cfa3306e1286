"""Makes the file of a draft that asks further about another batch: its sheet with the answers.

The rows of the draft are read from lines made of the first batch's rows and answers: typed cells,
at their rows of the sheet, nothing cut (JSONL: objects). Beside them is kept what a person gets as
the file of the draft: the workbook with the answers in it, where they can be written there, so that
the next answers can be, too; else plain CSV. JSONL is both at once.
"""

from pathlib import Path
from typing import Any

import msgspec
from django.core.files.base import File

from batchui.batches import files, uploads
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import Compressed
from batchui.batches.exporting import ALL, csv_plain, export_rows, table
from batchui.batches.models import LONGEST_NAME, Batch
from batchui.batches.progress import Progress
from batchui.batches.whole_files import kinds_for, workbook
from batchui.exports.further import object_lines, table_lines
from batchui.exports.table import EVERYTHING, Layout, Table
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.prompts.conversion.converted import Sheet
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import Choices

WITH_ANSWERS = " with answers"
DELETED = (
    "The batch that this one asks further about was deleted before its answers were read. Discard "
    "this draft, and upload the file yourself."
)
RETRIED = (
    "The batch that this one asks further about was retried before its answers were read, or one "
    "of them was corrected meanwhile. Discard this draft. Once that batch has ended, ask further "
    "again."
)


def make_file(draft: Batch, *, progress: Progress) -> BatchChanges:
    """Store the sheet of the batch that `draft` asks further about, as the draft's file.

    Returns the fields of the draft that say so. Raises BadInput if that batch was deleted or is
    retried, and what `progress` raises.
    """
    first = draft.asked_after
    if first is None or first.deleted_at is not None:
        raise BadInput(DELETED)
    if not first.has_ended:
        raise BadInput(RETRIED)
    make = _objects if first.format.kind == "jsonl" else _table
    with files.working_folder() as folder:
        made = make(draft, first, folder / "file", progress)
    # A file that is not there reads as rows without an answer.
    now = Batch.objects.filter(pk=first.pk, deleted_at=None).first()
    if now is None:
        raise BadInput(DELETED)
    # The answers are read twice: for the file that a person gets, and for the rows that are asked.
    if now.version != first.version:
        raise BadInput(RETRIED)
    return made


def _objects(draft: Batch, first: Batch, target: Path, progress: Progress) -> BatchChanges:
    with target.open("wb") as out:
        for line in object_lines(export_rows(first, progress), table(first)):
            out.write(line + b"\n")
    choices = Choices(nested="text")  # or a structured answer would be no column of its own
    return {**_stored(draft, first, target, ".jsonl"), "source_choices": choices.to_dict()}


def _table(draft: Batch, first: Batch, target: Path, progress: Progress) -> BatchChanges:
    ending = _write_source(first, target, progress)
    about = table(first)
    lines = table_lines(export_rows(first, progress), about)
    return {
        **_stored(draft, first, target, ending),
        "source_choices": Choices(header_row=len(about.above) + 1).to_dict(),
        "converted_file": Compressed.of_lines(lines).store(files.converted_path(draft)),
        "converted": _converted(first, about),
    }


def _converted(first: Batch, about: Table) -> dict[str, Any]:
    """What is known of the table, as of one that was converted (see `converting.py`)."""
    sheet = Sheet(
        file="",
        name=first.sheet["name"] if first.sheet else first.source_stem,
        rows=len(about.above) + 1 + first.rows,
        columns=len(about.columns) + len(Layout(about, EVERYTHING).added),
    )
    sheets = [{**msgspec.to_builtins(sheet), "first_rows": []}]
    return {
        "kind": "table",
        "of_answers": True,
        "delimiter": first.format.delimiter,  # of the downloads, as of those of the first batch
        "chosen": 0,
        "sheets": sheets,
    }


def _write_source(first: Batch, target: Path, progress: Progress) -> str:
    """Write the file that a person gets as the draft's own. Returns the ending of its name.

    A sheet without column names gets some in a row of its own, for which its workbook has no room.
    """

    def still_at_none(_: int) -> None:
        progress(0)  # the rows are counted when they are written as lines

    if "workbook" in kinds_for(first) and first.format.header_row:
        try:
            workbook(first, ALL, target, still_at_none)
        except CannotWrite:
            pass
        else:
            return Path(first.source_name).suffix.lower()
    with target.open("wb") as out:
        out.writelines(csv_plain(first, ALL, still_at_none))
    return ".csv"


def _stored(draft: Batch, first: Batch, target: Path, ending: str) -> BatchChanges:
    stem = first.source_stem.removesuffix(WITH_ANSWERS)
    name = f"{stem[:LONGEST_NAME]}{WITH_ANSWERS}{ending}"
    with target.open("rb") as content:
        stored = uploads.store(files.further_path(draft), File(content), called=name)
    return {"source_name": name, **stored.as_fields()}
