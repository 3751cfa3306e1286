"""Trying a draft's question on a few rows: what people decide, and what is known of their tries.

Workers ask the rows (see `trying.py`).
"""

from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from batchui.batches import goes_to, settling, trying
from batchui.batches.answer_lengths import PICTURE_TOKENS
from batchui.batches.catalogues import of_batch
from batchui.batches.compressed import DamagedFile
from batchui.batches.costs import BYTES_PER_TOKEN
from batchui.batches.long_tasks import sentence_for
from batchui.batches.models import Batch, asked_fields
from batchui.batches.money import BUNDLED, Prices, price_of, usd_of
from batchui.batches.signals import work_waits
from batchui.batches.states import EDITABLE
from batchui.batches.try_models import UNDER_WAY, TriedRow, TriedStatus, Try
from batchui.batches.try_rows import Prepared, Which, prepared_rows
from batchui.cloudflare.catalogue import Model
from batchui.prompts.ask import Ask
from batchui.prompts.model_facts import longest_written
from batchui.prompts.problems import BadInput
from batchui.teams.models import User

USUAL_ROWS, MOST_ROWS = 5, 20
# Tries of a draft that are kept, and those of a team that may be under way at one time.
KEPT, MOST_UNDER_WAY = 4, 3

STOPPED = "Stopped before it was asked."
NO_QUESTION = "Write a question first, then try it."
NO_ROWS = "None of the rows can be asked with this question, so nothing was tried."
NO_LATEST = "There are no rows of an earlier try. Try the first ones."
NONE_TICKED = "No row is ticked. Tick the rows that you want to try."
TOO_MANY_TICKED = f"At most {MOST_ROWS} rows can be tried at once. Tick fewer."
ONE_UNDER_WAY = "The latest try is still under way. Wait for its answers, or stop it."
TEAM_IS_TRYING = (
    f"{MOST_UNDER_WAY} tries of your team are under way, the most at one time. Try again in a "
    "moment."
)
NOT_A_DRAFT = "This batch was started, so nothing is tried any more."


def begin(
    batch: Batch,
    *,
    by: User | None,
    ask: Ask,
    which: Which = Which.FIRST,
    count: int = USUAL_ROWS,
    numbers: Collection[int] = (),
) -> Try:
    """Try a question on some rows of a draft. A worker asks them, the first within a second or so.

    numbers: the rows that were ticked. Of the tries of a draft KEPT are kept; the oldest goes.
    Raises BadInput, with a sentence, if nothing can be tried now, and UnknownModel.
    """
    if not ask.template and not ask.as_items:
        raise BadInput(NO_QUESTION)
    connection = goes_to.connection_of(batch)
    if reason := trying.why_paused(connection):
        raise BadInput(f"Nothing was tried. {reason}")
    numbers = _named(batch, which, numbers)
    try:
        rows = prepared_rows(batch, ask, which, count=min(count, MOST_ROWS), numbers=numbers)
    except (DamagedFile, OSError) as problem:
        raise BadInput(sentence_for(problem)) from problem
    if not any(row.item for row in rows):
        raise BadInput(next((row.problem for row in rows if row.problem), NO_ROWS))
    with transaction.atomic():
        locked = settling.lock(batch.pk)  # whoever presses at the same moment waits
        _refuse_too_much(locked)
        _make_room(locked)
        one = Try.objects.create(
            batch=locked,
            number=_last_number(locked) + 1,
            connection=connection,
            created_by=by,
            format_key=batch.format_key,
            **asked_fields(ask),
        )
        TriedRow.objects.bulk_create(_tried(one, row) for row in rows)
    work_waits.send(Batch, batch=batch)
    return one


def _named(batch: Batch, which: Which, numbers: Collection[int]) -> Collection[int]:
    """The numbers of the rows to try, where they are known. Raises BadInput if there are none."""
    if which is Which.SAME:
        latest = of(batch).last()
        if latest is None:
            raise BadInput(NO_LATEST)
        return list(latest.rows.values_list("number", flat=True))
    if which is Which.CHOSEN and not numbers:
        raise BadInput(NONE_TICKED)
    if which is Which.CHOSEN and len(set(numbers)) > MOST_ROWS:
        raise BadInput(TOO_MANY_TICKED)
    return numbers


