"""The pictures of a part: gathered before it is sent, and kept as they were sent.

They are in one file, `parts/<n>/pictures-<e>.zip`, each named by the position of its row. A row
whose picture is not to be had fails, with the reason; a Retry looks for it again.
"""

import io
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import PurePath
from threading import BoundedSemaphore

from django.utils import timezone

from batchui.batches import files, lifecycle, part_answers, pictures, refusals
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import DamagedFile, read_lines
from batchui.batches.models import Part
from batchui.batches.part_answers import Answer
from batchui.batches.phrases import counted, rows_phrase
from batchui.batches.states import AnswerStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.pictures.addresses import host_of
from batchui.pictures.problems import NoPicture
from batchui.pictures.scaling import media_type
from batchui.prompts.reading.rows import decode_row

# A part is given back after so long; what was gathered stays, and the rest is gathered next time.
SECONDS, SECONDS_FOR_ONE = 40, 20
# A host that has sent none so often in a row is left alone until the next pass.
ENOUGH = 3
# Of one part, and in one process, whichever parts they are of: each may be 25 MB for a moment.
AT_ONCE_OF_PART, AT_ONCE = 4, 8
_room = BoundedSemaphore(AT_ONCE)
# The pauses between the tries of pictures whose server does not answer. After the last one their
# rows fail.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5))
UNREACHED = "pictures"  # in `Part.odd_kind`
# A picture of the file has this ending; both kinds are decoded by what they begin with.
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png"}

Gathered = Mapping[int, bytes | NoPicture | None]


def gather(part: Part) -> bool:
    """Have the pictures of the rows that are sent next in the part's file.

    This worker has the part, which is `sending`. True: they are there, and it can be sent. False:
    it was given back, because some are not there yet, or have failed. Raises what reading its rows
    raises.
    """
    wanted = refusals.rows_to_send(part)
    kept = _kept(part)
    missing = [position for position in wanted if position not in kept]
    if not missing:
        return True
    found = _fetched(part, missing)
    got = {at: one for at, one in found.items() if isinstance(one, bytes)}
    changes: PartChanges = {"lease_until": None}
    if got:
        changes["pictures_file"] = _store(part, kept | got)
    if len(got) == len(missing):
        changes["lease_until"] = timezone.now() + PART_LEASE
        return lifecycle.touch_part(part, **changes)
    _give_back(part, found, changes)
    return False


def of_row(part: Part, position: int) -> bytes | None:
    """The picture of a row as it was sent; None if it has not been gathered."""
    if not part.pictures_file:
        return None
    try:
        with files.open_file(part.pictures_file) as stored, zipfile.ZipFile(stored) as archive:
            name = _names(archive).get(position)
            return None if name is None else archive.read(name)
    except (OSError, zipfile.BadZipFile):
        return None


def opened(part: Part) -> Callable[[int], tuple[bytes, str]]:
    """A function for the picture of a row by its position, and its media type.

    Raises DamagedFile where one is not there.
    """
    kept = _kept(part)

    def picture_of(position: int) -> tuple[bytes, str]:
        if position not in kept:
            raise DamagedFile(f"The stored file {part.pictures_file} lacks a picture.")
        return kept[position], media_type(kept[position])

    return picture_of


def _kept(part: Part) -> dict[int, bytes]:
    """The pictures that were gathered before. Those of a damaged file are gathered again."""
    if not part.pictures_file:
        return {}
    try:
        with files.open_file(part.pictures_file) as stored, zipfile.ZipFile(stored) as archive:
            return {position: archive.read(name) for position, name in _names(archive).items()}
    except (OSError, zipfile.BadZipFile):
        return {}


def _names(archive: zipfile.ZipFile) -> dict[int, str]:
    return {int(PurePath(name).stem): name for name in archive.namelist()}


def _store(part: Part, found: Mapping[int, bytes]) -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for position, picture in sorted(found.items()):
            archive.writestr(f"{position}{ENDINGS[media_type(picture)]}", picture)
    packed.seek(0)
    name = files.pictures_path(part)
    files.save(name, packed)
    return name


def _fetched(part: Part, positions: Collection[int]) -> Gathered:
    """The pictures of these rows, or why there is none; None: there was no time for it."""
    rows = enumerate(read_lines(part.rows_file, lines=part.rows))
    wanted = set(positions)
    named = {
        position: pictures.named_in(part.batch, decode_row(line))
        for position, line in rows
        if position in wanted
    }
    fetch = partial(_fetch, part, deadline=time.monotonic() + SECONDS, failed=Counter())
    with ThreadPoolExecutor(AT_ONCE_OF_PART, "picture") as pool:
        return dict(zip(named, pool.map(fetch, named.values()), strict=True))


def _fetch(
    part: Part, named: str, *, deadline: float, failed: Counter[str]
) -> bytes | NoPicture | None:
    """The picture that a row names. failed: how often in a row each host has sent none."""
    host = host_of(named)
    with _room:
        if host and failed[host] >= ENOUGH:
            return NoPicture(f"{host} does not send its pictures now.", passes=True)
        if time.monotonic() > deadline:
            return None
        try:
            picture = pictures.picture(part.batch, named, seconds=SECONDS_FOR_ONE)
        except NoPicture as problem:
            failed[host] += problem.passes
            return problem
        failed[host] = 0
        return picture


def _give_back(part: Part, found: Gathered, changes: PartChanges) -> None:
    """Let rows fail whose pictures are not to be had; the part is ready again, or done."""
    problems = {at: one for at, one in found.items() if isinstance(one, NoPicture)}
    unreached = [at for at, problem in problems.items() if problem.passes]
    tries = part.odd_seen + 1 if part.odd_kind == UNREACHED else 1
    resume_at = None
    if unreached and tries <= len(PAUSES):
        resume_at = timezone.now() + PAUSES[tries - 1]
        why = problems[unreached[0]]
        problems = {at: one for at, one in problems.items() if not one.passes}
        changes["message"] = f"{counted(len(unreached), 'picture')} could not be fetched yet. {why}"
        changes["odd_kind"], changes["odd_seen"] = UNREACHED, tries
    elif unreached:
        changes["odd_kind"], changes["odd_seen"] = "", 0
    failed = {
        at: Answer(AnswerStatus.FAILED.value, error=str(problem))
        for at, problem in problems.items()
    }
    if not failed:
        changes["resume_at"] = resume_at
        lifecycle.move_part(part, PartStatus.READY, **changes)
        return
    changes |= part_answers.merge(part, failed, missing=lambda _: None).store()
    event = (
        f"Part {part.number}: {rows_phrase(len(failed))} failed for want of a picture. The first: "
        f"{problems[min(problems)]}"
    )
    lifecycle.settle_answers(part, changes, event=event, resume_at=resume_at)
