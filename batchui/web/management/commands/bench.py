"""`manage.py bench`: what the product costs, compared with scripts that do the same."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from batchui.bench import compare, files, slow, whole
from batchui.bench.surroundings import BenchFailed
from batchui.commands import ExactCommand
from batchui.processes import procfs


class Command(ExactCommand):
    help = (
        "Measure (a) a streaming script, (t) a tuned script and (b) the product's own path on the "
        "same file against the same imitation of the API, and print the ratios b/a and b/t. With "
        "--whole: only the product, from upload to download, through all its processes. With "
        "--format: reading and writing of files, beside the bare library."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=100_000, help="rows of the file")
        parser.add_argument(
            "--repeat", type=int, default=1, help="how often; medians are printed (%(default)s)"
        )
        parser.add_argument("--whole", action="store_true", help="from upload to download")
        parser.add_argument(
            "--format",
            choices=[*files.FORMATS, files.ALL],
            help="only this: reading and writing of files in a format, beside the bare library",
        )
        parser.add_argument(
            "--slow-clients",
            type=int,
            metavar="N",
            help="only this: whether N slow clients of each kind hold the pages up",
        )
        parser.add_argument(
            "--calls-per-5-minutes",
            type=int,
            help="with --whole: the call limit (default: the product's own)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rows, repeat, calls = (options[name] for name in ("rows", "repeat", "calls_per_5_minutes"))
        clients, form = options["slow_clients"], options["format"]
        if rows < 1 or repeat < 1:
            raise CommandError("--rows and --repeat must be at least 1.")
        if calls is not None and not options["whole"]:
            raise CommandError(
                "Use --calls-per-5-minutes only with --whole; without it there is no limit."
            )
        if clients is not None and clients < 1:
            raise CommandError("--slow-clients must be at least 1.")
        if form and (clients is not None or options["whole"]):
            raise CommandError("Use --format without --whole and --slow-clients.")
        if not procfs.is_there():
            raise CommandError("The bench reads memory and CPU time from /proc: run it on Linux.")
        try:
            if form:
                files.measure(form, rows, repeat, self.stdout.write)
            elif clients:
                slow.measure(clients, self.stdout.write)
            elif options["whole"]:
                whole.measure(rows, repeat, self.stdout.write, calls_per_5_minutes=calls)
            else:
                compare.compare(rows, repeat, self.stdout.write)
        except BenchFailed as reason:
            raise CommandError(str(reason)) from None
