"""What commands at the terminal share: how they speak, refuse, and write a download."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.batches.compressed import DamagedFile
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.batches.progress import Progress, untold
from batchui.commands import ExactCommand
from batchui.prompts.problems import BadInput, quoted
from batchui.teams.problems import TeamProblem
from batchui.web import status_words
from batchui.web.addresses import page_address
from batchui.web.output_file import write_output
from batchui.worker.database import first_line

# The exit status of a command that has done nothing, and of one that was ended with Ctrl-C.
REFUSED, INTERRUPTED = 2, 130
SECONDS_BETWEEN_LINES = 0.5


class TerminalCommand(ExactCommand):
    """A command that tells on stderr what it does."""

    _line_is_open = False

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it. Ctrl-C ends it with a sentence, and what it has stored so far is in order."""
        try:
            return super().execute(*args, **options)
        except KeyboardInterrupt:
            self.end_line()
            raise CommandError(self.after_interrupt(), returncode=INTERRUPTED) from None

    def after_interrupt(self) -> str:
        """What somebody should know who has pressed Ctrl-C."""
        return "Nothing was written."

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

    @staticmethod
    def refuse_unreadable(options: dict[str, Any]) -> None:
        """Raise BadInput for an option that is no UTF-8, which could not be stored."""
        for value in options.values():
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and (shown := _readable(text)) != text:
                    raise BadInput(
                        f"{quoted(shown)} was not typed in UTF-8. Set the terminal to UTF-8, and "
                        "type it again."
                    )

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
            raise CommandError(f"{output} was not written.", returncode=INTERRUPTED) from None
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
    """“Running: 12 of 60 rows answered”, “Finished: 58 rows answered, 2 skipped”."""
    asked = batch.rows - batch.never_asked
    answered = f"{batch.answered:,} of {rows_phrase(asked)} answered"
    if batch.never_asked:
        whole = f"{rows_phrase(asked)} answered"
        answered = whole if batch.answered == asked else answered
        answered += f", {batch.never_asked:,} skipped"
    return f"{status_words.of_batch(batch).word}: {answered}"


def _readable(text: str) -> str:
    """The text, with a question mark for each byte that was no UTF-8."""
    return text.encode(errors="replace").decode()
