"""`manage.py download`: writes what a started batch has by now, as the pages do."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError
from django.utils import timezone

from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.phrases import NOT_STARTED
from batchui.batches.whole_files import file_name
from batchui.prompts.problems import BadInput
from batchui.teams.terminal import team_for_terminal
from batchui.web.finding import find_batch
from batchui.web.forms.download_options import add_download_options, kind_and_choice
from batchui.web.output_file import refuse_output
from batchui.web.terminal import TerminalCommand, summary
from batchui.worker.database import first_line, why_not_ready


class Command(TerminalCommand):
    help = (
        "Write the file of a batch with the answers so far, and print its name. Exit status: 0: it "
        "was written; 1: it could not be read or written; 2: nothing was done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "batch", help="its name, the address of its page, its id or the beginning of the id"
        )
        add_download_options(parser)
        parser.add_argument(
            "--force", action="store_true", help="replace a file that is there already"
        )
        parser.add_argument("--as", dest="email", help="whose team it is, by e-mail address")

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusing():
            self.refuse_unreadable(options)
            batch, kind, choice, output = _asked(options)
        try:
            self.write(batch, kind, choice, output)
        except DatabaseError as problem:
            raise CommandError(f"The database cannot be used: {first_line(problem)}.") from None
        self.say(summary(batch))
        self.stdout.write(str(output))


def _asked(options: dict[str, Any]) -> tuple[Batch, str, Choice, Path]:
    """The batch, what goes out of it, and where to. Raises BadInput and TeamProblem."""
    if problem := why_not_ready():
        raise BadInput(problem)
    team, _ = team_for_terminal(options["email"])
    batch = find_batch(team, options["batch"])
    if not batch.is_started:
        raise BadInput(NOT_STARTED)
    kind, choice = kind_and_choice(options, batch)
    output = options["output"] or Path(file_name(batch, kind, timezone.localdate()))
    refuse_output(output)
    if output.exists() and not options["force"]:
        raise BadInput(
            f"{output} is there already. Add --force to replace it, or name another file: --output."
        )
    return batch, kind, choice, output
