"""Lets time pass for a database of the bench, and the product sweep as it does then.

`with_django.py` runs it; settings come from the environment.
"""

from datetime import timedelta

from django.db.models import F

from batchui.batches.models import Attempt, Batch
from batchui.worker import sweep


def main(seconds: str) -> None:
    """Put all times of batches and attempts back by so many seconds; sweep until nothing goes."""
    passed = timedelta(seconds=float(seconds))
    Batch.objects.update(
        created_at=F("created_at") - passed,
        started_at=F("started_at") - passed,
        finished_at=F("finished_at") - passed,
    )
    Attempt.objects.update(
        created_at=F("created_at") - passed,
        accepted_at=F("accepted_at") - passed,
        finished_at=F("finished_at") - passed,
    )
    before = None
    while (now := _pointers()) != before:
        before = now
        sweep.sweep()


def _pointers() -> int:
    """How many files there are that a sweep may remove."""
    drafts = Batch.objects.exclude(draft_rows_file="").count()
    return drafts + Attempt.objects.exclude(reply_file="").count()
