"""The pauses before a process that ended is started again (standard library only)."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Restarts:
    """Pauses, in seconds, that grow while a process keeps ending.

    pauses: before the first restart, the second, and so on; the last one repeats. calm: after a
    process has run longer than this, its end counts as the first one.
    """

    pauses: Sequence[float]
    calm: float
    failures: int = 0

    def next_pause(self, *, ran: float) -> float:
        """The pause after a process that ended `ran` seconds after its start."""
        if ran > self.calm:
            self.failures = 0
        self.failures += 1
        return self.pauses[min(self.failures, len(self.pauses)) - 1]
