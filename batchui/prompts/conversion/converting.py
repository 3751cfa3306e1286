"""Has a file converted by a child process, which a hostile file may take down alone."""

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from batchui.prompts.conversion.child import TOO_MUCH_MEMORY, Job
from batchui.prompts.conversion.converted import Message, Progress, Result
from batchui.prompts.conversion.limits import Limits
from batchui.prompts.problems import BadInput

MODULE = "batchui.prompts.conversion.child"
ROOT = Path(__file__).resolve().parents[3]
# All that the child knows of this machine: none of the server's settings and secrets.
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "PYTHONUTF8": "1",
    "LANG": "C.UTF-8",
    # The others of pyarrow take large pieces of memory in advance.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
# Between two calls of `progress`, also when there is no news.
SECONDS = 0.5
LINE_LIMIT, STDERR_BYTES = 2 << 20, 2_000
SAVE_AGAIN = "Open it in Excel or LibreOffice, save it again or save it as CSV, and upload that."
CRASHED = f"This file cannot be read: whatever is in it stops the program that tries. {SAVE_AGAIN}"
TOO_LONG = (
    "This file takes far longer to read than a file of its size should. If it is a workbook, "
    "perhaps it has millions of empty rows. Delete them, or save the table alone as CSV, and "
    "upload that."
)

_decode = msgspec.json.Decoder(Message).decode
Process = subprocess.Popen[bytes]


class ChildDied(Exception):
    """How a child ended that gave no result: for the log. The cause of a BadInput."""


def convert(
    path: Path,
    folder: Path,
    *,
    name: str,
    most_bytes: int,
    progress: Callable[[Progress], None],
    limits: Limits | None = None,
) -> Result:
    """What the file `path`, uploaded as `name`, is turned into, in an empty `folder`.

    most_bytes: of what is made, before compression. progress: called at least twice a second; if it
    raises, that ends the conversion. limits: instead of those for a file of its size.
    Raises BadInput with a sentence, whatever the file does to the child; and OSError for what is
    not the file's fault, such as a full disk.
    """
    limits = limits or Limits.of(path.stat().st_size, output=most_bytes)
    job = Job(str(path.absolute()), str(folder.absolute()), _sayable(name), limits)
    with tempfile.TemporaryFile() as errors:
        process = _start(job, errors)
        try:
            last = _listen(process, progress, seconds=limits.clock_seconds)
        finally:
            _end(process)
        return _result(last, process.returncode, folder, errors)


def _sayable(name: str) -> str:
    """The name without halves of characters, which no argument can have."""
    return name.encode("utf-8", "replace").decode()


def _start(job: Job, errors: IO[bytes]) -> Process:
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", MODULE, msgspec.json.encode(job).decode()],
        bufsize=0,
        cwd=job.folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        process_group=0,
    )


def _listen(
    process: Process, progress: Callable[[Progress], None], *, seconds: float
) -> Message | None:
    """The last message of the child, None if it has none or is garbage.

    Raises BadInput after so many seconds.
    """
    give_up = time.monotonic() + seconds
    news, last, rest = Progress(0, 0), None, b""
    assert process.stdout is not None  # noqa: S101  a pipe
    with process.stdout as stdout, selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while True:
            if selector.select(SECONDS):
                data = os.read(stdout.fileno(), 64 * 1024)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    try:
                        last = _decode(line)
                    except ValueError:
                        return None
                    news = last.progress or news
                if not data or len(rest) > LINE_LIMIT:
                    return None if rest else last
            progress(news)
            if time.monotonic() > give_up:
                raise BadInput(TOO_LONG)


def _end(process: Process) -> None:
    """End the child with all that it started, and collect it.

    One that has said everything ends by itself, and keeps the status that it ended with.
    """
    with suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS if sys.exc_info()[0] is None else 0)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(last: Message | None, status: int, folder: Path, errors: IO[bytes]) -> Result:
    if last and last.problem:
        raise BadInput(last.problem)
    if last and last.errno:
        raise OSError(last.errno, os.strerror(last.errno))
    if last and last.result and status == 0 and _are_there(last.result, folder):
        return last.result
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - STDERR_BYTES))
    detail = errors.read().decode("utf-8", "replace").strip()
    raise BadInput(_about_death(status)) from ChildDied(f"status {status}: {detail}")


def _about_death(status: int) -> str:
    """The sentence for a child that gave no result. A Rust library aborts for want of memory."""
    if -status in (signal.SIGXCPU, signal.SIGALRM):
        return TOO_LONG
    return TOO_MUCH_MEMORY if -status in (signal.SIGABRT, signal.SIGKILL) else CRASHED


def _are_there(result: Result, folder: Path) -> bool:
    """Whether the files are in the folder, and nowhere else."""
    made = [sheet.file for sheet in result] if isinstance(result, tuple) else [result.file]
    return all(Path(file).name == file and (folder / file).is_file() for file in made)
