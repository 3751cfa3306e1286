"""Invariants 3, 4 and 5: what was billed is on record, and receipts are kept."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Max

from batchui.batches import results
from batchui.batches.charged import NEVER_ASKED
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import TAKEN, AnswerStatus, AttemptStatus, PartStatus
from batchui.doctor.findings import LOOK_AT_LOG, Finding
from batchui.doctor.ledger import Accepted, sha256_of
from batchui.doctor.records import Record, Scope
from batchui.teams.models import Connection

# The attempt says that nothing was taken.
DENIED = frozenset({AttemptStatus.NOT_SENT, AttemptStatus.BUSY, AttemptStatus.REFUSED})
RETRY, RESTORED = "retry", "restored"
# So says the line of the timeline when a part is sent again, by a person or as chosen before.
SENT_AGAIN = "sent again"
TELL_WHAT_IS_BILLED = (
    "Compare with what Cloudflare bills. Its rows may be charged although nobody is told so: "
    f"{LOOK_AT_LOG}"
)


def what_was_billed_is_on_record(record: Record) -> Iterator[Finding]:
    """Invariant 3, of one batch: an attempt tells what became of its request, or says unsure.

    Of a restored database the timeline says what may have been sent since.
    """
    is_copy = any(event.kind == RESTORED for event in record.of_batch)
    for part in record.parts:
        for attempt in record.attempts(part):
            if attempt.status == AttemptStatus.WRITTEN and part.status != PartStatus.SENDING:
                yield record.finding(
                    3,
                    f"attempt {attempt.number} says nothing",
                    f"Attempt {attempt.number} was written down before its request was made, and "
                    f"the part went on to “{part.status}” without saying what became of it.",
                    part=part,
                    since=attempt.created_at,
                    do=TELL_WHAT_IS_BILLED,
                )
            if attempt.status in (AttemptStatus.NOT_SENT, AttemptStatus.BUSY) and (
                attempt.request_id
            ):
                yield record.finding(
                    3,
                    f"attempt {attempt.number} denies",
                    f"Attempt {attempt.number} has a receipt, and says “{attempt.status}”.",
                    part=part,
                    since=attempt.created_at,
                    do=TELL_WHAT_IS_BILLED,
                )
        perhaps_sent = [] if is_copy else _unsent_in_doubt(part, record.attempts(part))
        if perhaps_sent:
            yield record.finding(
                3,
                "rows say not sent",
                f"{len(perhaps_sent):,} of its rows count as “unsent”, and a request with them may "
                "have been billed.",
                part=part,
                row=perhaps_sent[0],
                do=TELL_WHAT_IS_BILLED,
            )
        if part.waiting_became == AnswerStatus.UNSENT and part.status == PartStatus.DONE:
            yield record.finding(
                3,
                "rows say not sent",
                "It was sent, and its rows without an answer count as “unsent”.",
                part=part,
                do=TELL_WHAT_IS_BILLED,
            )


def _unsent_in_doubt(part: Part, attempts: Iterable[Attempt]) -> list[int]:
    """The numbers of the rows that count as unsent and are in a request that may have been billed.

    After single rows were asked again, the request in doubt has these alone.
    """
    in_doubt = [attempt for attempt in attempts if attempt.status == AttemptStatus.UNSURE]
    if not part.unsent or not in_doubt:
        return []
    sent: set[int] = set()
    for attempt in in_doubt:
        sent.update(range(part.rows) if attempt.positions is None else attempt.positions)
    return [
        result.row
        for position, result in enumerate(results.readable_results(part))
        if position in sent and result.status == AnswerStatus.UNSENT
    ]


def what_the_api_has_is_on_record(scope: Scope) -> Iterator[Finding]:
    """Invariant 3, of everything: each request that the API accepted is on record here.

    Its receipt is stored; or it was lost, and an attempt with the same rows says unsure.
    """
    lost = _without_receipt(scope)
    if not lost:
        return
    by_shape: dict[tuple[str, int], list[Accepted]] = defaultdict(list)
    for one in lost:
        by_shape[(one.model, one.size)].append(one)
    for (model, size), requests in by_shape.items():
        attempts = Attempt.objects.filter(
            request_id="", payload_size=size, part__batch__model=model
        ).select_related("part__batch")
        yield from _explained(scope, requests, list(attempts.defer("positions")))


def _without_receipt(scope: Scope) -> list[Accepted]:
    """The accepted requests whose receipt no attempt has."""
    accepted = scope.ledger.accepted
    if not accepted:
        return []
    stored = Attempt.objects.exclude(request_id="").values_list("request_id", flat=True)
    without = set(accepted).difference(stored.iterator())
    # What was sent before the oldest connection was made belongs to an earlier database. The parts
    # of a batch that was deleted are gone, with what was known about them.
    connections = Connection.objects.order_by("created_at").values_list("created_at", flat=True)
    began = connections.first()
    removed = Batch.objects.filter(files_removed=True).aggregate(at=Max("deleted_at"))["at"]
    known_since = [moment for moment in (began, removed) if moment is not None]
    if not known_since:
        return []
    return [one for one in map(accepted.__getitem__, without) if one.at >= max(known_since)]


def _explained(
    scope: Scope, requests: list[Accepted], attempts: list[Attempt]
) -> Iterator[Finding]:
    """Findings about lost receipts for which no attempt says unsure."""
    digests = {request.sha256 for request in requests}
    for digest in sorted(digests):
        lost = [request for request in requests if request.sha256 == digest]
        same = [one for one in attempts if not digest or sha256_of(one) in ("", digest)]
        saying = Counter(_says(attempt) for attempt in same)
        excess = len(lost) - saying["unsure"]
        denying = [attempt for attempt in same if _says(attempt) == "denied"]
        for request, attempt in zip(lost[-excess:] if excess > 0 else [], denying, strict=False):
            if scope.batch in (None, attempt.part.batch_id):
                yield _denied(request, attempt)
        unknown = excess - len(denying)
        if unknown > 0 and scope.ledger.is_whole and scope.batch is None:
            for request in lost[-unknown:]:
                yield _unknown(request)


def _says(attempt: Attempt) -> str:
    if attempt.status == AttemptStatus.UNSURE:
        return "unsure"
    if attempt.status == AttemptStatus.WRITTEN:
        # Its reply is on the way. If the part has moved on, `what_was_billed_is_on_record` says so.
        return "unsure"
    return "denied" if attempt.status in DENIED else ""


def _denied(request: Accepted, attempt: Attempt) -> Finding:
    return Finding(
        invariant=3,
        kind=f"attempt {attempt.number} denies",
        what=(
            f"The API accepted request {request.request_id} with these rows, and attempt "
            f"{attempt.number} says “{attempt.status}”."
        ),
        do=TELL_WHAT_IS_BILLED,
        batch=attempt.part.batch_id,
        part=attempt.part.number,
        since=attempt.created_at,
    )


def _unknown(request: Accepted) -> Finding:
    return Finding(
        invariant=3,
        kind="not on record",
        what=f"The API accepted it ({request.items} items), and nothing here is on record of it.",
        do=TELL_WHAT_IS_BILLED,
        where=f"request {request.request_id}",
        since=request.at,
    )


def what_was_billed_twice_says_so(record: Record) -> Iterator[Finding]:
    """Invariant 4: a row is in one request, and in one more for each time that this was asked.

    Each of those times is a line of the timeline: Retry, “sent again”, a restored database.
    """
    asked_of_all = sum(event.kind in (RETRY, RESTORED) for event in record.of_batch)
    for part in record.parts:
        billed = [one for one in record.attempts(part) if _may_be_billed(one)]
        asked = sum(
            event.kind == PartStatus.READY and SENT_AGAIN in event.text
            for event in record.of_part(part)
        )
        if len(billed) <= 1 + asked + asked_of_all:
            continue  # without looking at which rows they had
        most, position = _most_often(billed, part)
        if most > 1 + asked + asked_of_all:
            yield record.finding(
                4,
                "billed twice",
                f"It is in {most} requests that were, or may have been, billed, and the timeline "
                f"says of {asked + asked_of_all} that it was sent again.",
                part=part,
                row=part.first_row + position,
                since=billed[-1].created_at,
                do=TELL_WHAT_IS_BILLED,
            )


def _may_be_billed(attempt: Attempt) -> bool:
    if attempt.status == AttemptStatus.REFUSED and attempt.code in NEVER_ASKED:
        return False
    return bool(attempt.request_id) or attempt.status in (
        AttemptStatus.UNSURE,
        AttemptStatus.WRITTEN,
    )


def _most_often(attempts: Iterable[Attempt], part: Part) -> tuple[int, int]:
    """In how many of the attempts the row is that is in most of them; and its position."""
    times: Counter[int] = Counter()
    for attempt in attempts:
        times.update(range(part.rows) if attempt.positions is None else attempt.positions)
    [(position, most)] = times.most_common(1)
    return most, position


def receipts_stay(record: Record) -> Iterator[Finding]:
    """Invariant 5: a receipt is never lost and never changes.

    An attempt that the API took has a receipt, the one that it had before; and no other attempt
    has the same.
    """
    owners: dict[str, Attempt] = {}
    for part in record.parts:
        for attempt in record.attempts(part):
            before = record.scope.receipts.get(attempt.pk)
            if before and attempt.request_id != before:
                yield _receipt_finding(
                    record, part, attempt, "changed", f"was {before}, and is {attempt.request_id}"
                )
            if attempt.status in TAKEN and not attempt.request_id:
                yield _receipt_finding(
                    record, part, attempt, "lost", f"is gone; it says “{attempt.status}”"
                )
            if not attempt.request_id:
                continue
            owner = owners.setdefault(attempt.request_id, attempt)
            if owner is not attempt:
                yield _receipt_finding(record, part, attempt, "shared", f"is that of {owner}, too")


def _receipt_finding(record: Record, part: Part, attempt: Attempt, kind: str, what: str) -> Finding:
    since: datetime = attempt.accepted_at or attempt.created_at
    return record.finding(
        5,
        f"receipt of attempt {attempt.number} {kind}",
        f"The receipt of attempt {attempt.number} {what}.",
        part=part,
        since=since,
        do=f"Without it its answers cannot be fetched. {LOOK_AT_LOG}",
    )
