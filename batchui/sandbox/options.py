"""How the sandbox is set: timings, limits, and the options of its commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec


class Timings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long a request stays in each state, in seconds.

    Running takes `running` and `per_1000_items` more for each thousand items, at most `longest`.
    """

    queued: float = 1.5
    running: float = 3.0
    per_1000_items: float = 0.6
    longest: float = 6.0

    def moments(self, created: float, *, items: int, slow_start: float = 0) -> tuple[float, float]:
        """When a request begins to run, and when it is finished (seconds since 1970)."""
        runs_at = created + self.queued + slow_start
        running = self.running + self.per_1000_items * items / 1000
        return runs_at, runs_at + min(running, max(self.longest, self.running))


USUAL = Timings()
AT_ONCE = Timings(queued=0, running=0, per_1000_items=0, longest=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`data`: the SQLite file (None: memory). `max_bytes`: the largest body taken (the documented
    10 MB). Finished requests are dropped after `keep_days`, the oldest sooner once all stored
    bodies together exceed `keep_bytes` (compressed)."""

    data: Path | None = None
    timings: Timings = USUAL
    max_bytes: int = 10_000_000
    keep_days: float = 7
    keep_bytes: int = 2 * 1024**3


def add_arguments(parser: argparse.ArgumentParser, *, data: Path) -> None:
    """The options that both commands take; `data` is the default path of the SQLite file."""
    usual = Options()
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    add("--port", type=int, default=8787, help="port to listen on (%(default)s)")
    add("--data", type=Path, default=data, help="SQLite file for the requests (%(default)s)")
    add(
        "--max-bytes",
        type=int,
        default=usual.max_bytes,
        metavar="BYTES",
        help="largest body taken; above it the answer is 3006 (%(default)s)",
    )
    for name, what in {
        "queued": "how long a request stays queued",
        "running": "how long it runs at least",
        "per_1000_items": "how much longer it runs for each thousand items",
        "longest": "how long it runs at most",
    }.items():
        add(
            f"--{name.replace('_', '-')}",
            type=float,
            default=getattr(usual.timings, name),
            metavar="SECONDS",
            help=f"{what} (%(default)s)",
        )


def from_arguments(given: Mapping[str, Any]) -> Options:
    """The options a command line gave to `add_arguments`; other names in it are left alone."""
    timings = Timings(
        queued=given["queued"],
        running=given["running"],
        per_1000_items=given["per_1000_items"],
        longest=given["longest"],
    )
    return Options(data=given["data"], timings=timings, max_bytes=given["max_bytes"])
