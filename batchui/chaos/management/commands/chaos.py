"""`manage.py chaos`: kills, faults and impatient people, and then: is everything still true?"""

import argparse
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from batchui.bench.surroundings import BenchFailed
from batchui.chaos import surroundings
from batchui.chaos.binding import connect, running_binding
from batchui.chaos.figures import Figures, table
from batchui.chaos.inside import Inside
from batchui.chaos.outside import Outside
from batchui.chaos.surroundings import POSTGRES, SQLITE, NoDatabase
from batchui.chaos.wire import ChaosFailed, running_wire
from batchui.commands import ExactCommand
from batchui.processes import children
from batchui.up import prepare
from batchui.up.errors import CannotStart

SECONDS_TO_STOP = 20.0
FINDINGS_SHOWN = 20


def _wait(process: children.Process) -> int:
    """Wait for the campaign, and meanwhile collect what its kills leave. Returns its status."""
    while True:
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            children.collect_orphans(besides=[process.pid])


class Command(ExactCommand):
    help = (
        "Kill the product again and again, in a data folder of its own that is thrown away, and "
        "check what must always be true. Prints a table of figures. Exit status 0: all is well; "
        "1: something is off; 2: the campaign itself failed."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--kills", type=int, default=15, help="how many (%(default)s)")
        parser.add_argument(
            "--seed", type=int, default=1, help="of all that is drawn (%(default)s)"
        )
        parser.add_argument(
            "--database", choices=(SQLITE, POSTGRES), default=SQLITE, help="(%(default)s)"
        )
        parser.add_argument(
            "--inside",
            action="store_true",
            help="kill the steps at a line, a statement or a file operation, not the processes",
        )
        parser.add_argument(
            "--worker",
            action="store_true",
            help="let batches go through the Worker, on Cloudflare's runtime (workerd)",
        )
        # This command starts itself with --here, in the surroundings that it made.
        parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        # Whatever is open is closed then, as with Ctrl-C.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        if options["kills"] < 1:
            raise CommandError("--kills must be at least 1.", returncode=2)
        try:
            if options["here"]:
                self.run(**options)
            else:
                self.run_elsewhere(**options)
        except (BenchFailed, CannotStart, ChaosFailed, NoDatabase) as problem:
            raise CommandError(f"There are no figures. {problem}", returncode=2) from None

    def run_elsewhere(
        self, *, kills: int, seed: int, database: str, inside: bool, worker: bool, **_: object
    ) -> None:
        """Run the campaign in a process of its own, whose settings are for it alone."""
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "chaos", "--here"]
        command += [f"--kills={kills}", f"--seed={seed}", f"--database={database}"]
        command += ["--inside"] if inside else []
        command += ["--worker"] if worker else []
        children.adopt_orphans()
        with surroundings.throwaway(database) as environment:
            process = children.launch(command, environment=environment)
            try:
                status = _wait(process)
            finally:
                children.stop(process, grace=SECONDS_TO_STOP)
                children.end_strays()
        if status:
            sys.exit(status if status > 0 else 2)

    def run(
        self, *, kills: int, seed: int, database: str, inside: bool, worker: bool, **_: object
    ) -> None:
        """Run the campaign with the settings of this process, and print the figures."""
        prepare.prepare()
        kind = "inside" if inside else "processes"
        figures = Figures(kind, database, seed, wanted=kills, worker=worker)
        began = time.monotonic()
        store = settings.DATA / "sandbox.sqlite3"
        with ExitStack() as running:
            wire = running.enter_context(running_wire(store, options=["binding"] * worker))
            settings.SANDBOX_URL = wire.address
            between = running.enter_context(running_binding(wire.address)) if worker else None
            if between:
                connect(between)
            if inside:
                Inside(figures, wire, say=self.aside).run(kills)
            else:
                outside = Outside(figures, wire, say=self.aside, binding=between)
                running.enter_context(closing(outside)).run(kills)
        figures.seconds = time.monotonic() - began
        self.print(figures)
        if not figures.is_well:
            sys.exit(1)

    def print(self, figures: Figures) -> None:
        """Print the table, and what is wrong."""
        for finding in figures.findings[:FINDINGS_SHOWN]:
            self.stdout.write(f"{finding.invariant}. {finding}")
        for escaped in figures.escaped[:FINDINGS_SHOWN]:
            self.stdout.write(f"An error that nobody caught: {escaped}")
        for sentence in figures.stuck[:FINDINGS_SHOWN]:
            self.stdout.write(f"It does not end: {sentence}")
        self.stdout.write(table([figures]))
        inside = figures.campaign == "inside"
        besides = (
            f"{figures.survived:,} steps came to their end"
            if inside
            else f"{figures.frozen:,} times processes were frozen, {figures.pressed:,} buttons "
            "were pressed over HTTP"
        )
        self.stdout.write(
            f"{figures.seconds:.0f} s; {besides}. Without faults all was quiet after "
            f"{figures.minutes_to_rest:.0f} minutes at most. Again: manage.py chaos "
            f"--kills {figures.wanted} --seed {figures.seed} "
            f"--database {figures.database}{' --inside' if inside else ''}"
            f"{' --worker' if figures.worker else ''}"
        )

    def aside(self, sentence: str) -> None:
        """Say how far it is."""
        self.stderr.write(sentence, str)
