"""`manage.py bench --small`: how long a small batch takes beyond the API's own time.

One product is started for all rounds, and takes batches as `--whole` does, one after another. When
each step was made stands in its database afterwards.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from batchui.batches.phrases import Say
from batchui.bench.check import Check
from batchui.bench.figures import Figures
from batchui.bench.person import Person
from batchui.bench.running import Product, running_product
from batchui.bench.surroundings import DATABASE, running_api
from batchui.bench.texts import Answers, write_reviews
from batchui.bench.workload import rounds_sentence

# How long the imitation of the API works on a request, in seconds.
API_SECONDS = (0.0, 0.6)
# Before a round, so that each begins at another moment of whatever the product does at
# regular times.
PAUSE_SECONDS = 1.37
# The steps of a batch, and which of the times of its requests each is.
STEPS = {
    "written": "MIN(attempt.created_at)",
    "accepted": "MAX(attempt.accepted_at)",
    "answered": "MAX(attempt.finished_at)",
}


@dataclass(frozen=True)
class Round:
    """One batch. steps: the seconds from Start to each. calls: submissions and polls."""

    steps: Mapping[str, float]
    calls: tuple[int, int]


def measure(rows: int, repeat: int, say: Say) -> Figures:
    """Take `repeat` batches of `rows` rows through the product, for each speed of the API.

    Prints medians and the slowest of each step. Returns the medians beyond the API's own time.
    Raises BenchFailed.
    """
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        source = Path(folder, "reviews.csv")
        write_reviews(source, rows)
        check = Check(source, Answers())
        for seconds in API_SECONDS:
            data = Path(folder, f"data-{seconds:g}", "data")
            data.parent.mkdir()
            load = os.getloadavg()[0]
            rounds = _rounds(source, data, check=check, seconds=seconds, repeat=repeat)
            say(f"{rows:,} rows; the API answers after {seconds:g} s.")
            say(f"{rounds_sentence(repeat, load=load)}\n")
            _report(rounds, seconds=seconds, say=say)
            beyond = median(one.steps["finished"] - seconds for one in rounds)
            found[f"a small batch beyond the API of {seconds:g} s, seconds"] = beyond
    return found


def _rounds(source: Path, data: Path, *, check: Check, seconds: float, repeat: int) -> list[Round]:
    result = data.with_name("result.csv")
    rounds = []
    with (
        running_api(seconds) as api,
        running_product(data, api) as product,
        Person(product) as person,
    ):
        # Not counted: it waits for background work, which starts after the pages.
        person.take_and_tell(source, result)
        for number in range(repeat):
            time.sleep(PAUSE_SECONDS)
            before = api.calls()
            pressed, finished = person.take_and_tell(source, result)
            check.result("product", result)
            steps = {**_steps(product, number + 2, since=pressed), "finished": finished}
            submitted, polled = (n - b for n, b in zip(api.calls(), before, strict=True))
            rounds.append(Round(steps, (submitted, polled)))
    return rounds


def _steps(product: Product, number: int, *, since: float) -> dict[str, float]:
    """The seconds from a moment to each of STEPS, of the batch that was made as this one."""
    query = (
        f"SELECT {', '.join(STEPS.values())} FROM batches_attempt attempt "  # noqa: S608
        "JOIN batches_part part ON part.id = attempt.part_id "
        "GROUP BY part.batch_id ORDER BY MIN(attempt.created_at) LIMIT 1 OFFSET ?"
    )
    with closing(sqlite3.connect(product.data / DATABASE, timeout=20)) as database:
        times = database.execute(query, [number - 1]).fetchone()
    moments = (datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() for at in times)
    return {step: at - since for step, at in zip(STEPS, moments, strict=True)}


def _report(rounds: list[Round], *, seconds: float, say: Say) -> None:
    say(f"{'seconds after Start':32}{'median':>9}{'slowest':>9}")
    for step in rounds[-1].steps:
        _line(step, [one.steps[step] for one in rounds], say)
    _line("finished, beyond the API", [one.steps["finished"] - seconds for one in rounds], say)
    submitted, polled = rounds[-1].calls
    say(f"Calls of the last round: {submitted:,} submissions, {polled:,} polls.\n")


def _line(name: str, seconds: list[float], say: Say) -> None:
    say(f"{name:32}{median(seconds):9.2f}{max(seconds):9.2f}")
