"""`manage.py submit`: does from the terminal what the pages do, with the same functions."""

import os
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from batchui.batches import decisions, intake, making
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.phrases import problem_of, rows_phrase, status_word
from batchui.batches.states import BatchStatus
from batchui.batches.whole_files import KINDS
from batchui.prompts.problems import BadInput
from batchui.teams.connections import cloudflare_is_configured
from batchui.teams.problems import TeamProblem
from batchui.teams.terminal import team_for_terminal
from batchui.web.addresses import page_address
from batchui.web.forms.ask import AskForm
from batchui.web.forms.terminal import (
    add_arguments,
    checked,
    fields,
    first_error,
)
from batchui.worker.database import first_line, why_not_ready
from batchui.worker.heartbeat import worker_is_silent

ANSWERED_ALL, NOT_ALL, NOT_STARTED = 0, 1, 2
SECONDS_BETWEEN_CHECKS = 0.5


class Command(BaseCommand):
    help = (
        "Ask one question of every row of a file. Exit status: 0: every row was answered (without "
        "--wait: the batch was started); 1: some rows were not answered, or the answers could not "
        "be read or written; 2: nothing was started."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSONL or TXT")
        add_arguments(parser)
        parser.add_argument(
            "--text-column",
            default="",
            help="the column to send, after the prompt if there is one",
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter of the model, such as max_tokens=200; may be given more than once",
        )
        parser.add_argument("--name", default="", help="what to call the batch")
        parser.add_argument("--wait", action="store_true", help="wait until it is finished")
        parser.add_argument("--output", type=Path, help="where to write the answers (waits)")
        parser.add_argument("--format", choices=sorted(KINDS), help="of the output (csv)")
        parser.add_argument("--as", dest="email", help="whose batch it is, by e-mail address")

    # Waits between two checks; tests replace it.
    pause: Callable[[float], None] = staticmethod(time.sleep)
    said_hint = ""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            batch = self._started(options)
        except (BadInput, TeamProblem, OSError) as problem:
            self.stderr.write(str(problem))
            sys.exit(NOT_STARTED)
        except DatabaseError as problem:
            self.stderr.write(
                f"The database cannot be used: {first_line(problem)}. Before you try again, see "
                "whether the Batches page shows this file."
            )
            sys.exit(NOT_STARTED)
        try:
            self._follow(batch, options)
        except DatabaseError as problem:
            raise CommandError(
                f"The database cannot be used: {first_line(problem)}. The batch was started: "
                f"{page_address(batch)}"
            ) from None
        if (options["wait"] or options["output"]) and batch.answered < batch.rows:
            sys.exit(NOT_ALL)

    def _follow(self, batch: Batch, options: dict[str, Any]) -> None:
        """Say where the batch is; wait for it and write its answers, if that is asked for."""
        self.stdout.write(page_address(batch))
        if batch.connection.is_sandbox:
            self.stderr.write("The sandbox answers: no AI model runs there.")
        if not options["wait"] and not options["output"]:
            self._say_hint(batch)
            return
        try:
            self._wait(batch)
        except KeyboardInterrupt:
            raise CommandError(
                f"The batch goes on: {page_address(batch)}", returncode=130
            ) from None
        if options["output"]:
            _write(batch, options["output"], kind=_kind(options))
        written_to = f", written to {options['output']}" if options["output"] else ""
        if written_to or not self.stderr.isatty():  # else the bar has said it
            self._say(f"{_summary(batch)}{written_to}")

    def _started(self, options: dict[str, Any]) -> Batch:
        """The batch, cut and queued. If that is not possible, raises and leaves nothing behind."""
        if problem := why_not_ready():
            raise BadInput(problem)
        _check_account()
        _check_output(options["output"])
        options = checked(options)
        with _opened(options["file"]) as source:
            team, user = team_for_terminal(options["email"])
            upload = File(source, options["file"].name)
            batch = intake.receive(upload, team=team, by=user, name=options["name"], check_now=True)
        try:
            self._until_not(batch, BatchStatus.CHECKING)
            form = AskForm(fields(options, batch), batch=batch)
            if not form.is_valid():
                raise BadInput(first_error(form, options))
            decisions.start(batch, by=user, ask=form.ask, prepare_now=True)
            self._until_not(batch, BatchStatus.PREPARING)
            if not batch.is_started:
                raise BadInput(problem_of(batch))
        except BaseException:
            intake.erase_unstarted(batch)
            raise
        return batch

    def _until_not(self, batch: Batch, status: BatchStatus) -> None:
        """Wait while the batch has `status`: a worker may have claimed it first.

        Raises BadInput if a colleague deletes it meanwhile.
        """
        batch.refresh_from_db()
        while batch.status == status:
            if batch.deleted_at is not None:
                raise BadInput("Nothing was started: a colleague deleted the batch meanwhile.")
            self.pause(SECONDS_BETWEEN_CHECKS)
            batch.refresh_from_db()

    def _wait(self, batch: Batch) -> None:
        on_terminal = self.stderr.isatty()
        shown = ""
        while not batch.has_ended:
            line = _bar(batch) if on_terminal else _summary(batch)
            if line != shown:
                self._say(f"\r{line}" if on_terminal else line, ending="" if on_terminal else "\n")
                shown = line
            self._say_hint(batch)
            self.pause(SECONDS_BETWEEN_CHECKS)
            batch.refresh_from_db()
        if on_terminal:
            self._say(f"\r{_bar(batch)}")

    def _say_hint(self, batch: Batch) -> None:
        """Say, once, why the batch does not go on by itself."""
        hint = _hint(batch)
        if hint and hint != self.said_hint:
            self._say(f"\n{hint}" if self.stderr.isatty() else hint)
            self.said_hint = hint

    def _say(self, line: str, *, ending: str = "\n") -> None:
        self.stderr.write(line, str, ending)  # `str`: no colour, because it is not an error
        self.stderr.flush()


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None


def _hint(batch: Batch) -> str:
    """A hint for the person who waits at the terminal, or ""."""
    if batch.status == BatchStatus.ATTENTION:
        return f"A part needs your decision: {page_address(batch)}"
    if worker_is_silent():
        return (
            "No worker is running, so nothing is sent now; the batch goes on as soon as one runs. "
            "Start one: python3 manage.py up"
        )
    return ""


def _check_output(output: Path | None) -> None:
    if output is None:
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise BadInput(f"--output {output}: there is no folder {folder}.")
    if output.is_dir():
        raise BadInput(f"--output {output} is a folder. Name a file in it.")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"--output {output}: you may not write in {folder}.")


