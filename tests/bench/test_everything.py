"""Whatever is measured is held against what is recorded."""

from contextlib import nullcontext

import pytest

from batchui.bench import everything
from batchui.bench.figures import unit_seconds
from batchui.bench.surroundings import BenchFailed

RECORDED = {"a script, by CPU": 2.0, "disk, MB": 100.0, "errors, calls": 0.0}


def worse(found: dict[str, float], size: str = "weekly") -> list[str]:
    return everything.held_against(RECORDED, found, size, lambda _: None)


def test_what_is_as_recorded_or_better_is_well() -> None:
    assert worse(RECORDED) == []
    assert worse({"a script, by CPU": 1.0, "disk, MB": 1.0}) == []
    assert worse({"a script, by CPU": 2.19, "disk, MB": 109.0}) == []


def test_a_tenth_more_is_a_regression_and_is_named() -> None:
    assert worse({"a script, by CPU": 2.21}) == ["“a script, by CPU”, 2.21 in place of 2.00"]
    assert worse({"disk, MB": 111.0}) == ["“disk, MB”, 111.00 in place of 100.00"]
    assert worse({"errors, calls": 1.0}) != []


def test_at_the_small_size_the_clock_may_say_half_as_much_again() -> None:
    assert worse({"a script, by CPU": 2.9}, "small") == []
    assert len(worse({"a script, by CPU": 3.1}, "small")) == 1
    assert len(worse({"disk, MB": 111.0}, "small")) == 1  # which is counted, not timed


@pytest.mark.parametrize(
    ("values", "fails"), [([1.0], False), ([3.0, 1.0], False), ([3.0, 3.1], True)]
)
def test_what_seems_worse_is_measured_once_more(
    monkeypatch: pytest.MonkeyPatch, values: list[float], fails: bool
) -> None:
    coming = iter(values)
    figures = lambda _: {"a script, by CPU": next(coming), "disk, MB": 90.0}  # noqa: E731
    monkeypatch.setattr(everything, "_measurements", lambda _: [figures])
    monkeypatch.setattr(everything, "read", lambda: {"weekly": RECORDED})
    with pytest.raises(BenchFailed, match="by CPU”, 3") if fails else nullcontext():
        everything.measure("weekly", lambda _: None)
    assert next(coming, None) is None


def test_a_figure_that_is_not_recorded_is_not_passed_over() -> None:
    assert worse({"new": 1.0}) == ["“new” is not recorded"]


def test_the_small_size_is_recorded_with_figures_of_every_measurement() -> None:
    recorded = everything.read()
    assert set(recorded) <= set(everything.SIZES)
    for of in ("script", "disk", "all pages", "a small batch", "at rest", "a poll", "choosing"):
        assert any(of in name for name in recorded["small"]), of


def test_what_is_recorded_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("recorded") / "recorded.toml"
    monkeypatch.setattr(everything, "RECORDED", file)
    everything.write({"small": RECORDED, "weekly": {"a “quoted” name, MB": 123.456}})
    assert everything.read() == {"small": RECORDED, "weekly": {"a “quoted” name, MB": 123.5}}


def test_the_unit_of_work_is_a_few_milliseconds_of_cpu_time() -> None:
    assert 0.001 < unit_seconds() < 0.2
