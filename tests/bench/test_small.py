"""`manage.py bench --small`, `--idle` and `--choosing`."""

import re

import pytest
from django.core.management import CommandError

from batchui.bench import choosing_times, small
from batchui.bench.idle import measure
from tests.bench.command import bench, by_turns, figures


@pytest.mark.processes
@by_turns
def test_a_small_batch_is_measured_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "API_SECONDS", (0.3,))
    printed = bench("--small", "--rows", "60", "--repeat", "2")
    assert "60 rows; the API answers after 0.3 s." in printed
    steps = [figures(printed, step) for step in ("written", "accepted", "answered", "finished")]
    medians = [median for median, _ in steps]
    assert medians == sorted(medians)
    assert medians[0] > 0
    assert all(median <= slowest for median, slowest in steps)
    beyond = figures(printed, "finished, beyond the API")
    assert beyond[0] == pytest.approx(medians[-1] - 0.3, abs=0.011)
    # Each of its parts is polled at 0.4 s, when it is answered.
    assert re.search(r"Calls of the last round: 3 submissions, [3-6] polls", printed)


@pytest.mark.processes
@by_turns
def test_everything_at_rest_is_measured_process_by_process() -> None:
    said: list[str] = []
    measure(said.append, until_quiet=3, seconds=2)
    printed = "\n".join(said)
    kinds = re.findall(r"^(\S+) +[\d.]+ +\d+ +\d+$", printed, re.M)
    assert {"up", "watchdog", "sandbox", "web", "worker"} == set(kinds)
    _, resident, share = figures(printed, f"all {len(kinds)} processes")
    assert 100 < share < resident


@pytest.mark.processes
@by_turns
def test_choosing_is_measured_question_by_question() -> None:
    printed = bench("--choosing")
    assert printed.count("all of next_work") == len(choosing_times.CASES)
    assert all(case.name in printed for case in choosing_times.CASES)
    for line in printed.splitlines():
        if line.startswith("due_parts"):
            median, slowest = map(float, line.split()[1:])
            assert 0 < median <= slowest


@pytest.mark.parametrize(("one", "other"), [("--small", "--idle"), ("--idle", "--choosing")])
def test_each_is_measured_alone(one: str, other: str) -> None:
    with pytest.raises(CommandError, match="not allowed with"):
        bench(one, other)
