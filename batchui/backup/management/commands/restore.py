"""`manage.py restore`: everything from one file, where batchui does not run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from batchui.backup.archive import BadArchive
from batchui.backup.making import NotPossible, put_back
from batchui.batches.phrases import parts_phrase


class Command(BaseCommand):
    help = (
        "Put back what `manage.py backup` wrote. Stop batchui first. What was to be sent then is "
        "not sent by itself: somebody decides on the page."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the backup")
        parser.add_argument(
            "--replace", action="store_true", help="also if there are batches, which are lost then"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            undecided = put_back(
                path, replace=options["replace"], say=lambda line: self.stderr.write(line, str)
            )
        except (BadArchive, NotPossible, OSError) as problem:
            raise CommandError(f"Nothing was restored. {problem}") from None
        self.stdout.write("Restored. Start batchui: python3 manage.py up")
        if undecided:
            self.stdout.write(
                f"{parts_phrase(undecided)} may have been sent since the backup was made. They "
                "wait for a decision on the page “Batches”."
            )
