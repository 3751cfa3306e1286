"""`manage.py backup`: everything in one file, also while batchui runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from batchui.backup.archive import BadArchive
from batchui.backup.making import NotPossible, make
from batchui.batches.files import DamagedFile
from batchui.batches.phrases import counted


class Command(BaseCommand):
    help = (
        "Write the database and all files into one file, while batchui runs, and check it. "
        "`manage.py restore` puts it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write it, such as batchui.backup")
        parser.add_argument(
            "--keys",
            action="store_true",
            help="add the keys; whoever has the file can then read the API token",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            made = make(path, with_keys=options["keys"], say=self.stderr_line)
        except (BadArchive, NotPossible, DamagedFile, OSError) as problem:
            raise CommandError(f"No backup was made. {problem}") from None
        keys = "" if made.has_keys else " The keys are not in it: keep them elsewhere (--keys)."
        self.stdout.write(
            f"{path}: {counted(made.files, 'file')}, {filesizeformat(made.size)}, checked.{keys}"
        )

    def stderr_line(self, line: str) -> None:
        """Say how far it is."""
        self.stderr.write(line, str)
