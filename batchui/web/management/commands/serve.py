"""`manage.py serve`: serves only the web pages, for a `Procfile`."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from batchui.commands import ExactCommand
from batchui.gathering import gather_static_files
from batchui.processes.web_server import web_server
from batchui.worker.database import why_not_ready

# A platform waits half a minute before it kills a process that does not stop.
SECONDS_TO_STOP = 20


class Command(ExactCommand):
    help = "Serve the web pages. Background work is `manage.py worker`; `up` runs both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on")

    def handle(self, *args: Any, **options: Any) -> None:
        if problem := why_not_ready():
            raise CommandError(f"{problem} `manage.py migrate` prepares the database alone.")
        call_command("check", databases=["default"])
        gather_static_files()
        server = web_server(
            sys.executable,
            root=settings.BASE_DIR,
            host=options["host"],
            port=options["port"],
            seconds_to_stop=SECONDS_TO_STOP,
        )
        os.execv(server[0], server)  # noqa: S606
