"""`manage.py bench --all`: every measurement once more, held against what is recorded.

`recorded.toml` has the figures of a quiet machine with two cores, for each size: `small`, as
`.ci/run` does it beside other work, and `weekly`. One that is a tenth worse is a regression, and so
fails; where the size is small, and a figure depends on the clock, half as much again.
`--record` writes down what is found.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from batchui.batches.phrases import Say
from batchui.bench import choosing, compare, idle, pages, small, watchers
from batchui.bench.figures import Figures
from batchui.bench.surroundings import BenchFailed

RECORDED = Path(__file__).with_name("recorded.toml")
# A figure may be so many times what is recorded: one that is counted, and one that is timed.
COUNTED, TIMED = 1.1, {"small": 1.5, "weekly": 1.1}
# How the name of a figure ends that is counted: it is the same on any machine.
ARE_COUNTED = ("bytes", "calls", "queries", "MB")


@dataclass(frozen=True)
class Size:
    """How much is measured. Seconds: of rest, and of watching."""

    rows: int
    repeat: int
    page_rows: int
    parts: int
    batches: int
    small_batches: int
    idle_seconds: float
    watchers: int
    watching_seconds: float


SIZES = {
    "small": Size(100_000, 1, 2_000, 20, 500, 2, 10, 100, 4),
    "weekly": Size(1_000_000, 3, 1_000_000, 1_000, 10_000, 9, 60, 1_000, 20),
}


def measure(size: str, say: Say, *, record: bool = False) -> None:
    """Measure everything and print each figure beside the recorded one. Raises BenchFailed.

    What seems worse is measured twice, and the better figures count: other work may have held up
    the first time. record: writes down what was found, and fails for none.
    """
    recorded, found = read().get(size, {}), Figures()
    for one in _measurements(SIZES[size]):
        figures = one(say)
        if not record and any(is_worse(recorded, name, figures[name], size) for name in figures):
            say("\nThat seems worse than what is recorded. Once more:\n")
            again = one(say)
            figures = {name: min(value, again[name]) for name, value in figures.items()}
        found |= figures
        say("")
    if record:
        write({**read(), size: found})
        return
    worse = held_against(recorded, found, size, say)
    if worse:
        raise BenchFailed(f"Worse than what is recorded: {'; '.join(worse)}.")


def _measurements(size: Size) -> list[Callable[[Say], Figures]]:
    return [
        lambda say: compare.compare(size.rows, size.repeat, say),
        lambda say: pages.measure(
            rows=size.page_rows, parts=size.parts, batches=size.batches, repeat=3, say=say
        ),
        lambda say: choosing.measure(9, say),
        lambda say: small.measure(100, size.small_batches, say),
        lambda say: idle.measure(say, seconds=size.idle_seconds),
        lambda say: watchers.measure(size.watchers, say, seconds=size.watching_seconds),
    ]


def held_against(recorded: Figures, found: Figures, size: str, say: Say) -> list[str]:
    """Print both, and return what is worse, in words. A figure that is not recorded is worse."""
    worse = []
    say(f"{'':56}{'recorded':>12}{'found':>12}{'ratio':>8}")
    for name, value in found.items():
        before = recorded.get(name)
        if before is None:
            worse.append(f"“{name}” is not recorded")
            continue
        mark = "  worse" if is_worse(recorded, name, value, size) else ""
        say(f"{name:56}{before:12,.2f}{value:12,.2f}{_ratio(before, value):8.2f}{mark}")
        if mark:
            worse.append(f"“{name}”, {value:,.2f} in place of {before:,.2f}")
    return worse


def is_worse(recorded: Figures, name: str, value: float, size: str) -> bool:
    """Whether a figure is more than it may be; one that is not recorded is not."""
    most = COUNTED if name.endswith(ARE_COUNTED) else TIMED[size]
    return name in recorded and _ratio(recorded[name], value) > most


def _ratio(before: float, value: float) -> float:
    return value / before if before else 1.0 if not value else float("inf")


def read() -> dict[str, Figures]:
    """The recorded figures, by size."""
    return tomllib.loads(RECORDED.read_text())


def write(recorded: Mapping[str, Figures]) -> None:
    """Record figures, by size."""
    lines = [
        "# Written by `manage.py bench --all SIZE --record`, on a quiet machine with two cores."
    ]
    for size, figures in recorded.items():
        lines += ["", f"[{size}]"]
        lines += [f'"{name}" = {value:.4g}' for name, value in figures.items()]
    RECORDED.write_text("\n".join([*lines, ""]))
