"""`manage.py bench`: what the product costs, compared with scripts that do the same."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from batchui.batches.phrases import Say
from batchui.bench import compare, files, pages, slow, watchers, whole
from batchui.bench.surroundings import BenchFailed
from batchui.commands import ExactCommand
from batchui.processes import procfs


class Command(ExactCommand):
    help = (
        "Measure (a) a streaming script, (t) a tuned script and (b) the product's own path on the "
        "same file against the same imitation of the API, and print the ratios b/a and b/t. With "
        "--whole: only the product, from upload to download, through all its processes. With "
        "--format: reading and writing of files, beside the bare library. With --pages: what each "
        "page costs beside many rows, parts and batches. With --watchers: what people cost who "
        "watch pages."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rows", type=int, help="rows of the file (100,000; with --pages 1,000,000)"
        )
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
        parser.add_argument(
            "--pages", action="store_true", help="only this: what each page costs beside much data"
        )
        parser.add_argument(
            "--parts", type=int, default=1_000, help="with --pages: of a batch (%(default)s)"
        )
        parser.add_argument(
            "--batches", type=int, default=10_000, help="with --pages: small ones (%(default)s)"
        )
        parser.add_argument(
            "--watchers", type=int, metavar="N", help="only this: N people who watch pages"
        )
        parser.add_argument(
            "--database-url",
            default="",
            help="with --pages or --watchers: an empty database in place of SQLite",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["rows"] is None:
            options["rows"] = 1_000_000 if options["pages"] else 100_000
        _refuse(options)
        if not procfs.is_there():
            raise CommandError("The bench reads memory and CPU time from /proc: run it on Linux.")
        try:
            _measure(options, self.stdout.write)
        except BenchFailed as reason:
            raise CommandError(str(reason)) from None


def _refuse(options: dict[str, Any]) -> None:
    """Raise CommandError for options that cannot be measured, or not together."""
    clients, form = options["slow_clients"], options["format"]
    if options["rows"] < 1 or options["repeat"] < 1:
        raise CommandError("--rows and --repeat must be at least 1.")
    if options["calls_per_5_minutes"] is not None and not options["whole"]:
        raise CommandError(
            "Use --calls-per-5-minutes only with --whole; without it there is no limit."
        )
    if clients is not None and clients < 1:
        raise CommandError("--slow-clients must be at least 1.")
    if form and (clients is not None or options["whole"]):
        raise CommandError("Use --format without --whole and --slow-clients.")
    if options["pages"] and (form or clients is not None or options["whole"]):
        raise CommandError("Use --pages without --format, --whole and --slow-clients.")
    if options["watchers"] is not None:
        if options["watchers"] < 1:
            raise CommandError("--watchers must be at least 1.")
        if options["pages"] or form or clients is not None or options["whole"]:
            raise CommandError("Use --watchers without any other kind of measurement.")
    if options["parts"] < 1 or options["batches"] < 1:
        raise CommandError("--parts and --batches must be at least 1.")


def _measure(options: dict[str, Any], say: Say) -> None:
    rows, repeat = options["rows"], options["repeat"]
    if options["pages"]:
        pages.measure(
            rows=rows,
            parts=options["parts"],
            batches=options["batches"],
            repeat=repeat,
            say=say,
            database=options["database_url"],
        )
    elif options["watchers"]:
        watchers.measure(options["watchers"], say, database=options["database_url"])
    elif options["format"]:
        files.measure(options["format"], rows, repeat, say)
    elif options["slow_clients"]:
        slow.measure(options["slow_clients"], say)
    elif options["whole"]:
        whole.measure(rows, repeat, say, calls_per_5_minutes=options["calls_per_5_minutes"])
    else:
        compare.compare(rows, repeat, say)
