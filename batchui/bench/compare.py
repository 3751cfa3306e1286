"""`manage.py bench`: runs the product and the scripts that a programmer would write, in turn."""

from collections.abc import Mapping, Sequence
from statistics import median

from batchui.batches.phrases import Say
from batchui.bench.figures import Figures
from batchui.bench.sides import BARE, PRODUCT, SIDES, TUNED, Run, Side, run_side
from batchui.bench.workload import rounds_sentence, workload


def compare(rows: int, repeat: int, say: Say) -> Figures:
    """Run every side `repeat` times on the same file of `rows` rows, and print the figures.

    Returns the ratios, each of the best round, and what is counted. Raises BenchFailed if a side
    fails or its result is wrong.
    """
    runs: dict[Side, list[Run]] = {side: [] for side in SIDES}
    with workload(rows, say) as work:
        for _ in range(repeat):
            for side in SIDES:
                runs[side].append(run_side(side, work.source, api=work.api, check=work.check))
    say(f"{rounds_sentence(repeat, load=work.load, order=', the sides in turn')}\n")
    report(rows, runs, say)
    return _figures(runs)


def _figures(runs: Mapping[Side, Sequence[Run]]) -> Figures:
    ours = runs[PRODUCT]
    found: Figures = {}
    for other in (BARE, TUNED):
        pairs = list(zip(ours, runs[other], strict=True))
        name = f"product / {other.name}"
        found[f"{name}, by the clock"] = min(b.seconds / a.seconds for b, a in pairs)
        found[f"{name}, by CPU"] = min(b.cpu_seconds / a.cpu_seconds for b, a in pairs)
    found["product, peak MB"] = max(run.peak_bytes for run in ours) / 1e6
    found["product, calls"] = ours[0].calls
    for when, sizes in ours[-1].disk.items():
        found[f"disk, {when}, MB"] = sum(sizes.values()) / 1e6
    return found


def report(rows: int, runs: Mapping[Side, Sequence[Run]], say: Say) -> None:
    """Print the medians of every side, the ratios, and the product's disk use."""
    heads = ("seconds", "rows/s", "CPU s", "API CPU s", "peak MB", "calls")
    say(" " * 24 + "".join(f"{head:>11}" for head in heads))
    for side, taken in runs.items():
        say(_medians(side, rows, taken))
        for step in taken[0].steps:
            say(_line(f"   {step}", rows, median(run.steps[step] for run in taken)))
    for other in (BARE, TUNED):
        say(f"b/{other.letter} {_ratios(runs[PRODUCT], runs[other])}")
    say("\nDisk use of the product:")
    say_disk(runs[PRODUCT][-1].disk, say)
    for side in runs:
        say(f"{side.letter}: {side.note}.")


def _medians(side: Side, rows: int, taken: Sequence[Run]) -> str:
    return (
        _line(f"{side.letter}  {side.name}", rows, median(run.seconds for run in taken))
        + f"{median(run.cpu_seconds for run in taken):11.2f}"
        + f"{median(run.api_cpu_seconds for run in taken):11.2f}"
        + f"{max(run.peak_bytes for run in taken) / 1e6:11.0f}{taken[0].calls:11,}"
    )


def _ratios(product: Sequence[Run], script: Sequence[Run]) -> str:
    """How many times the script's time the product takes, round by round."""
    pairs = list(zip(product, script, strict=True))
    by_clock = _spread([ours.seconds / theirs.seconds for ours, theirs in pairs])
    by_cpu = _spread([ours.cpu_seconds / theirs.cpu_seconds for ours, theirs in pairs])
    return f"{by_clock} by the clock, {by_cpu} by CPU seconds"


def say_disk(disk: Mapping[str, Mapping[str, int]], say: Say) -> None:
    """Print what `disk_over_time` found, a line for each time."""
    for when, sizes in disk.items():
        say(f"   {when}: {disk_sentence(sizes)}")


def disk_sentence(disk: Mapping[str, int]) -> str:
    """The megabytes in all and by kind, as a sentence."""
    kinds = ", ".join(f"{kind} {size / 1e6:,.1f}" for kind, size in disk.items())
    return f"{sum(disk.values()) / 1e6:,.1f} MB ({kinds})."


def _line(name: str, rows: int, seconds: float) -> str:
    return f"{name:24}{seconds:11.2f}{rows / seconds:11,.0f}"


def _spread(ratios: Sequence[float]) -> str:
    """The median of ratios, with the smallest and the largest."""
    if len(ratios) == 1:
        return f"{ratios[0]:.2f}"
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
