"""All checks, and the second look."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from batchui.batches.models import Attempt, Batch
from batchui.batches.phrases import Say
from batchui.doctor import answers, disk, history, motion, requests, rows
from batchui.doctor.findings import Finding
from batchui.doctor.records import Record, Scope, records

OfBatch = Callable[[Record], Iterator[Finding]]
OfAll = Callable[[Scope], Iterator[Finding]]

OF_A_BATCH: Sequence[OfBatch] = (
    rows.each_row_has_one_fate,
    rows.digests_fit,
    answers.each_answer_belongs_to_its_row,
    requests.what_was_billed_is_on_record,
    requests.what_was_billed_twice_says_so,
    requests.receipts_stay,
    history.done_stays_done,
    motion.nothing_outstays_its_lease,
    motion.no_try_outstays_its_lease,
    disk.every_pointer_has_a_file,
    history.every_status_is_explained,
)
# With the number of the invariant.
OF_EVERYTHING: Mapping[OfAll, int] = {
    requests.what_the_api_has_is_on_record: 3,
    motion.what_is_ready_is_sent: 7,
    disk.every_file_is_pointed_to: 8,
    disk.no_secret_is_on_the_disk: 10,
}
# A part in motion is no fault. What is said was seen twice, with so many seconds between.
SECONDS_BETWEEN_LOOKS = 5.0


@dataclass
class Report:
    """What was examined, and what was found."""

    batches: int = 0
    rows: int = 0
    findings: list[Finding] = field(default_factory=list)


def examine(
    scope: Scope,
    *,
    pause: float = SECONDS_BETWEEN_LOOKS,
    sleep: Callable[[float], None] = time.sleep,
    say: Say = lambda _: None,
) -> Report:
    """Check everything in a scope. What is off is looked at again after `pause` seconds.

    say: is told what is being done, as sentences. Raises what the database and the storage raise
    if they do not answer.
    """
    scope = replace(scope, receipts={**_receipts(scope), **scope.receipts})
    report = look(scope)
    if report.findings:
        say(f"{len(report.findings):,} things look wrong. Looking again in {pause:g} s …")
        sleep(pause)
        again = _look_again(scope, report.findings)
        report.findings = _named(one for one in report.findings if one.place in again)
    return report


def look(scope: Scope) -> Report:
    """Check everything in a scope, once."""
    report = Report()
    for record in records(scope):
        report.batches += 1
        report.rows += record.batch.rows
        for of_batch in OF_A_BATCH:
            report.findings += of_batch(record)
    for of_all in OF_EVERYTHING:
        report.findings += of_all(scope)
    return report


def _named(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with the names of their batches."""
    found = list(findings)
    names = dict(
        Batch.objects.filter(pk__in={one.batch for one in found}).values_list("pk", "name")
    )
    return [replace(one, name=names.get(one.batch, "")) if one.batch else one for one in found]


def _look_again(scope: Scope, findings: Sequence[Finding]) -> set[object]:
    """The places at which something is found again."""
    batches: list[UUID] = sorted({one.batch for one in findings if one.batch is not None})
    invariants = {one.invariant for one in findings}
    again: set[object] = set()
    for batch in batches:
        for record in records(replace(scope, batch=batch)):
            for of_batch in OF_A_BATCH:
                again.update(one.place for one in of_batch(record))
    for of_all, invariant in OF_EVERYTHING.items():
        if invariant in invariants:
            again.update(one.place for one in of_all(scope))
    return again


def _receipts(scope: Scope) -> dict[int, str]:
    """The receipts of the attempts that have one now."""
    attempts = Attempt.objects.exclude(request_id="")
    if scope.batch is not None:
        attempts = attempts.filter(part__batch=scope.batch)
    return dict(attempts.values_list("pk", "request_id").iterator())