def _check_account() -> None:
    """Raise BadInput if `up` uses an account that this terminal does not know.

    The rows would go to a sandbox that does not run.
    """
    served_elsewhere = settings.ADDRESS_FILE.exists() and not settings.SANDBOX_FILE.exists()
    if served_elsewhere and not cloudflare_is_configured():
        raise BadInput(
            "batchui runs with a Cloudflare account that this terminal does not know. Set "
            "CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN here too, and try again."
        )


def _kind(options: dict[str, Any]) -> str:
    ending = options["output"].suffix.lstrip(".").lower()
    return str(options["format"] or (ending if ending in KINDS else "csv"))


def _bar(batch: Batch, width: int = 30) -> str:
    done = int(width * batch.settled / max(batch.rows, 1))
    return f"[{'#' * done}{'.' * (width - done)}] {_summary(batch)}   "


def _summary(batch: Batch) -> str:
    answered = f"{batch.answered:,} of {rows_phrase(batch.rows)} answered"
    return f"{status_word(batch.status)}: {answered}"


def _write(batch: Batch, output: Path, *, kind: str) -> None:
    """Write the answers to a file. If that fails, there is no file. Raises CommandError."""
    try:
        _write_whole(batch, output, kind=kind)
    except OSError as problem:
        raise CommandError(
            f"The answers could not be written to {output}: {problem.strerror or problem}. Nothing "
            f"is lost: download them at {page_address(batch)}"
        ) from None


def _write_whole(batch: Batch, output: Path, *, kind: str) -> None:
    """Write the answers to a file of another name, then give it its own."""
    with tempfile.NamedTemporaryFile(dir=output.absolute().parent, delete=False) as out:
        try:
            making.write(batch, kind, Choice(), Path(out.name))
            out.flush()
            os.fsync(out.fileno())
            if output.exists():
                os.chmod(out.name, output.stat().st_mode & 0o777)
            os.replace(out.name, output)
        except BaseException:
            os.unlink(out.name)
            raise
