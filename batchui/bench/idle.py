"""`manage.py bench --idle`: what the product takes while nothing happens.

`manage.py up` runs with everything that it can run, the sandbox included, and without a batch.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batchui.batches.phrases import Say
from batchui.bench.figures import Figures
from batchui.bench.running import Product, running_product
from batchui.bench.surroundings import running_api
from batchui.processes import procfs

# From the first page until nothing is left of the start, and then for how long.
SECONDS_UNTIL_QUIET, SECONDS = 15.0, 60.0


@dataclass(frozen=True)
class Resting:
    """A process that rests. cpu: its share of a core. resident, share: see `memory_bytes`."""

    kind: str
    cpu: float
    resident: int
    share: int


def measure(
    say: Say, *, until_quiet: float = SECONDS_UNTIL_QUIET, seconds: float = SECONDS
) -> Figures:
    """Print CPU share and memory of each process, and of all. Raises BenchFailed.

    Returns those of all.
    """
    with (
        tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder,
        running_api() as api,
        running_product(Path(folder, "data"), api) as product,
    ):
        time.sleep(until_quiet)
        found = watched(product, seconds)
    say(f"Everything runs and nothing happens, for {seconds:g} s.\n")
    say(f"{'':32}{'% of a core':>12}{'MB':>9}{'share MB':>10}")
    for one in sorted(found, key=lambda one: one.kind):
        _line(one.kind, [one], say)
    _line(f"all {len(found)} processes", found, say)
    say("MB: what a process has in memory. Share: a page of several processes counts once in all.")
    return {
        "at rest, % of a core": 100 * sum(one.cpu for one in found),
        "at rest, MB": sum(one.share for one in found) / 1e6,
    }


def watched(product: Product, seconds: float) -> list[Resting]:
    """Every process that was there for so many seconds."""
    before = {pid: procfs.cpu_seconds(pid) for pid, _ in product.all_processes()}
    began = time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - began
    return [
        Resting(kind, (procfs.cpu_seconds(pid) - before[pid]) / lasted, *procfs.memory_bytes(pid))
        for pid, kind in product.all_processes()
        if pid in before
    ]


def _line(name: str, found: Sequence[Resting], say: Say) -> None:
    cpu, resident, share = (
        sum(values)
        for values in zip(*((one.cpu, one.resident, one.share) for one in found), strict=True)
    )
    say(f"{name:32}{100 * cpu:12.2f}{resident / 1e6:9.0f}{share / 1e6:10.0f}")
