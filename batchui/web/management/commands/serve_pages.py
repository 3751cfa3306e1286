"""`manage.py serve_pages`: the web server itself; `up` and `serve` start it."""

import sys
import tempfile
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.urls import get_resolver

from batchui.commands import ExactCommand
from batchui.processes import memory, serving
from batchui.processes.web_server import DEBUG_FOR_OTHERS, LOOPBACK, PROCESSES, THREADS


class Command(ExactCommand):
    help = "The web server. Use `up`, or `serve`, which checks the settings first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--seconds-to-stop", type=float, default=5)

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DEBUG and options["host"] not in LOOPBACK:
            sys.exit(DEBUG_FOR_OTHERS)
        # Before the processes fork, so that they share the memory of all code.
        get_resolver().url_patterns  # noqa: B018  imports all pages
        memory.share_with_forks()
        try:
            status = serving.serve(
                site,
                host=options["host"],
                port=options["port"],
                processes=PROCESSES,
                threads=THREADS,
                seconds_to_stop=options["seconds_to_stop"],
            )
        except OSError as error:
            host, port = options["host"], options["port"]
            sys.exit(f"The web server cannot listen on {host}, port {port}: {error.strerror}.")
        sys.exit(status)


def site() -> serving.Site:
    """The application, with its limits."""
    from batchui.web.body_limits import may_send, most_bytes
    from batchui.wsgi import application

    # Where there is room for uploads; only then, because this makes the folder.
    tempfile.tempdir = str(settings.FILE_UPLOAD_TEMP_DIR)
    return serving.Site(application, most_bytes, may_send, behind_proxy=settings.SECURE_PROXY)
