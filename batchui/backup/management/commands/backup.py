"""`manage.py backup`: everything in one file, also while batchui runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.backup.making import Made, make
from batchui.backup.problems import BadArchive, NotPossible
from batchui.batches.phrases import counted, size_phrase
from batchui.commands import ExactCommand
from batchui.worker.database import first_line

MISSING_NAMED = 5


class Command(ExactCommand):
    help = (
        "Write the database and all files into one file, also while batchui runs, and check it. "
        "An earlier backup of that name is replaced when the new one is whole. `manage.py restore` "
        "puts it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write it, such as batchui.backup")
        parser.add_argument(
            "--keys",
            action="store_true",
            help="add the two keys; whoever has the file can then read the API token",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            made = make(path, with_keys=options["keys"], say=self.say)
        except (BadArchive, NotPossible) as problem:
            raise CommandError(f"No backup was made. {problem}") from None
        except OSError as problem:
            where = f"{problem.filename or path}: {problem.strerror or problem}"
            raise CommandError(f"No backup was made. {where}.") from None
        except DatabaseError as problem:
            reason = first_line(problem)
            raise CommandError(
                f"No backup was made. The database cannot be read: {reason}."
            ) from None
        size = size_phrase(made.size)
        self.stdout.write(f"{path}: {counted(made.files, 'file')}, {size}, checked.")
        for line in remarks(made, with_keys=options["keys"]):
            self.say(line)

    def say(self, line: str) -> None:
        """Print a line on stderr."""
        self.stderr.write(line, str)


def _about_keys(in_it: int) -> list[str]:
    """Where the keys are, of which so many are in the backup."""
    files = [path for path in (settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE) if path]
    lost = [path.name for path in files if not path.exists()]
    lines = []
    if in_it:
        lines.append("The keys are in it: whoever has the file can read the API token.")
    if lost:
        lines.append(
            f"Not in it, because they are neither in {settings.DATA} nor in the environment: "
            f"{', '.join(lost)}. Without the keys, the API token cannot be read again. Set "
            "BATCHUI_DATA here as it is set where batchui runs, and make the backup again."
        )
    if not files:
        lines.append("The keys are in the environment, so they are not in it: keep them elsewhere.")
    return lines


def remarks(made: Made, *, with_keys: bool) -> list[str]:
    """What a person should know of a backup, as lines."""
    lines = []
    if not with_keys:
        lines.append("The keys are not in it: keep a copy of them elsewhere, or add --keys.")
    else:
        lines += _about_keys(made.keys)
    if made.missing:
        named = ", ".join(made.missing[:MISSING_NAMED])
        more = len(made.missing) - MISSING_NAMED
        lines.append(
            f"Not in it, because they are not there any more: {counted(len(made.missing), 'file')} "
            f"({named}{f' and {more:,} more' if more > 0 else ''})."
        )
    return lines
