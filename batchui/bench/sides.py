"""The sides of the bench, and one run of one of them."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchui.bench.check import Check
from batchui.bench.disk import disk_over_time
from batchui.bench.own_process import output_of
from batchui.bench.surroundings import (
    Api,
    bring_tables,
    clean_environment,
    product_environment,
)


@dataclass(frozen=True)
class Side:
    """One competitor: its letter, its name, its module with `main`, and a note that is printed
    with the figures."""

    letter: str
    name: str
    module: str
    note: str


BARE = Side(
    "a",
    "streaming script",
    "batchui.bench.bare",
    "csv, json, httpx; one connection, kept; one call at a time; stores only its result",
)
TUNED = Side(
    "t",
    "tuned script",
    "batchui.bench.tuned",
    "csv, msgspec, http.client; 4 threads, a kept connection each; stores only its result",
)
PRODUCT = Side(
    "b",
    "product",
    "batchui.bench.product",
    "two processes, as a worker has, with up to 8 threads each; a new connection for each "
    "submission; keeps upload, rows, answers and "
    "replies, each with fsync, and every step in SQLite (synchronous=FULL); waits 0.05 s before it "
    "polls; without upload over HTTP, queue and call limit (see --whole)",
)
SIDES = (BARE, TUNED, PRODUCT)


@dataclass(frozen=True)
class Run:
    """The figures of one run. calls: submissions and polls. steps, disk: of the product only.

    disk: as `disk_over_time` gives it.

    `cpu_seconds` do not include those of the imitation of the API.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    api_cpu_seconds: float
    calls: int
    steps: Mapping[str, float] = field(default_factory=dict)
    disk: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def run_side(side: Side, source: Path, *, api: Api, check: Check) -> Run:
    """Run a side in a process and a folder of its own, and check its result. Raises BenchFailed."""
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        data, result = Path(folder, "data"), Path(folder, "result.csv")
        if side is PRODUCT:
            bring_tables(data)
        called, api_cpu = sum(api.calls()), api.cpu_seconds()
        environment = product_environment(
            data, api, BATCHUI_CALLS_PER_5_MINUTES="1000000", BATCHUI_FIRST_POLL_SECONDS="0.05"
        )
        if side is PRODUCT:
            found = measured(side.name, side.module, [source, result], environment)
        else:
            found = measured(
                side.name, side.module, [source, result, api.model_address], clean_environment()
            )
        api_cpu, called = api.cpu_seconds() - api_cpu, sum(api.calls()) - called
        check.result(side.name, result)
        return Run(
            seconds=found["seconds"],
            cpu_seconds=found["cpu_seconds"],
            peak_bytes=found["peak_bytes"],
            api_cpu_seconds=api_cpu,
            calls=called,
            steps=found["details"],
            disk=disk_over_time(data, environment) if side is PRODUCT else {},
        )


def measured(
    name: str, module: str, arguments: Sequence[object], environment: Mapping[str, str]
) -> dict[str, Any]:
    """What the stopwatch prints about a module that runs in a process of its own.

    name: of the side. Raises BenchFailed if it fails.
    """
    lines = output_of(
        "batchui.bench.stopwatch",
        module,
        *arguments,
        what=f"The {name}",
        environment=environment,
    )
    found: dict[str, Any] = json.loads(lines[-1])
    return found
