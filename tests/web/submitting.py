"""Running `manage.py submit` beside a worker."""

import io
from pathlib import Path

from django.core.management import call_command

from batchui.web.management.commands.submit import Command
from tests.batches.conftest import MODEL, poll_all, send_all

PROMPT = ("--prompt", "Summarise: {{text}}")
TRANSLATION = "@cf/meta/m2m100-1.2b"


def work_a_little(_seconds: float) -> None:
    """What a worker does while the command waits."""
    send_all()
    poll_all()


class Submit(Command):
    """The command, beside a worker."""

    pause = staticmethod(work_a_little)


class Ran:
    """One run of the command: exit status, and what it wrote."""

    def __init__(self, file: Path, *options: str, model: str = MODEL) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.status = 0
        try:
            call_command(Submit(), str(file), "--model", model, *options, stdout=out, stderr=err)
        except SystemExit as ended:
            self.status = int(ended.code or 0)
        self.out, self.err = out.getvalue(), err.getvalue()


def written(folder: Path, content: bytes, name: str = "texts.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
