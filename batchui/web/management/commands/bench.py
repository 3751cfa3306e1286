"""`manage.py bench`: what the product costs, compared with scripts that do the same."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from batchui.batches.phrases import Say
from batchui.bench import (
    choosing,
    compare,
    everything,
    files,
    idle,
    pages,
    slow,
    small,
    watchers,
    whole,
)
from batchui.bench.surroundings import BenchFailed
from batchui.commands import ExactCommand
from batchui.processes import procfs

COUNTED = ("rows", "repeat", "parts", "batches", "slow_clients", "watchers")


class Command(ExactCommand):
    help = (
        "Measure (a) a streaming script, (t) a tuned script and (b) the product's own path on the "
        "same file against the same imitation of the API, and print the ratios b/a and b/t; or one "
        "of the other things below, alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rows",
            type=int,
            help="rows of the file (100,000; with --pages 1,000,000, with --small 100)",
        )
        parser.add_argument(
            "--repeat", type=int, default=1, help="how often; medians are printed (%(default)s)"
        )
        _add_what(parser)
        _add_details(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        for name in COUNTED:
            if options[name] is not None and options[name] < 1:
                raise CommandError(f"--{name.replace('_', '-')} must be at least 1.")
        if options["calls_per_5_minutes"] is not None and not options["whole"]:
            raise CommandError(
                "Use --calls-per-5-minutes only with --whole; without it there is no limit."
            )
        if not procfs.is_there():
            raise CommandError("The bench reads memory and CPU time from /proc: run it on Linux.")
        try:
            _measure(options, self.stdout.write)
        except BenchFailed as reason:
            raise CommandError(str(reason)) from None


def _add_what(parser: ArgumentParser) -> None:
    """What is measured in place of the sides, alone."""
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument(
        "--whole", action="store_true", help="from upload to download, through all processes"
    )
    alone.add_argument(
        "--format",
        choices=[*files.FORMATS, files.ALL],
        help="reading and writing of files in a format, beside the bare library",
    )
    alone.add_argument("--pages", action="store_true", help="what each page costs beside much data")
    alone.add_argument(
        "--watchers", type=int, metavar="N", help="what it costs that N people watch pages"
    )
    alone.add_argument(
        "--slow-clients",
        type=int,
        metavar="N",
        help="whether N slow clients of each kind hold the pages up",
    )
    alone.add_argument(
        "--small", action="store_true", help="what a small batch takes beyond the API's time"
    )
    alone.add_argument("--idle", action="store_true", help="what is taken while nothing happens")
    alone.add_argument("--choosing", action="store_true", help="choosing work among 10,000 parts")
    alone.add_argument(
        "--all",
        choices=everything.SIZES,
        nargs="?",
        const="weekly",
        metavar="SIZE",
        help="all of it, held against what is recorded: weekly (default) or small",
    )


def _add_details(parser: ArgumentParser) -> None:
    """What some of it has besides."""
    parser.add_argument(
        "--record", action="store_true", help="with --all: write down what is found"
    )
    parser.add_argument(
        "--calls-per-5-minutes",
        type=int,
        help="with --whole: the call limit (default: the product's own)",
    )
    parser.add_argument(
        "--parts", type=int, default=1_000, help="with --pages: of a batch (%(default)s)"
    )
    parser.add_argument(
        "--batches", type=int, default=10_000, help="with --pages: small ones (%(default)s)"
    )
    parser.add_argument(
        "--database-url",
        default="",
        help="with --pages, --watchers and --choosing: an empty database in place of SQLite",
    )


def _measure(options: dict[str, Any], say: Say) -> None:
    rows, repeat, database = options["rows"], options["repeat"], options["database_url"]
    if options["all"]:
        everything.measure(options["all"], say, record=options["record"])
    elif options["pages"]:
        pages.measure(
            rows=rows or 1_000_000,
            parts=options["parts"],
            batches=options["batches"],
            repeat=repeat,
            say=say,
            database=database,
        )
    elif options["watchers"]:
        watchers.measure(options["watchers"], say, database=database)
    elif options["small"]:
        small.measure(rows or 100, repeat, say)
    elif options["idle"]:
        idle.measure(say)
    elif options["choosing"]:
        choosing.measure(repeat, say, database=database)
    elif options["format"]:
        files.measure(options["format"], rows or 100_000, repeat, say)
    elif options["slow_clients"]:
        slow.measure(options["slow_clients"], say)
    elif options["whole"]:
        limit = options["calls_per_5_minutes"]
        whole.measure(rows or 100_000, repeat, say, calls_per_5_minutes=limit)
    else:
        compare.compare(rows or 100_000, repeat, say)
