"""`manage.py submit`: what the pages do, from the terminal, through the same functions."""

import os
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from batchui.batches import intake, lifecycle, tasks
from batchui.batches.heartbeat import last_beat
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.prompts.problems import BadInput
from batchui.teams.founding import team_for_terminal
from batchui.teams.problems import TeamProblem
from batchui.web.addresses import page_address
from batchui.web.downloads import KINDS
from batchui.web.forms.ask import AskForm, column_mark

ANSWERED_ALL, NOT_ALL, NOT_STARTED = 0, 1, 2
LOOK_SECONDS = 0.5
SILENT_SECONDS = 30


class Command(BaseCommand):
    help = (
        "Ask one question of every row of a file. Exit status: 0 every row answered (or, without "
        "--wait, started); 1 finished, but some rows were not answered; 2 nothing was started."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSONL or TXT")
        parser.add_argument("--model", required=True, help="such as @cf/meta/llama-3.3-70b-…")
        parser.add_argument("--prompt", default="", help="what to ask, with {{column}}")
        parser.add_argument("--system", default="", help="an instruction for all rows")
        parser.add_argument("--text-column", default="", help="the column to send as it is")
        parser.add_argument("--source-lang", default="", help="language of the file (en)")
        parser.add_argument("--target-lang", default="", help="language to translate into")
        parser.add_argument("--reference-column", default="", help="travels with each row")
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter of the model, such as max_tokens=200; may be given more than once",
        )
        parser.add_argument("--name", default="", help="what to call the batch")
        parser.add_argument(
            "--leave-out-invalid", action="store_true", help="leave out rows that cannot be asked"
        )
        parser.add_argument(
            "--resend-once",
            action="store_true",
            help="send a part again, once, when it is unclear whether it was sent",
        )
        parser.add_argument("--wait", action="store_true", help="wait until it is finished")
        parser.add_argument("--output", type=Path, help="where to write the answers (waits)")
        parser.add_argument("--format", choices=sorted(KINDS), help="of the output (csv)")
        parser.add_argument("--as", dest="email", help="whose batch it is, by e-mail address")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            batch = self._started(options)
        except (BadInput, TeamProblem, OSError) as problem:
            raise CommandError(str(problem), returncode=NOT_STARTED) from None
        self.stdout.write(page_address(batch))
        if not options["wait"] and not options["output"]:
            return
        self._wait(batch)
        if options["output"]:
            _write(batch, options["output"], kind=_kind(options))
        if batch.answered < batch.rows:
            self.stderr.write(_summary(batch))
            sys.exit(NOT_ALL)

    def _started(self, options: dict[str, Any]) -> Batch:
        """The batch, cut and queued. Raises, with nothing left behind, where it cannot be."""
        _check_output(options)
        extra = _options(options["option"])
        team, user = team_for_terminal(options["email"])
        with options["file"].open("rb") as source:
            batch = intake.receive(
                File(source, options["file"].name), team=team, by=user, name=options["name"]
            )
        try:
            intake.check_file(batch.pk)
            _until_not(batch, BatchStatus.CHECKING)
            form = AskForm(_fields(options, extra, batch), batch=batch)
            if not form.is_valid():
                raise BadInput(_first_error(form))
            lifecycle.start(batch, by=user, **form.cleaned_data)
            intake.prepare(batch.pk)
            _until_not(batch, BatchStatus.PREPARING)
            if not batch.is_started:
                raise BadInput(_problem(batch))
        except BaseException:
            intake.discard(batch)
            raise
        tasks.enqueue_tick()
        return batch

    def _wait(self, batch: Batch) -> None:
        on_terminal = sys.stderr.isatty()
        shown, warned, began = "", False, time.monotonic()
        while not batch.has_ended:
            line = _bar(batch) if on_terminal else _summary(batch)
            if line != shown:
                self._show(line, on_terminal=on_terminal)
                shown = line
            if not warned and time.monotonic() - began > SILENT_SECONDS and _nobody_works():
                warned = True
                self.stderr.write("\nNo worker is running. Start one: python manage.py up")
            time.sleep(LOOK_SECONDS)
            batch.refresh_from_db()
        if on_terminal:
            self.stderr.write(f"\r{_bar(batch)}")

    def _show(self, line: str, *, on_terminal: bool) -> None:
        if on_terminal:
            self.stderr.write(f"\r{line}", ending="")
            self.stderr.flush()
        else:
            self.stderr.write(line)


