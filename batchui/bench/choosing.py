"""`manage.py bench --choosing`: what it costs to choose work among many parts.

The parts are made in a folder that is thrown away, and the questions asked in a process of its own
(`choosing_times.py`).
"""

from batchui.batches.phrases import Say
from batchui.bench.figures import Figures, unit_seconds
from batchui.bench.own_process import lines_of

MODULE = "batchui.bench.choosing_times"
# The question that has all others.
WHOLE = "all of next_work"


def measure(repeat: int, say: Say, *, database: str = "") -> Figures:
    """Print the CPU milliseconds of each question, for each state that the parts may be in.

    Returns what choosing takes, in units of work. database: the address of an empty one; "" for
    SQLite. Raises BenchFailed.
    """
    unit, parts, found = unit_seconds(), "", Figures()
    rounds = max(repeat, 9)
    for line in lines_of(MODULE, rounds, what="Choosing", database=database):
        if "parts" in line:
            parts = line["parts"]
            say(f"\n{line['parts']} ({line['database']}; medians of {rounds})")
            say(f"{'CPU ms':32}{'median':>9}{'slowest':>9}")
        else:
            if line["question"] == WHOLE:
                found[f"choosing, {parts}, units"] = line["median"] / unit
            say(f"{line['question']:32}{1000 * line['median']:9.1f}{1000 * line['worst']:9.1f}")
    return found
