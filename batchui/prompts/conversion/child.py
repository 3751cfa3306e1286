"""Converts one file, in a process of its own: `python -m batchui.prompts.conversion.child`.

Its only argument is a Job, as JSON. It prints Messages (`converted.py`), one on each line; the last
has the result or the problem.
"""

import ctypes
import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec

from batchui.prompts.conversion.converted import Jsonl, Message, Progress, Text
from batchui.prompts.conversion.kinds import convert
from batchui.prompts.conversion.limits import Limits
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput

PR_SET_PDEATHSIG = 1
SPARE_SECONDS = 10.0
TOO_MUCH_MEMORY = (
    "This file needs far more memory to read than a file of its size should. If it is a workbook, "
    "perhaps it has single cells far below or far to the right of its table. Delete the empty rows "
    "and columns around the table, or save the table alone as CSV, and upload that."
)


class Job(msgspec.Struct, frozen=True):
    """What is converted: a file, the folder for what is made, the file's own name."""

    path: str
    folder: str
    name: str
    limits: Limits


def main() -> NoReturn:
    """Convert the file that the only argument names."""
    # What libraries print must not get between the messages.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job = msgspec.json.decode(sys.argv[1], type=Job)
    job.limits.apply()
    _end_with_starter(job.limits.clock_seconds)
    gc.disable()  # nothing here goes in circles, and there are millions of cells

    def say(message: Message) -> None:
        channel.write(msgspec.json.encode(message) + b"\n")
        channel.flush()

    say(_outcome(job, lambda progress: say(Message(progress=progress))))
    # Without taking apart what a library has made of a large file.
    os._exit(0)


def _outcome(job: Job, tell: Callable[[Progress], None]) -> Message:
    try:
        out = Output(Path(job.folder), most_bytes=job.limits.output, tell=tell)
        made = convert(Path(job.path), job.name, out)
    except BadInput as exc:
        return Message(problem=str(exc))
    except MemoryError:
        return Message(problem=TOO_MUCH_MEMORY)
    except OSError as exc:
        return Message(errno=exc.errno or errno.EIO)
    if isinstance(made, Text):
        return Message(text=made)
    return Message(jsonl=made) if isinstance(made, Jsonl) else Message(sheets=made)


def _end_with_starter(seconds: float) -> None:
    """Let the kernel end this process with its starter (Linux), or some time after its deadline."""
    signal.setitimer(signal.ITIMER_REAL, seconds + SPARE_SECONDS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
