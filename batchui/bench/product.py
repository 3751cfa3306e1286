"""The product, step by step: intake, cutting, sending and storing, export.

It calls what the pages and the workers call, without their pauses. Sending and storing is done by
two processes, as many as a worker has; the other one is this module as a program. It is the only
module of the bench that imports the product. `stopwatch.py` runs it; settings come from the
environment (`surroundings.py`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from batchui.bench.question import MAX_TOKENS, MODEL, TEMPLATE
from batchui.processes import procfs

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
READY = "ready"
SECONDS_BETWEEN_TICKS = 0.02

# Processes that `main` waits for, and the most memory that each had, in bytes.
others: list[subprocess.Popen[str]] = []
other_peaks: list[int] = []


def make_tables() -> None:
    """Make the tables, and read the settings."""
    subprocess.run([sys.executable, MANAGE, "migrate", "--verbosity", "0"], check=True)
    _read_settings()


def prepare(*_: str) -> None:
    """Make the tables, and start the other process, as the product does."""
    make_tables()
    other = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    others.append(other)
    if other.stdout is None or other.stdout.readline().strip() != READY:
        raise RuntimeError("The other process did not start.")
    _warm_up()


def _read_settings() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()


def _warm_up() -> None:
    """Be like a worker that has worked before, and found nothing to do now."""
    import httpcore  # noqa: F401  what httpx imports in the first request

    from batchui.processes import memory
    from batchui.worker import tick

    memory.give_back_what_was_large()
    tick.run_tick()
    memory.share_with_forks()


def main(source: str, target: str) -> dict[str, float]:
    """Take a file from its upload to its download. Returns the seconds of each step."""
    from django.core.files.base import File

    from batchui.batches import decisions, intake
    from batchui.batches.exporting import csv_plain
    from batchui.batches.models import Batch
    from batchui.prompts.ask import Ask
    from batchui.teams.founding import first_team

    team = first_team()
    steps: dict[str, float] = {}
    with timed(steps, "intake"), open(source, "rb") as upload:
        file = File(upload, Path(source).name)
        batch = intake.receive(file, team=team, by=None, check_now=True)
    with timed(steps, "cutting"):
        asked = Ask(model=MODEL, template=TEMPLATE, max_tokens=MAX_TOKENS)
        decisions.start(batch, by=None, ask=asked, prepare_now=True)
    with timed(steps, "sending and storing"), _with_the_other(str(batch.pk)):
        _work_off(str(batch.pk))
    batch = Batch.objects.get(pk=batch.pk)
    with timed(steps, "export"), open(target, "wb") as out:
        for chunk in csv_plain(batch):
            out.write(chunk)
    _end_the_other()
    return steps


@contextmanager
def _with_the_other(batch_id: str) -> Iterator[None]:
    """Let the other process work at the batch, too, and wait until it finds that it has ended."""
    [other] = others
    assert other.stdin is not None  # noqa: S101
    assert other.stdout is not None  # noqa: S101
    other.stdin.write(f"{batch_id}\n")
    other.stdin.flush()
    yield
    other_peaks.append(int(other.stdout.readline() or 0))


def _end_the_other() -> None:
    """Wait until the other process is gone: its seconds of CPU count, too."""
    [other] = others
    other.communicate()
    if other.returncode:
        raise RuntimeError("The other process failed.")


def _work_off(batch_id: str) -> None:
    """Tick until the batch has ended. Between two looks it waits as a worker does."""
    from batchui.batches.models import Batch
    from batchui.batches.states import ENDED_BATCHES
    from batchui.worker import tick
    from batchui.worker.lingering import Lingering
    from batchui.worker.watchdog import stopping

    while not Batch.objects.filter(pk=batch_id, status__in=ENDED_BATCHES).exists():
        tick.run_tick(linger=Lingering(stopping).wait)
        time.sleep(SECONDS_BETWEEN_TICKS)


@contextmanager
def timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Store in `steps` how many seconds the block took."""
    began = time.perf_counter()
    yield
    steps[name] = time.perf_counter() - began


def be_the_other() -> None:
    """Wait for the id of a batch, work at it to its end, and print the most memory that it took."""
    _read_settings()
    _warm_up()
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    if batch_id := sys.stdin.readline().strip():
        _work_off(batch_id)
        sys.stdout.write(f"{procfs.peak_bytes()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    be_the_other()
