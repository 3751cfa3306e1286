"""Searches: the rows in which words stand. A small batch is searched at once, others by a worker.

What was found so far is shown while it goes on, and anybody may stop it.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from time import monotonic
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import part_answers
from batchui.batches.clock import is_free
from batchui.batches.compressed import DamagedFile, read_blocks, read_lines
from batchui.batches.long_tasks import (
    MOST_READINGS,
    PROGRESS_SECONDS,
    READING_LEASE,
    Beat,
    StoppedError,
)
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.results import READ_FOR_ROWS
from batchui.batches.sheet.matching import matcher
from batchui.batches.sheet.selection import Selection, parse
from batchui.batches.sheet.words import has_words, may_have_words
from batchui.batches.sheet_models import Search, SearchStatus
from batchui.batches.signals import work_waits

# A batch with so many rows, in a file of so many bytes, is searched in the request.
AT_ONCE_ROWS, AT_ONCE_BYTES = 5_000, 2_000_000
# So many rows are kept of what was found; more than anybody leafs through.
MOST_FOUND = 20_000
# While answers come in, what was found stays for so long.
FRESH = timedelta(seconds=30)
# So many searches of a batch are kept, the latest ones.
MOST_KEPT = 20


def search_for(batch: Batch, chosen: Selection) -> Search:
    """The search for the words of a selection: one that is there, or a new one."""
    fresh = Q(batch_version=batch.version)
    if batch.is_active:
        fresh |= Q(created_at__gt=timezone.now() - FRESH)
    same = Search.objects.filter(
        fresh | Q(status=SearchStatus.RUNNING),
        batch=batch,
        show=chosen.show,
        words=chosen.words,
    )
    if found := same.order_by("-created_at").first():
        return found
    search = Search.objects.create(
        batch=batch,
        batch_version=batch.version,
        show=chosen.show,
        words=chosen.words,
        rows=batch.rows,
    )
    _forget_old(batch)
    if is_quick(batch):
        carry_out(search.pk, beat=lambda: None)
        search.refresh_from_db()
    else:
        work_waits.send(Batch, batch=batch)
    return search


def is_quick(batch: Batch) -> bool:
    """Whether a batch is so small that it is searched at once, without a worker."""
    return batch.rows <= AT_ONCE_ROWS and batch.source_size <= AT_ONCE_BYTES


def positions(batch: Batch, chosen: Selection, part: int) -> Sequence[int]:
    """The positions (from 0) of the rows of a part that were found."""
    found: Sequence[int] = search_for(batch, chosen).hits.get(str(part), ())
    return found


def stop(batch: Batch, search_id: UUID) -> bool:
    """End a search; what it has found stays. False: it has ended already."""
    running = Search.objects.filter(pk=search_id, batch=batch, status=SearchStatus.RUNNING)
    return bool(running.update(status=SearchStatus.STOPPED))


def next_wanted() -> Search | None:
    """The search that waits longest for a worker."""
    waiting = Search.objects.filter(is_free(), status=SearchStatus.RUNNING, batch__deleted_at=None)
    return waiting.order_by("created_at").first()


def _forget_old(batch: Batch) -> None:
    kept = Search.objects.filter(batch=batch).order_by("-created_at")
    old = list(kept.values_list("pk", flat=True)[MOST_KEPT:])
    Search.objects.filter(pk__in=old).delete()


# -- carrying it out ----------------------------------------------------------------------------


def carry_out(search_id: UUID, *, beat: Beat) -> None:
    """Look through the rows of a batch. Does nothing if another worker does, or it was stopped."""
    mine = Search.objects.filter(pk=search_id, status=SearchStatus.RUNNING)
    search = mine.select_related("batch").first()
    if search is None or not mine.filter(is_free(), begun=search.begun).update(
        lease_until=timezone.now() + READING_LEASE, begun=search.begun + 1
    ):
        return
    mine = mine.filter(begun=search.begun + 1)
    if search.begun >= MOST_READINGS:
        mine.update(status=SearchStatus.FAILED)
        return
    try:
        _look_through(search, mine, beat)
    except StoppedError:
        mine.update(lease_until=None, begun=search.begun)
        work_waits.send(Batch, batch=search.batch)


def _look_through(search: Search, mine: QuerySet[Search], beat: Beat) -> None:
    """Search part after part, and store now and then what was found."""
    chosen = parse(search.show, search.words)
    hits: dict[str, list[int]] = {}
    found = rows = 0
    stored_at = monotonic()
    for part in search.batch.parts.order_by("number").only(*READ_FOR_ROWS).iterator():
        if at := list(_in_part(search.batch, part, chosen)):
            hits[str(part.pk)] = at[: MOST_FOUND - found]
            found += len(at)
        rows += part.rows
        is_cut = found > MOST_FOUND
        if is_cut or monotonic() - stored_at > PROGRESS_SECONDS:
            stored_at = monotonic()
            beat()
            lease = timezone.now() + READING_LEASE
            if not mine.update(hits=hits, rows_done=rows, lease_until=lease, is_cut=is_cut):
                return
        if is_cut:
            break
    mine.update(hits=hits, rows_done=rows, status=SearchStatus.DONE)


def _in_part(batch: Batch, part: Part, chosen: Selection) -> Iterator[int]:
    """The positions of the rows with the words; of a damaged part, as far as it can be read."""
    in_row, matches = has_words(chosen.words), matcher(batch, chosen)
    waiting = Answer(part.waiting_became, error=part.waiting_error or None)
    if not _may_be_in(part, chosen.words):
        return
    lines = read_lines(part.rows_file, lines=part.rows)
    try:
        for at, (line, answer) in enumerate(
            zip(lines, part_answers.read_answers(part), strict=True)
        ):
            if matches(answer or waiting) and in_row(line, answer):
                yield at
    except DamagedFile:
        return


def _may_be_in(part: Part, words: str) -> bool:
    """Whether words may stand in a row of a part: told from its files, without taking rows apart.

    A damaged part is looked through row by row.
    """
    may_have = may_have_words(words)
    names = filter(None, (part.answers_file, part.rows_file))
    try:
        return any(may_have(lines) for name in names for lines in read_blocks(name))
    except DamagedFile:
        return True
