"""django-q2's cluster, as the watchdog runs it."""

import os
import sys
from types import FrameType

from django_q.cluster import Cluster

from batchui.processes.parent_death import ask_to_stop_with_parent

# The cluster's processes fork one another. Without this, those of a killed one wait for ever.
os.register_at_fork(after_in_child=ask_to_stop_with_parent)


class SteadyCluster(Cluster):  # type: ignore[misc]
    """django-q2's cluster, which may be asked to stop more than once.

    With 1.11.1, a second SIGTERM while the first one is handled waits for ever for a lock that the
    first one has. If a watchdog with threads is killed, there are several: the kernel sends one to
    its children for each thread.
    """

    stop_asked = False

    def sig_handler(self, signum: int, frame: FrameType | None) -> None:
        """SIGTERM or SIGINT: stop the sentinel, which stops the others."""
        if self.stop_asked:
            return
        self.stop_asked = True
        if self.sentinel is None:  # not started yet
            sys.exit()
        super().sig_handler(signum, frame)
