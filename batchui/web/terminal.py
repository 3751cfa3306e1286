"""What commands at the terminal share: how they speak, refuse, and write a download."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.batches.compressed import DamagedFile
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase, status_word
from batchui.batches.progress import Progress, untold
from batchui.commands import ExactCommand
from batchui.prompts.problems import BadInput
from batchui.teams.problems import TeamProblem
from batchui.web.addresses import page_address
from batchui.web.output_file import write_output
from batchui.worker.database import first_line

# The exit status of a command that has done nothing.
REFUSED = 2
SECONDS_BETWEEN_LINES = 0.5


class TerminalCommand(ExactCommand):
    """A command that tells on stderr what it does."""

    _line_is_open = False

    def say(self, line: str) -> None:
        """Write a line."""
        self.end_line()
        self.stderr.write(line, str)  # `str`: no colour, because it is not an error
        self.stderr.flush()

    def show(self, line: str) -> None:
        """Write a line that the next one replaces. For a terminal."""
        self.stderr.write(f"\r{line}", str, "")
        self.stderr.flush()
        self._line_is_open = True

    def end_line(self) -> None:
        """Leave the line that was shown last as it is."""
        if self._line_is_open:
            self.stderr.write("\n", str, "")
        self._line_is_open = False

    @contextmanager
    def refusing(self, *, unsure: str = "") -> Iterator[None]:
        """End with REFUSED and a sentence if this cannot be done.

        unsure: a sentence for a database that fails, where something may have been stored already.
        """
        try:
            yield
        except (BadInput, TeamProblem, OSError) as problem:
            self.stderr.write(str(problem))
            sys.exit(REFUSED)
        except DatabaseError as problem:
            sentence = f"The database cannot be used: {first_line(problem)}. {unsure}"
            self.stderr.write(sentence.strip())
            sys.exit(REFUSED)

    def write(self, batch: Batch, kind: str, choice: Choice, output: Path) -> None:
        """Write a download, and say what should be known about it. Raises CommandError."""
        try:
            notes = write_output(batch, kind, choice, output, self._progress(batch))
        except (OSError, BadInput, DamagedFile) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            self.end_line()
            raise CommandError(
                f"The answers could not be written to {output}: {reason.rstrip('.')}. Nothing is "
                f"lost: download them at {page_address(batch)}"
            ) from None
        except KeyboardInterrupt:
            self.end_line()
            raise CommandError(f"{output} was not written.", returncode=130) from None
        for note in notes:
            self.say(note)

    def _progress(self, batch: Batch) -> Progress:
        if not self.stderr.isatty():
            return untold
        last = -SECONDS_BETWEEN_LINES

        def show(rows: int) -> None:
            nonlocal last
            if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                self.show(f"{rows:,} of {rows_phrase(batch.rows)} written")

        return show


def summary(batch: Batch) -> str:
    """“Running: 12 of 60 rows answered”."""
    answered = f"{batch.answered:,} of {rows_phrase(batch.rows)} answered"
    return f"{status_word(batch.status)}: {answered}"
