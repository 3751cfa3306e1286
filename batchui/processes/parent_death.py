"""Runs a command that is asked to stop when the process that started it ends.

`python -I -S parent_death.py PARENT COMMAND [ARGUMENT…]`: PARENT is the starter's process id. On
Linux the kernel sends SIGTERM when the starter ends for whatever reason, SIGKILL included
(PR_SET_PDEATHSIG, which an exec keeps). Elsewhere the command just runs.

This is a script of its own because a `preexec_fn` is unsafe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def ask_to_stop_with_parent() -> None:
    """Let the kernel send SIGTERM to this process when its parent ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def main() -> None:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    ask_to_stop_with_parent()
    if sys.platform == "linux" and os.getppid() != parent:  # it ended before the line above
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main()
