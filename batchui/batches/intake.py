"""Receives an upload: reads its beginning, stores it, and makes a batch."""

import itertools
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from batchui.batches import files, lifecycle, picture_archives, settling, sources, uploads
from batchui.batches.changes import BatchChanges
from batchui.batches.checking import check_file
from batchui.batches.compressed import DamagedFile
from batchui.batches.draft_rows import NO_ROWS
from batchui.batches.files import AnyFile
from batchui.batches.long_tasks import cannot_store, read_now_or_soon, sentence_for
from batchui.batches.models import LONGEST_NAME, Batch, asked_fields
from batchui.batches.pressed_twice import made_before
from batchui.batches.row_problems import NO_PROBLEMS
from batchui.batches.states import EDITABLE, BatchStatus
from batchui.batches.upload_limits import refuse_full_disk, too_large
from batchui.batches.uploads import Stored
from batchui.prompts.ask import Ask
from batchui.prompts.conversion.kinds import is_text
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import AS_FOUND, HEAD_BYTES, Choices
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team, User

# Another sheet has to be converted first.
NOT_LOOKED_AT: BatchChanges = {
    "source_format": {},
    "sample": [],
    "above": [],
    "converted_file": "",
    "converted": {},
}
# The fields that `run_again` copies besides the question; those of a plain text, too. Another file
# is converted again; but what was made of answers is copied.
SAME_FILE = ("source_name", "source_choices", "asked_after")
SAME_TEXT = (*SAME_FILE, "source_format", "sample", "above")
NO_ANSWERS = "A further question can be asked once this batch has ended with at least one answer."
ANSWERS_ALONE = (
    "This request was sent elsewhere: only its answers are known here, so it cannot be run again. "
    "You can ask a further question of them."
)
NOT_READ = "The file of this draft is not read yet. Try again in a moment."


def receive(
    upload: AnyFile,
    *,
    team: Team,
    by: User | None,
    name: str = "",
    ask: Ask | None = None,
    choices: Choices = AS_FOUND,
    instead: Batch | None = None,
    check_now: bool = False,
) -> Batch:
    """Read the beginning of a file, store it, make a batch, and check the whole file.

    The batch is a draft if its file is small or `check_now` is true; else it is `checking`, and a
    worker reads it. `ask`: the question, if known, such as that of the draft being replaced.
    `choices`: how to read it. `instead`: a draft whose archive of pictures
    goes with it. Raises BadInput, with a sentence, for a file that cannot be read or
    is too large; nothing is left behind then.
    """
    source_name = PurePath((upload.name or "file").replace("\\", "/")).name[-LONGEST_NAME:]
    size = upload.size
    if size > settings.MAX_UPLOAD_BYTES:
        raise too_large(size)
    found: BatchChanges = {}
    if is_text(_at_start(upload).read(HEAD_BYTES), source_name):
        found = sources.look_at_text(
            lambda: _at_start(upload), name=source_name, choices=choices
        ).as_fields()
    batch = _store(
        partial(uploads.store, content=upload, called=source_name),
        size=size,
        team=team,
        by=by,
        source_name=source_name,
        name=name[:LONGEST_NAME]
        or _free_name(team, PurePath(source_name).stem.strip() or source_name.strip()),
        source_choices=choices.to_dict(),
        pictures_of=instead if instead and not instead.has_pictures_inside else None,
        **found,
        **asked_fields(ask or Ask()),
    )
    try:
        return _checked(batch, check_now=check_now)
    except KeyboardInterrupt:  # nobody at the terminal knows of it yet
        erase_unstarted(batch)
        raise


def read_differently(batch: Batch, choices: Choices, *, by: User | None) -> bool:
    """Read the file of a draft as a person chose, and check it again.

    False: the draft was started meanwhile. Raises BadInput if the file cannot be read so; then
    nothing has changed.
    """
    if batch.status not in EDITABLE:
        return False
    other_sheet = choices.sheet != batch.choices.sheet
    found = NOT_LOOKED_AT if other_sheet else _look(batch, choices)
    changes: BatchChanges = {
        "source_choices": choices.to_dict(),
        "rows": 0,
        "bad_rows": 0,
        "progress_rows": 0,
        "problem": "",
        **NO_PROBLEMS,
        **NO_ROWS,
        "blanks": {},
        **found,
    }
    moved = lifecycle.move_batch(batch, BatchStatus.CHECKING, by=by, **changes)
    if moved:
        _checked(batch)
    return moved


def _look(batch: Batch, choices: Choices) -> BatchChanges:
    try:
        return sources.look(batch, choices).as_fields()
    except (OSError, DamagedFile) as problem:
        raise BadInput(sentence_for(problem)) from problem


def _at_start(upload: AnyFile) -> BinaryIO:
    upload.seek(0)
    return cast(BinaryIO, upload)


def _checked(batch: Batch, *, check_now: bool = False) -> Batch:
    if check_now:
        check_file(batch.pk)
    else:
        read_now_or_soon(batch, check_file)
    batch.refresh_from_db()
    return batch


