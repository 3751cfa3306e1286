"""`manage.py sandbox`: the built-in Batch API (see `batchui.sandbox`)."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from batchui import data_folder
from batchui.commands import ExactCommand
from batchui.sandbox.options import Options, add_arguments
from batchui.sandbox.server import serve
from batchui.sandbox.upstream.settings import from_environment
from batchui.teams.connections import sandbox_token

WHO_MAY_CALL = (
    "It answers to batchui with the same SECRET_KEY (or the same data folder). For other programs "
    "set BATCHUI_SANDBOX_TOKEN, here and where batchui runs; they send it as “Authorization: "
    "Bearer …”.\n"
)


class Command(ExactCommand):
    help = (
        "Run a local Batch API. Its answers are made up, unless SANDBOX_UPSTREAM_URL names a model "
        "server to ask."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, data=settings.DATA / "sandbox.sqlite3")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            upstream = from_environment()
        except ValueError as exc:
            raise CommandError(str(exc), returncode=2) from None
        data_folder.make()
        given = Options(
            token=sandbox_token(),
            control=options["control"],
            binding=options["binding"],
            data=options["data"],
            upstream=upstream,
        )
        host, port = options["host"], options["port"]
        sys.exit(serve(host=host, port=port, options=given, hint=WHO_MAY_CALL))