def _fields(options: dict[str, Any], extra: dict[str, Any], batch: Batch) -> dict[str, Any]:
    """The form's fields, as the page would send them."""
    column = options["text_column"]
    template = options["prompt"] or (column_mark(column) if column else "")
    initial = AskForm(batch=batch).initial
    return {
        "name": batch.name,
        "model": options["model"],
        "template": template or initial["template"],
        "instruction": options["system"],
        "source_lang": options["source_lang"],
        "target_lang": options["target_lang"],
        "reference_column": options["reference_column"],
        "max_tokens": extra.pop("max_tokens", batch.max_tokens),
        "temperature": extra.pop("temperature", ""),
        "as_items": "on" if initial["as_items"] and not template else "",
        "leave_out_invalid": "on" if options["leave_out_invalid"] else "",
        "resend_once": "on" if options["resend_once"] else "",
        "options": msgspec.json.encode(extra).decode() if extra else "",
    }


def _options(given: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs; a value that is JSON is taken as such, anything else as text."""
    extra: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--option {pair}: write it as key=value, such as max_tokens=200.")
        try:
            extra[key.strip()] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            extra[key.strip()] = value
    return extra


def _check_output(options: dict[str, Any]) -> None:
    output = options["output"]
    if output is not None and not output.absolute().parent.is_dir():
        raise BadInput(f"--output {output}: there is no folder {output.absolute().parent}.")
    if options["model"] not in {model.name for model in catalogue.models()}:
        try:
            catalogue.find(options["model"])
        except catalogue.UnknownModel as problem:
            raise BadInput(str(problem)) from None


def _kind(options: dict[str, Any]) -> str:
    ending = options["output"].suffix.lstrip(".").lower()
    return str(options["format"] or (ending if ending in KINDS else "csv"))


def _first_error(form: AskForm) -> str:
    for field, errors in form.errors.items():
        label = form.fields[field].label if field in form.fields else ""
        return f"{label}: {errors[0]}" if label else str(errors[0])
    return "The question cannot be asked."


def _problem(batch: Batch) -> str:
    first = batch.problem_rows[0]["sentence"] if batch.problem_rows else ""
    return " ".join(filter(None, (batch.problem, first)))


def _until_not(batch: Batch, status: BatchStatus) -> None:
    """Wait for a worker of `up` that was quicker than this command with a step."""
    batch.refresh_from_db()
    while batch.status == status:
        time.sleep(LOOK_SECONDS)
        batch.refresh_from_db()


def _nobody_works() -> bool:
    beat = last_beat()
    return beat is None or (timezone.now() - beat).total_seconds() > SILENT_SECONDS


def _bar(batch: Batch, width: int = 30) -> str:
    done = int(width * batch.settled / max(batch.rows, 1))
    return f"[{'#' * done}{'.' * (width - done)}] {_summary(batch)}   "


def _summary(batch: Batch) -> str:
    return f"{batch.get_status_display()}: {batch.answered:,} of {batch.rows:,} rows answered"


def _write(batch: Batch, output: Path, *, kind: str) -> None:
    """Write the answers beside their place first, so that a file is whole or not there."""
    with tempfile.NamedTemporaryFile(dir=output.absolute().parent, delete=False) as out:
        try:
            for chunk in KINDS[kind][0](batch):
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
            os.chmod(out.name, 0o644)
            os.replace(out.name, output)
        except BaseException:
            os.unlink(out.name)
            raise
