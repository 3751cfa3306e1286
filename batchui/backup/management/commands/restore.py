"""`manage.py restore`: everything from one file, where batchui does not run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.backup.making import came_from
from batchui.backup.problems import BadArchive, NotPossible
from batchui.backup.restoring import PutBack, put_back
from batchui.batches.phrases import counted
from batchui.commands import ExactCommand
from batchui.worker import generation
from batchui.worker.database import first_line


class Command(ExactCommand):
    help = (
        "Put back what `manage.py backup` wrote. Stop batchui first. What may have been sent since "
        "the backup is not sent by itself: somebody decides on the page. What was here is kept."
    )
    # A database that cannot be read is one reason to restore.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the backup")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="also if there are batches here; they are kept, out of use",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            done = put_back(path, replace=options["replace"], say=self.say)
        except (BadArchive, NotPossible) as problem:
            raise CommandError(f"Nothing was restored. {problem}") from None
        except OSError as problem:
            where = f"{problem.filename or path}: {problem.strerror or problem}"
            raise CommandError(f"Nothing was restored. {where}.") from None
        except DatabaseError as problem:
            reason = first_line(problem)
            raise CommandError(f"Nothing was restored. The database says: {reason}.") from None
        for line in lines(done):
            self.stdout.write(line)

    def say(self, line: str) -> None:
        """Print a line on stderr."""
        self.stderr.write(line, str)


def lines(done: PutBack) -> list[str]:
    """What was restored, and what to do now."""
    said = [
        f"Restored: {counted(done.files, 'file')} and the database. {came_from(done.made_at)}",
        generation.in_words(done.asked),
        "People, passwords and invitations are as they were then: look at the page “People”. "
        "Everybody has to sign in again.",
    ]
    if done.missing:
        said.append(f"{counted(done.missing, 'file')} had been lost before the backup was made.")
    if done.unused_keys:
        said.append("The keys of the backup are not used: the environment has others.")
    if done.unreadable:
        said.append(
            f"{counted(done.unreadable, 'API token')} cannot be read: the key is another one than "
            "that of the backup. Before you start batchui, put the old `encryption-key` into "
            f"{settings.DATA} (or into BATCHUI_ENCRYPTION_KEYS), or set CLOUDFLARE_API_TOKEN."
        )
    if done.kept:
        said.append(f"What was here before is kept: {done.kept}.")
    said.append("Now start batchui: python3 manage.py up")
    return said
