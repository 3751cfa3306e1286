"""`manage.py doctor`: whether what must always be true of batches is true now."""

import sqlite3
import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.batches.models import Batch
from batchui.batches.phrases import counted, rows_phrase
from batchui.commands import ExactCommand
from batchui.doctor.examine import SECONDS_BETWEEN_LOOKS, Report, examine
from batchui.doctor.findings import INVARIANTS
from batchui.doctor.ledger import NO_LEDGER, Ledger, find_ledger
from batchui.doctor.records import Scope
from batchui.worker.database import first_line, why_not_ready

COULD_NOT_CHECK = 2


class Command(ExactCommand):
    help = (
        "Check that nothing is lost, misplaced or billed in silence: rows, files, requests, "
        "receipts, statuses. Works while batchui runs, and changes nothing. Exit status 0: all is "
        "well; 1: something is off, and is listed; 2: it could not be checked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", type=UUID, metavar="ID", help="check this batch alone")
        parser.add_argument(
            "--pause",
            type=float,
            default=SECONDS_BETWEEN_LOOKS,
            metavar="SECONDS",
            help="how long to wait before what looks wrong is looked at again (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = self.examined(options["batch"], pause=options["pause"])
        except (DatabaseError, OSError, sqlite3.Error) as problem:
            raise CommandError(
                f"Nothing can be said: {type(problem).__name__}: {first_line(problem)}.",
                returncode=COULD_NOT_CHECK,
            ) from None
        self.print(report)
        if report.findings:
            sys.exit(1)

    def examined(self, batch: UUID | None, *, pause: float) -> Report:
        """Check everything, or one batch. Raises CommandError if there is no such batch."""
        if problem := why_not_ready():
            raise CommandError(f"Nothing can be said. {problem}", returncode=COULD_NOT_CHECK)
        if batch and not Batch.objects.filter(pk=batch, deleted_at=None).exists():
            raise CommandError(f"There is no batch {batch}.", returncode=COULD_NOT_CHECK)
        ledger = self.ledger()
        return examine(Scope(batch=batch, ledger=ledger), pause=pause, say=self.aside)

    def ledger(self) -> Ledger:
        """What the API accepted, if it can be known; and a line that says so."""
        ledger = find_ledger()
        if ledger is NO_LEDGER:
            self.aside("There is no list of what the API accepted: the database is asked alone.")
        else:
            requests = counted(len(ledger.accepted), "request")
            self.aside(f"{ledger.where} has {requests} that the sandbox accepted.")
        return ledger

    def print(self, report: Report) -> None:
        """Print what was found, in the order of the invariants."""
        batches = "1 batch" if report.batches == 1 else f"{report.batches:,} batches"
        checked = f"{batches}, {rows_phrase(report.rows)}"
        for invariant, title in INVARIANTS.items():
            found = [one for one in report.findings if one.invariant == invariant]
            if found:
                self.stdout.write(f"{invariant}. {title}. Not so:")
            for finding in found:
                self.stdout.write(f"   {finding}")
        if report.findings:
            self.stdout.write(f"{counted(len(report.findings), 'thing')} wrong in {checked}.")
        else:
            self.stdout.write(f"All is well: {checked}, {len(INVARIANTS)} invariants.")

    def aside(self, sentence: str) -> None:
        """Say something that is no part of the result."""
        self.stderr.write(sentence, str)
