"""Has an upload that is no plain text converted, and stores what its rows are read from."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage

from batchui.batches import files, uploads
from batchui.batches.changes import BatchChanges
from batchui.batches.models import Batch
from batchui.batches.progress import Progress
from batchui.prompts.conversion import converting, picture_archives
from batchui.prompts.conversion.converted import Jsonl, Result, Sheet, Text, open_lines
from batchui.prompts.conversion.looking import look
from batchui.prompts.problems import BadInput, listed, quoted
from batchui.prompts.reading.headers import find_header, is_filled
from batchui.prompts.reading.rows import sample_text

# What is made of an upload may be so many times as large.
LARGER = 4
# Of each sheet: those that are looked at, and those that are shown where one is chosen.
ROWS_SEEN, ROWS_SHOWN = 60, 3
# One column with fewer rows is taken for a note, where another sheet looks like a table.
FEWEST_OF_A_LIST = 20


def convert(batch: Batch, *, progress: Progress) -> BatchChanges:
    """Convert the upload of a batch, and store the part of it that is read, as fields of the batch.

    Raises BadInput for a file that cannot be read, and what `progress` raises.
    """

    with _on_disk(batch.source_file) as path, files.working_folder() as folder:
        made = converting.convert(
            path,
            folder,
            name=batch.source_name,
            most_bytes=LARGER * settings.MAX_UPLOAD_BYTES,
            progress=lambda news: progress(news.done),
        )
        name, about = _chosen(made, folder, batch.choices.sheet)
        stored_as = files.converted_path(batch)
        with (folder / name).open("rb") as content:
            files.save(stored_as, content)
        inside = picture_archives.pictures_in(look(path, batch.source_name))
    found: BatchChanges = {"converted_file": stored_as, "converted": about}
    if inside:
        found["pictures_file"], found["pictures_count"] = batch.source_file, len(inside)
        found["pictures_name"] = batch.source_name
    return found


def _chosen(made: Result, folder: Path, sheet: str | None) -> tuple[str, dict[str, Any]]:
    """The file that is read, and what is known of it."""
    if isinstance(made, Text):
        return made.file, {"kind": "text", "name": made.name}
    if isinstance(made, Jsonl):
        return made.file, {"kind": "jsonl", "inside": made.inside}
    first_rows = [_first_rows(folder / one.file) for one in made]
    chosen = _sheet(made, first_rows, sheet)
    sheets = [
        {
            **msgspec.to_builtins(one),
            "first_rows": [sample_text(row) for row in rows[:ROWS_SHOWN]],
        }
        for one, rows in zip(made, first_rows, strict=True)
    ]
    return made[chosen].file, {"kind": "table", "chosen": chosen, "sheets": sheets}


def _sheet(sheets: Sequence[Sheet], first_rows: Sequence[list[Any]], name: str | None) -> int:
    """The position of the sheet with this name; of none, of the first that looks like a table."""
    if name is not None:
        for at, sheet in enumerate(sheets):
            if sheet.name == name:
                return at
        names = listed([sheet.name for sheet in sheets])
        raise BadInput(
            f"This workbook has no sheet {quoted(name)}. Choose another one; it has {names}."
        )
    order = sorted(range(len(sheets)), key=lambda at: sheets[at].hidden)
    tables = [at for at in order if sheets[at].rows > 1 and _is_table(first_rows[at])]
    return (tables or [at for at in order if sheets[at].rows] or order)[0]


def _is_table(rows: list[Any]) -> bool:
    """Whether rows look like a table: several columns, or one with a name and many rows."""
    if not any(map(is_filled, rows)):
        return False
    header = find_header(rows)
    under = [row for row in rows[header.first_row - 1 :] if row]
    if len(header.columns) > 1:
        return bool(under)
    return header.row > 0 and len(under) >= FEWEST_OF_A_LIST


def _first_rows(path: Path) -> list[Any]:
    with open_lines(path) as lines:
        return [msgspec.json.decode(line) for line in islice(lines, ROWS_SEEN)]


@contextmanager
def _on_disk(name: str) -> Iterator[Path]:
    """The path of a stored upload.

    One from a bucket is copied first; and so is one that an older version took for a plain text,
    and compressed.
    """
    is_here = isinstance(default_storage._wrapped, FileSystemStorage)  # type: ignore[attr-defined]
    if is_here and not uploads.is_compressed(name):
        yield Path(default_storage.path(name))
        return
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, suffix=".upload") as copy:
        with uploads.open_upload(name) as stored:
            while data := stored.read(files.CHUNK_BYTES):
                copy.write(data)
        copy.flush()
        yield Path(copy.name)
