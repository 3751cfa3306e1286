"""Converts one file, in a process of its own: `python -m batchui.prompts.conversion`.

Its only argument is a Job, as JSON. It prints Messages (`converted.py`), one on each line; the last
has the result or the problem.
"""

import ctypes
import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from batchui.prompts import packed
from batchui.prompts.converted import Jsonl, Message, Progress, Result, Text
from batchui.prompts.kinds import family_of, is_text
from batchui.prompts.limits import Limits
from batchui.prompts.looking import File, look
from batchui.prompts.outputs import Output
from batchui.prompts.problems import BadInput, quoted
from batchui.prompts.sniffing import HEAD_BYTES

TEXT, UNPACKED = "text.zst", "unpacked"
AT_A_TIME = 1 << 20
PR_SET_PDEATHSIG = 1
SPARE_SECONDS = 10.0
TOO_MUCH_MEMORY = (
    "This file needs far more memory to read than a file of its size should. If it is a workbook, "
    "perhaps it has single cells far below or far to the right of its table. Delete the empty rows "
    "and columns around the table, or save the table alone as CSV, and upload that."
)


def convert(path: Path, name: str, out: Output) -> Result:
    """What the file is turned into, in the folder of `out`. Raises BadInput."""
    file = look(path, name)
    family = family_of(file)
    if family:
        return family.convert(file, out)
    if packed.is_packed(file):
        with packed.opened(file) as (inner, stream):
            return _unpacked(stream, inner, out)
    with path.open("rb") as plain:
        return _text(plain, name, b"", out)


def _unpacked(stream: BinaryIO, name: str, out: Output) -> Result:
    """The same for a file that was packed. What is no text has to lie on the disk to be read."""
    head = _head(stream)
    path = out.folder / UNPACKED
    if is_text(File(path, name, head, whole=len(head) < HEAD_BYTES)):
        return _text(stream, name, head, out)
    try:
        with path.open("wb") as copy:
            for data in _pieces(stream, head):
                out.take(len(data))
                copy.write(data)
        file = look(path, name)
        family = family_of(file)
        if family is None:
            raise BadInput(
                f"Inside this packed file, {quoted(name)} is packed, too. Unpack it, and upload "
                "the file with your rows."
            )
        return family.convert(file, out)
    finally:
        path.unlink(missing_ok=True)


def _text(stream: BinaryIO, name: str, head: bytes, out: Output) -> Text:
    with out.file(TEXT) as write:
        for data in _pieces(stream, head):
            write(data)
            out.progress(0, 0)
    return Text(TEXT, name)


def _head(stream: BinaryIO) -> bytes:
    """The first HEAD_BYTES. A stream that unpacks gives fewer at a time."""
    head = b""
    while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
        head += data
    return head


def _pieces(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    yield head
    while data := stream.read(AT_A_TIME):
        yield data


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
