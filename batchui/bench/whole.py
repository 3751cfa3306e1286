"""`manage.py bench --whole`: one batch from upload to download through `manage.py up`.

Everything except the API is real: web server, worker, queue, session, call limit, and a person who
sends what a browser would send. Nobody watches the page; the progress of the batch is read from the
database.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from batchui.batches.phrases import Say
from batchui.bench.check import Check
from batchui.bench.compare import say_disk
from batchui.bench.disk import disk_over_time
from batchui.bench.person import Person
from batchui.bench.running import Used, running_product
from batchui.bench.surroundings import Api, product_environment
from batchui.bench.workload import rounds_sentence, workload


@dataclass(frozen=True)
class Journey:
    """The figures of one batch: seconds of each leg, calls, bytes on disk, use of processes."""

    legs: Mapping[str, float]
    submitted: int
    polled: int
    api_cpu_seconds: float
    disk: Mapping[str, Mapping[str, int]]
    used: Mapping[str, Used]


def measure(rows: int, repeat: int, say: Say, *, calls_per_5_minutes: int | None = None) -> None:
    """Take a file of `rows` rows through a new product `repeat` times, and print the figures.

    Raises BenchFailed if the product fails or the download is wrong.
    """
    with workload(rows, say) as work:
        journeys = [
            take_through(
                work.source,
                api=work.api,
                check=work.check,
                calls_per_5_minutes=calls_per_5_minutes,
            )
            for _ in range(repeat)
        ]
    limit = "its own"
    if calls_per_5_minutes is not None:
        limit = f"{calls_per_5_minutes:,} calls in 5 minutes"
    say(rounds_sentence(repeat, load=work.load))
    say(f"Call limit of the product: {limit}.\n")
    report(journeys, say)


def take_through(
    source: Path, *, api: Api, check: Check, calls_per_5_minutes: int | None = None
) -> Journey:
    """Take a file through a product that is started for it. Raises what `measure` raises."""
    limit = {}
    if calls_per_5_minutes is not None:
        limit["BATCHUI_CALLS_PER_5_MINUTES"] = str(calls_per_5_minutes)
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        data, result = Path(folder, "data"), Path(folder, "result.csv")
        calls, api_cpu = api.calls(), api.cpu_seconds()
        with (
            running_product(data, api, from_nothing=True, **limit) as product,
            Person(product) as person,
        ):
            legs = person.take(source, result)
            used = product.used()
        check.result("product", result)
        submitted, polled = (now - before for now, before in zip(api.calls(), calls, strict=True))
        return Journey(
            legs={"start of the product": product.seconds_to_start, **legs},
            submitted=submitted,
            polled=polled,
            api_cpu_seconds=api.cpu_seconds() - api_cpu,
            disk=disk_over_time(data, product_environment(data, api)),
            used=used,
        )


def report(journeys: Sequence[Journey], say: Say) -> None:
    """Print the medians of every leg, the use of processes, and the last journey's disk use."""
    last = journeys[-1]
    say(f"{'':32}{'seconds':>9}")
    for leg in last.legs:
        say(f"{leg:32}{median(journey.legs[leg] for journey in journeys):9.3f}")
    say(f"\nCalls: {last.submitted:,} submissions, {last.polled:,} polls.")
    say(f"\n{'':32}{'CPU s':>9}{'peak MB':>9}{'processes':>11}")
    for kind in sorted(last.used):
        used = [journey.used[kind] for journey in journeys if kind in journey.used]
        cpu = median(one.cpu_seconds for one in used)
        peak = max(one.peak_bytes for one in used)
        say(f"{kind:32}{cpu:9.1f}{peak / 1e6:9.0f}{used[-1].processes:11}")
    api = median(journey.api_cpu_seconds for journey in journeys)
    say(f"{'(imitation of the API)':32}{api:9.1f}")
    say("\nDisk use:")
    say_disk(last.disk, say)
    say(
        "Peak: of the largest process of a kind. The person and the imitation of the API have "
        "their share of the same cores; nobody watches the page meanwhile."
    )
