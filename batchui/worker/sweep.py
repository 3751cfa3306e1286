"""Removes files and drafts that nobody needs any more."""

import logging
import secrets
import socket
from datetime import timedelta
from typing import Any

from django.core.cache import cache
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone

from batchui.batches import events, files, look_ups
from batchui.batches.export_models import KEPT, Export
from batchui.batches.models import Attempt, Batch, asked_fields
from batchui.batches.part_models import CLEAN_REPLIES_ARE_KEPT, CLEAN_REPLY
from batchui.batches.states import ENDED_PARTS, STARTED, BatchStatus
from batchui.prompts.ask import Ask
from batchui.worker import overtaken, this_host
from batchui.worker.installation_mark import belong_to_another
from batchui.worker.models import Heartbeat, Installation

logger = logging.getLogger(__name__)

# A draft that nobody started is kept this long.
DRAFTS_ARE_KEPT = timedelta(days=30)
AT_ONCE = 50
# Of large batches there are many; each takes a millisecond, in a bucket some fifty.
REPLIES_AT_ONCE = 200
NOTHING_LEFT: dict[str, Any] = {
    **asked_fields(Ask()),
    "source_choices": {},
    "source_format": {},
    "converted": {},
    "survey": {},
    "sample": [],
    "above": [],
    "problem": "",
    "problem_rows": [],
    "problem_count": 0,
    "blanks": {},
}
# Somebody may be downloading a batch while a colleague deletes it.
FILES_OUTLIVE = timedelta(hours=1)
ONCE_A_DAY = 24 * 60 * 60
SEEN_BEFORE = "orphans"
# Each backup under way has a heartbeat. Its process may be dead unnoticed for so long.
BACKUP = "backup:"
BACKUP_LASTS = timedelta(hours=1)


def sweep() -> None:
    """Remove old drafts, the files of deleted batches, and files that belong to no batch.

    Also exports, the rows of what were drafts, and raw replies, once they were kept long enough;
    and what dead processes left behind on this host.

    While a backup is made no file is removed: it may be one that the backup is about to read.
    """
    this_host.remove_left_behind()
    Batch.objects.filter(
        status=BatchStatus.DRAFT,
        deleted_at=None,
        created_at__lt=timezone.now() - DRAFTS_ARE_KEPT,
    ).update(deleted_at=timezone.now())
    alive = timezone.now() - BACKUP_LASTS
    if Heartbeat.objects.filter(name__startswith=BACKUP, at__gt=alive).exists():
        return
    now = timezone.now()
    # From here on nobody brings them back: a file that is half removed helps nobody.
    Batch.objects.filter(files_removed=False, kept_until__lte=now).update(kept_until=None)
    gone = Batch.objects.filter(
        files_removed=False, kept_until=None, deleted_at__lt=now - FILES_OUTLIVE
    )
    for batch in gone[:AT_ONCE]:
        if not _remove_files(batch.pk):
            continue
        batch.parts.all().delete()
        batch.events.all().delete()
        batch.exports.all().delete()
        batch.tries.all().delete()
        # Its page still says what was deleted, by whom and when; what it asked is gone.
        Batch.objects.filter(pk=batch.pk).update(files_removed=True, **NOTHING_LEFT)
    _remove_exports()
    _remove_draft_rows()
    _remove_clean_replies()
    look_ups.forget_old()
    events.forget_old()
    overtaken.remove()
    if cache.add("looked-for-orphans", True, ONCE_A_DAY):
        if not belong_to_another():
            remove_orphans()
        call_command("clearsessions")


def _remove_exports() -> None:
    """Remove the exports that are kept no longer, with their files."""
    for export in Export.objects.filter(created_at__lt=timezone.now() - KEPT)[:AT_ONCE]:
        if not export.file or _remove(export.file, f"export {export.pk}"):
            export.delete()


