"""Running `manage.py submit` beside a worker, and `manage.py download`."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
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


class Called:
    """One run of a command: exit status, and what it wrote."""

    def __init__(self, command: Any, *words: str, err: io.StringIO | None = None) -> None:
        out, err = io.StringIO(), err or io.StringIO()
        self.status = 0
        try:
            call_command(command, *words, stdout=out, stderr=err)
        except SystemExit as ended:
            self.status = int(ended.code or 0)
        self.out, self.err = out.getvalue(), err.getvalue()


class Ran(Called):
    """One run of `submit`."""

    def __init__(self, file: Path, *options: str, model: str = MODEL) -> None:
        super().__init__(Submit(), str(file), "--model", model, *options)


class Terminal(io.StringIO):
    """What somebody sees who runs a command in a terminal."""

    def isatty(self) -> bool:
        return True


def written(folder: Path, content: bytes, name: str = "texts.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def workbook(folder: Path, sheets: Mapping[str, list[list[Any]]], name: str = "May.xlsx") -> Path:
    """A workbook with these sheets, as openpyxl writes it."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(folder / name)
    return folder / name
