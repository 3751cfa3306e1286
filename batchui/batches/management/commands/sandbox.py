"""`manage.py sandbox`: the built-in Batch API (see `batchui.sandbox`)."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from batchui import data_folder
from batchui.sandbox.options import Options, add_arguments
from batchui.sandbox.server import serve


class Command(BaseCommand):
    help = "Run a local Batch API for trying and testing. No AI model runs in it."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, data=settings.DATA / "sandbox.sqlite3")

    def handle(self, *args: Any, **options: Any) -> None:
        data_folder.make()
        given = Options(data=options["data"])
        sys.exit(serve(host=options["host"], port=options["port"], options=given))
