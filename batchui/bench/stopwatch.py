"""Runs one side of the bench and prints its figures, as one line of JSON.

    python -m batchui.bench.stopwatch MODULE ARGUMENT…

The module's `prepare(ARGUMENT…)`, if it has one, runs before the clock starts; then
`main(ARGUMENT…)` runs.
The result of `main` (a dictionary or None) is printed too. So `seconds` and `cpu_seconds` (user and
system, with children) do not include starting Python and importing. Nor do they include those of
the module's `others`, if it has such a list: processes that `prepare` has started and `main` waits
for. `peak_bytes` is the largest memory of one process, this one or one of the module's
`other_peaks`: the kernel's VmHWM, because `ru_maxrss` also counts the memory of the parent when it
forked. Of other children that ended, it is all there is: `largest_child_bytes` is at least what
this process had when it started them, and 0 if there were none.
"""

import importlib
import json
import resource
import sys
import time

from batchui.processes import procfs


def main(name: str, *arguments: str) -> None:
    side = importlib.import_module(name)
    if hasattr(side, "prepare"):
        side.prepare(*arguments)
    others = sum(procfs.cpu_seconds(one.pid) for one in getattr(side, "others", ()))
    cpu, began = cpu_seconds() + others, time.perf_counter()
    details = side.main(*arguments)
    seconds = time.perf_counter() - began
    result = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds() - cpu,
        "peak_bytes": max([procfs.peak_bytes(), *getattr(side, "other_peaks", ())]),
        "largest_child_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        "details": details or {},
    }
    sys.stdout.write(f"{json.dumps(result)}\n")


def cpu_seconds() -> float:
    """User and system time of this process and of its children that ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in who]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main(*sys.argv[1:])
