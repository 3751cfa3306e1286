"""The sandbox as a process: it answers at once, and its script of faults is open.

    python -m batchui.chaos.api FILE PORT [binding]

It prints its address, then serves until it is stopped. PORT 0 means any free port. The requests are
kept in FILE. binding: the address for the AI binding of a Worker is open, too.
"""

import signal
import sys
import threading
from pathlib import Path

from batchui.sandbox.testing import running_sandbox


def main(data: str, port: str, *options: str) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    binding = "binding" in options
    with running_sandbox(data=Path(data), port=int(port), binding=binding) as running:
        sys.stdout.write(f"{running.base_url}\n")
        sys.stdout.flush()
        stop.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
