"""The product, step by step in one process: intake, cutting, sending and storing, export.

It calls what the pages and the workers call, without their pauses. It is the only module of the
bench that imports the product. `stopwatch.py` runs it; settings come from the environment
(`surroundings.py`).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from batchui.bench.question import MAX_TOKENS, MODEL, TEMPLATE


def prepare(*_: str) -> None:
    """Read the settings and make the tables, as the start of the product does."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def main(source: str, target: str) -> dict[str, float]:
    """Take a file from its upload to its download. Returns the seconds of each step."""
    from django.core.files.base import File

    from batchui.batches import decisions, intake
    from batchui.batches.exporting import csv_plain
    from batchui.batches.models import Batch
    from batchui.prompts.ask import Ask
    from batchui.teams.founding import first_team
    from batchui.worker import tick

    team = first_team()
    steps: dict[str, float] = {}
    with timed(steps, "intake"), open(source, "rb") as upload:
        file = File(upload, Path(source).name)
        batch = intake.receive(file, team=team, by=None, check_now=True)
    with timed(steps, "cutting"):
        asked = Ask(model=MODEL, template=TEMPLATE, max_tokens=MAX_TOKENS)
        decisions.start(batch, by=None, ask=asked, prepare_now=True)
    with timed(steps, "sending and storing"):
        while not (batch := Batch.objects.get(pk=batch.pk)).has_ended:
            tick.run_tick()
    with timed(steps, "export"), open(target, "wb") as out:
        for chunk in csv_plain(batch):
            out.write(chunk)
    return steps


@contextmanager
def timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Store in `steps` how many seconds the block took."""
    began = time.perf_counter()
    yield
    steps[name] = time.perf_counter() - began
