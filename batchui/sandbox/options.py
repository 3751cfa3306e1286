"""The settings of a sandbox: its timings and limits, and the options of its commands."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from batchui.sandbox.upstream.pauses import Patience
from batchui.sandbox.upstream.settings import Upstream


class Timings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long a request stays in each state, in seconds.

    Running takes `running`, plus `per_1000_items` for each thousand items, at most `longest`.
    With `apart`, a request finishes at least so many seconds after the one before it; with `closer`
    it is less the more requests are under way: the n-th follows after apart / (1 + closer * n).
    """

    queued: float = 1.5
    running: float = 3.0
    per_1000_items: float = 0.6
    longest: float = 6.0
    apart: float = 0
    closer: float = 0

    def moments(self, created: float, *, items: int) -> tuple[float, float]:
        """When a single request begins to run, and when it finishes (seconds since 1970)."""
        runs_at = created + self.queued
        running = self.running + self.per_1000_items * items / 1000
        return runs_at, runs_at + min(running, max(self.longest, self.running))


# Three parts of a first try land within four seconds and twelve within nine, one after another.
USUAL = Timings(queued=0.5, running=0.8, apart=1.3, closer=0.2)
AT_ONCE = Timings(queued=0, running=0, per_1000_items=0, longest=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of a sandbox, which stay the same while it runs.

    token: the only one that is accepted; None (in tests): any that is not empty. control: whether
    the control address is there; binding: whether the address for the bindings of Workers is.
    data: the SQLite file; None: requests are in memory. max_bytes: the largest body accepted (the
    documented 10 MB). keep_days: how long finished requests are kept. keep_unanswered_days: how
    long those are that an upstream does not finish. keep_bytes: if all stored bodies (compressed)
    together are larger, the oldest finished ones are dropped sooner.
    upstream: what answers for the accounts that have registered none; None: their answers are made
    up. patience: with all upstreams.
    """

    token: str | None = None
    control: bool = False
    binding: bool = False
    data: Path | None = None
    timings: Timings = USUAL
    max_bytes: int = 10_000_000
    keep_days: float = 7
    keep_unanswered_days: float = 30
    keep_bytes: int = 2 * 1024**3
    upstream: Upstream | None = None
    patience: Patience = field(default_factory=Patience)


def add_arguments(parser: argparse.ArgumentParser, *, data: Path) -> None:
    """Add the options that both commands have. data: the default path of the SQLite file."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    add("--port", type=int, default=8787, help="port to listen on (%(default)s)")
    add("--data", type=Path, default=data, help="SQLite file for the requests (%(default)s)")
    add("--control", action="store_true", help="open the control address, for scripts of faults")
    add(
        "--binding",
        action="store_true",
        help="open the address for the AI binding of a Worker that workerd runs on this machine; "
        "it needs no token",
    )