def _refuse_too_much(batch: Batch) -> None:
    if batch.status not in EDITABLE or batch.deleted_at is not None:
        raise BadInput(NOT_A_DRAFT)
    if _under_way(Try.objects.filter(batch=batch)).exists():
        raise BadInput(ONE_UNDER_WAY)
    if _under_way(Try.objects.filter(batch__team=batch.team_id)).count() >= MOST_UNDER_WAY:
        raise BadInput(TEAM_IS_TRYING)


def _under_way(tries: QuerySet[Try]) -> QuerySet[Try]:
    rows = TriedRow.objects.filter(in_try=OuterRef("pk"), status__in=UNDER_WAY)
    return tries.filter(Exists(rows), batch__deleted_at=None)


def _make_room(batch: Batch) -> None:
    """Remove the oldest tries, and those of rows that were read otherwise."""
    Try.objects.filter(batch=batch).exclude(format_key=batch.format_key).delete()
    newest = of(batch).order_by("-number").values_list("pk", flat=True)[: KEPT - 1]
    Try.objects.filter(batch=batch).exclude(pk__in=list(newest)).delete()


def _last_number(batch: Batch) -> int:
    last = Try.objects.filter(batch=batch).order_by("-number").first()
    return last.number if last else 0


def _tried(one: Try, row: Prepared) -> TriedRow:
    if row.item:
        size = len(row.item.encode())
        return TriedRow(
            in_try=one, number=row.number, item=row.item, item_bytes=size, picture=row.picture
        )
    return TriedRow(in_try=one, number=row.number, status=TriedStatus.NOT_ASKED, error=row.problem)


def of(batch: Batch) -> QuerySet[Try]:
    """The tries of a batch whose rows are those that the file has as it is read now, in order."""
    return Try.objects.filter(batch=batch, format_key=batch.format_key).order_by("number")


def stop(one: Try) -> int:
    """Ask no more rows of a try. What was asked is still answered. Returns how many were left."""
    Try.objects.filter(pk=one.pk, stopped_at=None).update(stopped_at=timezone.now())
    return trying.end_waiting(one, STOPPED)


def remove(one: Try) -> bool:
    """Remove a try that is not under way. False: it is."""
    removed, _ = (
        Try.objects.filter(pk=one.pk)
        .exclude(pk__in=_under_way(Try.objects.filter(pk=one.pk)).values("pk"))
        .delete()
    )
    return bool(removed)


# -- what they cost -----------------------------------------------------------------------------


class Used(NamedTuple):
    """What a try used, as Cloudflare counted it. rows: those that were answered, or empty."""

    number: int
    model: str
    rows: int
    prompt_tokens: int
    completion_tokens: int
    prices: Prices = BUNDLED

    @property
    def usd(self) -> float | None:
        """What it cost; None if the price of its model is not known."""
        read, written = self.prompt_tokens, self.completion_tokens
        return usd_of(self.model, read=read, written=written, prices=self.prices)


def usage_of(batch: Batch) -> list[Used]:
    """What each try of a batch used, in order. Tries of which nothing is known are left out."""
    came = (TriedStatus.ANSWERED, TriedStatus.EMPTY, TriedStatus.UNFIT)
    answered = Q(rows__status__in=came)
    found = Try.objects.filter(batch=batch).annotate(
        answered=Count("rows", filter=answered),
        read=Sum("rows__prompt_tokens", filter=answered),
        written=Sum("rows__completion_tokens", filter=answered),
    )
    used = found.order_by("number").values_list("number", "model", "answered", "read", "written")
    known = of_batch(batch)
    return [Used(*one, known.prices_of(one[1])) for one in used if one[3]]


def most_usd(
    model: Model, ask: Ask, sizes: Collection[int], rows: int = USUAL_ROWS
) -> float | None:
    """What trying so many rows costs at most, about; None if the price is not known.

    sizes: bytes of requests of such rows.
    """
    if not model.has_price:
        return None
    largest = max(sizes, default=0)
    read, written = rows * largest / BYTES_PER_TOKEN, rows * longest_written(model, ask)
    if ask.shows_pictures:
        read += rows * PICTURE_TOKENS[1]
    return price_of(model, read=read, written=written)
