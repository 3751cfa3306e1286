"""Makes exports: downloads that have to be whole before anybody can have them."""

from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import files, settling
from batchui.batches.clock import is_free
from batchui.batches.compressed import IF_DAMAGED
from batchui.batches.export_models import KEPT, Export, ExportStatus
from batchui.batches.exporting import Choice
from batchui.batches.long_tasks import (
    MOST_READINGS,
    READING_LEASE,
    Beat,
    LeaseLostError,
    StoppedError,
    keeping,
    sentence_for,
)
from batchui.batches.models import Batch
from batchui.batches.progress import Progress, untold
from batchui.batches.signals import work_waits
from batchui.batches.upload_limits import refuse_full_disk
from batchui.batches.whole_files import KINDS, rows_going_out
from batchui.exports.sheets import TooManyColumns
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.prompts.problems import BadInput
from batchui.teams.models import User

# Of so many rows, from a file of so many bytes, an export is made in the request that asks for it:
# it takes about a second at most. (A workbook may have few rows in the sheet that is asked, and
# another sheet with a million.)
MADE_AT_ONCE_ROWS, MADE_AT_ONCE_BYTES = 2_000, 2_000_000
# Somebody who presses twice gets the same export, as long as nothing has changed.
SAME_FOR = timedelta(minutes=10)
ENDLESS = (
    f"batchui began to make this file {MOST_READINGS} times, and each time it was cut off before "
    "the end. Download CSV or JSON, or ask the person who runs batchui to look into the log."
)


def ask_for(batch: Batch, kind: str, choice: Choice, *, by: User | None) -> Export:
    """Have a download made: of a small batch at once, else by a worker.

    One that is the same and under way, or was just made, is not made twice.
    """
    same = Export.objects.filter(
        batch=batch, kind=kind, choice=choice.to_dict(), created_at__gt=timezone.now() - SAME_FOR
    ).filter(
        Q(status=ExportStatus.WAITING) | Q(status=ExportStatus.READY, batch_version=batch.version)
    )
    with transaction.atomic():
        settling.lock(batch.pk)  # whoever presses at the same moment waits, and finds it
        if found := same.first():
            return found
        export = Export.objects.create(
            batch=batch,
            batch_version=batch.version,
            created_by=by,
            kind=kind,
            choice=choice.to_dict(),
            rows=rows_going_out(batch, choice),
        )
    if batch.rows <= MADE_AT_ONCE_ROWS and batch.source_size <= MADE_AT_ONCE_BYTES:
        make(export.pk)
        export.refresh_from_db()
    else:
        work_waits.send(Batch, batch=batch)
    return export


def kept(batch: Batch) -> QuerySet[Export]:
    """The exports of a batch whose files are kept or under way, the latest first."""
    recent = Export.objects.filter(batch=batch, created_at__gt=timezone.now() - KEPT)
    return recent.exclude(status=ExportStatus.FAILED)


def next_unclaimed() -> Export | None:
    """The export to make next: the oldest that no worker has, or whose worker died."""
    return _unclaimed().order_by("created_at").first()


def has_unclaimed() -> bool:
    """Whether an export waits to be made and no worker has claimed it."""
    return _unclaimed().exists()


def _unclaimed() -> QuerySet[Export]:
    return Export.objects.filter(is_free(), status=ExportStatus.WAITING, batch__deleted_at=None)


def make(export_id: UUID, *, beat: Beat | None = None) -> None:
    """Make an export and store its file. Does nothing if another worker has it."""
    export = Export.objects.filter(pk=export_id).select_related("batch").first()
    if export is None or not _claim(export):
        return
    try:
        if export.begun > MOST_READINGS:
            raise BadInput(ENDLESS)
        changes = _made(export, _progress(export, beat))
    except LeaseLostError:
        return
    except StoppedError:
        export.changed(lease_until=None, begun=export.begun - 1)
        work_waits.send(Batch, batch=export.batch)
    except Exception as problem:  # every failure needs a sentence on the page
        export.changed(
            status=ExportStatus.FAILED,
            problem=sentence_for(problem, what="make this file", if_damaged=IF_DAMAGED),
            lease_until=None,
            finished_at=timezone.now(),
        )
    else:
        export.changed(
            status=ExportStatus.READY, lease_until=None, finished_at=timezone.now(), **changes
        )


def write(
    batch: Batch,
    kind: str,
    choice: Choice,
    target: Path,
    progress: Progress = untold,
) -> list[str]:
    """Make a download of any kind in the file `target`. Returns sentences about it.

    Raises BadInput for a workbook that cannot take the answers, and for too many columns.
    """
    made = KINDS[kind]
    if made.write is None:
        with target.open("wb") as out:
            out.writelines(made.chunks(batch, choice, progress) if made.chunks else ())
        return []
    try:
        return made.write(batch, choice, target, progress)
    except (CannotWrite, TooManyColumns) as problem:
        raise BadInput(str(problem)) from problem


def _claim(export: Export) -> bool:
    epoch = export.epoch + 1
    claimed = Export.objects.filter(
        is_free(), pk=export.pk, epoch=export.epoch, status=ExportStatus.WAITING
    ).update(epoch=epoch, begun=export.begun + 1, lease_until=timezone.now() + READING_LEASE)
    export.epoch, export.begun = epoch, export.begun + 1
    return bool(claimed)


def _made(export: Export, progress: Progress) -> dict[str, object]:
    # Nobody may fill the disk with downloads, either: that stops every batch of everybody.
    refuse_full_disk(export.batch.source_size, not_done="made")
    with files.working_folder() as folder:
        target = folder / "export"
        choice = Choice.from_dict(export.choice)
        notes = write(export.batch, export.kind, choice, target, progress)
        stored_as = files.export_path(export)
        with target.open("rb") as content:
            files.save(stored_as, content)
        return {"file": stored_as, "size": target.stat().st_size, "notes": notes}


def _progress(export: Export, beat: Beat | None) -> Progress:
    def keep(rows: int, lease_until: datetime) -> bool:
        return export.changed(rows_done=rows, lease_until=lease_until)

    return keeping(keep, beat=beat)
