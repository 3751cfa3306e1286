"""`manage.py submit`: does from the terminal what the pages do, with the same functions."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from batchui.batches import decisions, estimates, intake, picture_archives
from batchui.batches.models import Batch
from batchui.batches.money import UsdRange
from batchui.batches.phrases import problem_of
from batchui.batches.states import BatchStatus
from batchui.prompts.conversion.kinds import CAN_BE_READ
from batchui.prompts.problems import BadInput
from batchui.teams.connections import cloudflare_is_configured
from batchui.teams.models import User
from batchui.teams.terminal import team_for_terminal
from batchui.web.addresses import page_address
from batchui.web.forms.ask import AskForm
from batchui.web.forms.download_options import add_download_options, given, kind_and_choice
from batchui.web.forms.reading_options import (
    about_skipped,
    add_reading_options,
    choices,
    refuse_unfit,
    remarks,
)
from batchui.web.forms.terminal import add_arguments, checked, fields, first_error
from batchui.web.input_file import opened_input
from batchui.web.output_file import refuse_output
from batchui.web.terminal import TerminalCommand, summary
from batchui.worker.database import first_line, why_not_ready
from batchui.worker.heartbeat import worker_is_silent

NOT_ALL = 1
SECONDS_BETWEEN_CHECKS = 0.5


class Command(TerminalCommand):
    help = (
        "Ask one question of every row of a file. Exit status: 0: every row was answered that has "
        "something to ask about (without --wait: the batch was started); 1: some rows were not "
        "answered, or the answers could not be read or written; 2: nothing was started."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help=f"{CAN_BE_READ}. - is the standard input",
        )
        parser.add_argument(
            "--file-name",
            default="",
            metavar="NAME",
            help="what the file is called, if that is not its own name",
        )
        add_reading_options(parser)
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
        parser.add_argument(
            "--pictures",
            type=Path,
            metavar="FILE",
            help="a ZIP archive with the pictures that the rows name",
        )
        parser.add_argument("--name", default="", help="what to call the batch")
        parser.add_argument(
            "--yes", action="store_true", help="start it whatever it costs, without a question"
        )
        parser.add_argument(
            "--wait", action="store_true", help="wait until it is finished, as --output does too"
        )
        add_download_options(parser)
        parser.add_argument("--as", dest="email", help="whose batch it is, by e-mail address")

    # Waits between two checks; tests replace it.
    pause: Callable[[float], None] = staticmethod(time.sleep)
    said_hint = ""
    batch: Batch | None = None

    def after_interrupt(self) -> str:
        if self.batch and Batch.objects.filter(pk=self.batch.pk, part_count__gt=0).exists():
            return f"The batch goes on: {page_address(self.batch)}"
        return "Nothing was started."

    def handle(self, *args: Any, **options: Any) -> None:
        with self.refusing(
            unsure="Before you try again, see whether the Batches page shows this file."
        ):
            batch = self._started(options)
        try:
            self._follow(batch, options)
        except DatabaseError as problem:
            raise CommandError(
                f"The database cannot be used: {first_line(problem)}. The batch was started: "
                f"{page_address(batch)}"
            ) from None
        if (options["wait"] or options["output"]) and batch.answered + batch.skipped < batch.rows:
            sys.exit(NOT_ALL)

    def _follow(self, batch: Batch, options: dict[str, Any]) -> None:
        """Say where the batch is; wait for it and write its answers, if that is asked for."""
        self.stdout.write(page_address(batch))
        if batch.connection.is_sandbox:
            self.stderr.write("The sandbox answers: no AI model runs there.")
        if not options["wait"] and not options["output"]:
            self._say_hint(batch)
            return
        self._wait(batch)
        if options["output"]:
            self.write(batch, *kind_and_choice(options, batch), options["output"])
        written_to = f", written to {options['output']}" if options["output"] else ""
        if written_to or not self.stderr.isatty():  # else the bar has said it
            self.say(f"{summary(batch)}{written_to}")

    def _started(self, options: dict[str, Any]) -> Batch:
        """The batch, cut and queued. If that is not possible, raises and leaves nothing behind."""
        if problem := why_not_ready():
            raise BadInput(problem)
        _check_account()
        _check_output(options)
        self.refuse_unreadable(options)
        chosen = choices(options)
        options = checked(options)
        with opened_input(options["file"], name=options["file_name"]) as upload:
            team, user = team_for_terminal(options["email"])
            self.batch = batch = intake.receive(
                upload, team=team, by=user, name=options["name"], choices=chosen, check_now=True
            )
        try:
            self._until_not(batch, BatchStatus.CHECKING)
            self._ask(batch, options, by=user)
            self._until_not(batch, BatchStatus.PREPARING)
            if not batch.is_started:
                raise BadInput(problem_of(batch))
            if remark := about_skipped(batch):
                self.say(remark)
        except BaseException:
            intake.erase_unstarted(batch)
            raise
        return batch

    def _ask(self, batch: Batch, options: dict[str, Any], *, by: User | None) -> None:
        """Say how the file was read, and start the batch. Raises BadInput."""
        refuse_unfit(batch, batch.choices)
        if batch.is_unusable:
            raise BadInput(problem_of(batch))
        for remark in remarks(batch):
            self.say(remark)
        if options["pictures"]:
            _add_pictures(batch, options)
        if options["output"]:
            kind_and_choice(options, batch)  # what cannot be written is refused before it is paid
        form = AskForm(fields(options, batch), batch=batch)
        if not form.is_valid():
            raise BadInput(first_error(form, options))
        decisions.edit(batch, ask=form.ask)
        batch.refresh_from_db()
        estimated = self._agreed_price(batch, options)
        decisions.start(batch, by=by, ask=form.ask, estimated=estimated, prepare_now=True)

    def _agreed_price(self, batch: Batch, options: dict[str, Any]) -> UsdRange | None:
        """What a batch will cost. Raises BadInput if nobody agrees to a price above the team's."""
        found = estimates.estimate(batch)
        if found is None or options["yes"] or not estimates.needs_consent(batch.team, found):
            return found.usd if found else None
        price = f"This batch may cost {found.to_pay}"
        if not sys.stdin.isatty() or options["file"] == Path("-"):
            raise BadInput(f"{price}. Say --yes to start it all the same.")
        self.stderr.write(f"{price}. Start it? [y/N] ", ending="")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise BadInput(f"{price}, and nothing was started.")
        return found.usd

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
            line = _bar(batch) if on_terminal else summary(batch)
            if line != shown:
                (self.show if on_terminal else self.say)(line)
                shown = line
            self._say_hint(batch)
            self.pause(SECONDS_BETWEEN_CHECKS)
            batch.refresh_from_db()
        if on_terminal:
            self.show(_bar(batch))
            self.end_line()

    def _say_hint(self, batch: Batch) -> None:
        """Say, once, why the batch does not go on by itself."""
        hint = _hint(batch)
        if hint and hint != self.said_hint:
            self.say(hint)
            self.said_hint = hint


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


def _add_pictures(batch: Batch, options: dict[str, Any]) -> None:
    path = options["pictures"]
    if not options["picture_column"]:
        raise BadInput(
            f"--pictures {path}: name the column that says which picture is a row's, too: "
            "--picture-column."
        )
    try:
        with opened_input(path, name="") as archive:
            picture_archives.add(batch, archive)
    except BadInput as problem:
        raise BadInput(f"--pictures {path}: {problem}") from None


def _check_output(options: dict[str, Any]) -> None:
    if output := options["output"]:
        refuse_output(output)
        if output.exists() and options["file"].exists() and output.samefile(options["file"]):
            raise BadInput(f"--output {output} is the file that is submitted. Name another one.")
    elif unused := given(options):
        raise BadInput(f"{unused[0]}: name the file to be written, too: --output.")


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


def _bar(batch: Batch, width: int = 30) -> str:
    done = int(width * batch.settled / max(batch.rows, 1))
    return f"[{'#' * done}{'.' * (width - done)}] {summary(batch)}   "