def _remove_draft_rows() -> None:
    """Remove the rows of what were drafts an hour ago. Parts have them now."""
    started = Batch.objects.filter(
        status__in=STARTED, started_at__lt=timezone.now() - FILES_OUTLIVE, deleted_at=None
    )
    for batch in started.exclude(draft_rows_file="").only("draft_rows_file")[:AT_ONCE]:
        if _remove(batch.draft_rows_file, f"rows of the draft {batch.pk}"):
            # After the file: a name without a file is put right by the next sweep.
            Batch.objects.filter(pk=batch.pk).update(draft_rows_file="")


def _remove_clean_replies() -> None:
    """Remove the raw replies that were taken for answers some days ago, the oldest first.

    Those about which people were asked, or that said why a request failed, stay with their batch.
    """
    old = Attempt.objects.filter(
        CLEAN_REPLY,
        finished_at__lt=timezone.now() - CLEAN_REPLIES_ARE_KEPT,
        part__status__in=ENDED_PARTS,
    )
    removed = [
        attempt.pk
        for attempt in old.order_by("finished_at").only("reply_file")[:REPLIES_AT_ONCE]
        if _remove(attempt.reply_file, f"reply to attempt {attempt.pk}")
    ]
    # After the files, as above.
    Attempt.objects.filter(pk__in=removed).update(reply_file="")


def _remove(name: str, what: str) -> bool:
    """Remove a stored file. False: it was not possible, and the next sweep tries again."""
    try:
        default_storage.delete(name)
    except Exception as problem:  # those of a bucket are no OSErrors
        logger.warning("The %s cannot be removed: %s", what, problem)
        return False
    return True


def _remove_files(batch_id: object) -> bool:
    """Remove the files of a batch. False: it was not possible, and the next sweep tries again.

    One that cannot be removed must not keep all the others.
    """
    try:
        files.remove_batch_files(batch_id)
    except OSError as problem:
        logger.warning("The files of batch %s cannot be removed: %s", batch_id, problem)
        return False
    return True


def new_backup_name() -> str:
    """A name for a backup that is made now, for its heartbeat."""
    return f"{BACKUP}{secrets.token_hex(8)}"


def keep_files(backup: str) -> None:
    """Let no sweep remove a file for BACKUP_LASTS from now. Raises DatabaseError."""
    now = {"at": timezone.now(), "host": socket.gethostname()}
    Heartbeat.objects.update_or_create(name=backup, defaults=now)


def allow_removal(backup: str) -> None:
    """Let sweeps remove files, as far as this backup is concerned. Raises DatabaseError."""
    Heartbeat.objects.filter(name=backup).delete()


def remove_orphans() -> None:
    """Remove folders that belong to no batch. A crash during an upload leaves such folders.

    A folder is removed when it is found a second time, a day later, because an upload that is still
    coming in has no batch either.
    """
    folders = set(files.batch_folders())
    known = Batch.objects.filter(pk__in=folders).values_list("pk", flat=True)
    orphans = folders - {str(pk) for pk in known}
    for folder in orphans & set(cache.get(SEEN_BEFORE, ())):
        if _is_broken_upload(folder):
            _remove_files(folder)
    cache.set(SEEN_BEFORE, sorted(orphans), 3 * ONCE_A_DAY)


def _is_broken_upload(folder: str) -> bool:
    """Whether a crash in the middle of an upload left this folder.

    One with parts is of a batch that was started, of another database or of a newer one than a copy
    that was put back; and so may be any that is older than the moment the copy was noticed.
    """
    try:
        folders, _ = default_storage.listdir(f"batches/{folder}")
    except OSError as problem:
        logger.warning("The files of batch %s cannot be tidied: %s", folder, problem)
        return False
    if "parts" in folders:
        return False
    restored_at = Installation.here().restored_at
    if restored_at is None:
        return True
    try:
        names = list(files.stored_below(f"batches/{folder}/source"))
        written = map(default_storage.get_modified_time, names)
        return bool(names) and all(time > restored_at for time in written)
    except OSError:
        return False