def run_again(batch: Batch, *, by: User | None) -> Batch:
    """A new draft with the same file and question, to be edited before it is started.

    A second click gets the draft of the first (see `pressed_twice.py`). Raises BadInput if the file
    is not there yet, or is lost or cut short, or if only answers are known (`Batch.is_looked_up`).
    """
    if batch.is_looked_up:
        raise BadInput(ANSWERS_ALONE)
    if not batch.source_file:
        raise BadInput(NOT_READ)
    try:
        sources.refuse_changed(batch)
    except (OSError, DamagedFile) as problem:
        raise BadInput(sentence_for(problem)) from problem
    of_answers = batch.converted.get("of_answers", False)
    same = SAME_FILE if batch.converted_file and not of_answers else SAME_TEXT
    asked = asked_fields(batch.ask)
    before = partial(
        made_before,
        batch,
        by=by,
        source_sha256=batch.source_sha256,
        **{field: getattr(batch, field) for field in SAME_FILE},
        **asked,
    )
    copy = _store(
        partial(uploads.copy, batch),
        size=batch.source_size,
        team=batch.team,
        by=by,
        name=_free_name(batch.team, batch.name),
        rows_of=batch if of_answers else None,
        pictures_of=batch,
        find_before=before,
        **{field: getattr(batch, field) for field in same},
        **asked,
    )
    return _checked(copy)


def ask_further(batch: Batch, *, by: User | None) -> Batch:
    """A new draft whose file is the sheet of a batch with its answers (see `further.py`).

    Its question can use `{{answer}}`. A worker makes the file, unless it is small. A second click
    gets the draft of the first (see `pressed_twice.py`). Raises BadInput if the batch has not ended
    or has no answers.
    """
    if not batch.can_ask_further:
        raise BadInput(NO_ANSWERS)
    refuse_full_disk(batch.source_size)
    asked = asked_fields(Ask(model=batch.ask.model))
    with transaction.atomic():
        if draft := made_before(batch, by=by, asked_after=batch, **asked):
            return draft
        batch.refresh_from_db()  # it is locked now: a colleague may have retried it a moment ago
        if not batch.can_ask_further:
            raise BadInput(NO_ANSWERS)
        draft = Batch.objects.create(
            team=batch.team,
            connection=ensure_connection(batch.team),
            created_by=by,
            asked_after=batch,
            name=_free_name(batch.team, batch.name),
            source_name=batch.source_name,
            source_size=batch.source_size,  # about; it tells what is small
            **asked,
        )
        made = f"The rows of “{batch.name}” with their answers became the file."
        settling.record(draft, "uploaded", made, by=by)
    return _checked(draft)


def _store(
    store: Callable[[str], Stored],
    *,
    size: int,
    team: Team,
    by: User | None,
    rows_of: Batch | None = None,
    pictures_of: Batch | None = None,
    find_before: Callable[[], Batch | None] = lambda: None,
    **fields: Any,
) -> Batch:
    """Store an upload, and make a batch of it.

    store: stores it under the name that it is given. size: of the upload, in bytes. rows_of: a
    batch whose converted rows it has. pictures_of: one whose pictures. find_before: finds the batch
    that is returned instead of a new one; called in a transaction before the file is stored, and
    again in the one that makes the batch, as somebody may have made it meanwhile.
    """
    with transaction.atomic():
        if batch := find_before():
            return batch
    refuse_full_disk(size)
    # 1. The file, under the id that the batch will have.
    batch_id = uuid4()
    try:
        stored = _stored(store, batch_id)
        fields |= _copied(batch_id, stored, rows_of, pictures_of)
        # 2. The batch that points to it.
        with transaction.atomic():
            batch = find_before()
            if batch is None:
                batch = Batch.objects.create(
                    id=batch_id,
                    team=team,
                    connection=ensure_connection(team),
                    created_by=by,
                    **stored.as_fields(),
                    **fields,
                )
                settling.record(batch, "uploaded", f"“{batch.source_name}” was uploaded.", by=by)
    except BaseException:
        with suppress(OSError):
            files.remove_batch_files(batch_id)
        raise
    if batch.pk != batch_id:
        files.remove_batch_files(batch_id)
    return batch


def _copied(
    batch_id: UUID, upload: Stored, rows_of: Batch | None, pictures_of: Batch | None
) -> dict[str, Any]:
    """The fields with the files of other batches that a new one has copies of."""
    fields: dict[str, Any] = {}
    try:
        if rows_of:
            name = files.converted_path(Batch(pk=batch_id))
            fields["converted_file"] = files.copy(rows_of.converted_file, name)
            fields["converted"] = rows_of.converted
        if pictures_of:
            fields |= picture_archives.copied(pictures_of, batch_id, source_file=upload.name)
    except OSError as problem:
        raise BadInput(cannot_store(problem)) from problem
    return fields


def _stored(store: Callable[[str], Stored], batch_id: UUID) -> Stored:
    try:
        return store(files.source_path(batch_id))
    except OSError as problem:
        raise BadInput(cannot_store(problem)) from problem


def erase_unstarted(batch: Batch) -> None:
    """Remove a batch that was never started, with its files. Does nothing to a started one."""
    if Batch.objects.filter(pk=batch.pk, part_count=0).delete()[0]:
        files.remove_batch_files(batch.pk)


def _free_name(team: Team, name: str) -> str:
    """The name, with a number at its end if the team already uses it."""
    stem = re.sub(r" \(\d{1,3}\)$", "", name)[: LONGEST_NAME - 20]  # the rest is for the number
    taken = set(
        Batch.objects.of_team(team).filter(name__startswith=stem).values_list("name", flat=True)
    )
    numbered = (f"{stem} ({number})" for number in itertools.count(2))
    return next(free for free in itertools.chain([name], numbered) if free not in taken)
