"""The product's own path, timed step by step in one process: intake, cutting, sending and storing,
export. What the pages and the workers call, without their pauses.

    python -m batchui.bench.product INPUT.csv OUTPUT.csv

Settings come from the environment (`manage.py bench` sets them). Prints one line of JSON.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

PROMPT = "Say in one sentence what the guest liked and disliked: {{review}}"


def main(source: str, target: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()
    from django.core.files.base import File
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

    from batchui.batches import decisions, intake
    from batchui.batches.exporting import csv_plain
    from batchui.batches.models import Batch
    from batchui.cloudflare import catalogue
    from batchui.prompts.ask import Ask
    from batchui.teams.founding import first_team
    from batchui.worker import tick

    team = first_team()
    model = next(model for model in catalogue.models() if model.item_format == "messages")
    steps: dict[str, float] = {}
    with timed(steps, "intake"), open(source, "rb") as upload:
        upload_file = File(upload, Path(source).name)
        batch = intake.receive(upload_file, team=team, by=None, check_now=True)
    with timed(steps, "cutting"):
        decisions.start(
            batch, by=None, ask=Ask(model=model.name, template=PROMPT), prepare_now=True
        )
    with timed(steps, "sending and storing"):
        while not (batch := Batch.objects.get(pk=batch.pk)).has_ended:
            tick.run_tick()
    with timed(steps, "export"), open(target, "wb") as out:
        for chunk in csv_plain(batch):
            out.write(chunk)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {"steps": steps, "peak_mb": peak, "answered": batch.answered, "rows": batch.rows}
    sys.stdout.write(json.dumps(result) + "\n")


@contextmanager
def timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Note how many seconds the block took."""
    began = time.perf_counter()
    yield
    steps[name] = time.perf_counter() - began


if __name__ == "__main__":
    main(*sys.argv[1:])
