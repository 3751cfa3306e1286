"""Figures of a measurement by name, which `everything.py` holds against recorded ones.

Most are ratios: what another machine, or a slower hour of this one, does to a time it does to the
time of `unit_seconds`, too.
"""

import json
import time

Figures = dict[str, float]

ROUNDS = 5


def unit_seconds() -> float:
    """The CPU seconds of a fixed piece of work in Python, the best of some rounds: about 0.01."""
    return min(_one_round() for _ in range(ROUNDS))


def _one_round() -> float:
    began = time.thread_time()
    rows = [{"number": number, "text": f"text {number}" * 3} for number in range(3_000)]
    for text in [json.dumps(row) for row in rows]:
        json.loads(text)
    return time.thread_time() - began
