"""Converts a file as the product does, and prints what came of it and what its child took.

`python -m tests.prompts.conversion.apart FILE NAME SECONDS`: a process of its own, as the kernel
keeps one
figure for all children that a process ever had.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from batchui.prompts.conversion.converting import convert
from batchui.prompts.conversion.limits import Limits
from batchui.prompts.problems import BadInput

MOST_BYTES = 100_000_000


class Cost(NamedTuple):
    """The sentence of a file that is refused, the child's peak of memory, and its CPU seconds."""

    sentence: str
    megabytes: float
    seconds: float


def cost(path: Path, name: str, seconds: float = 0.0) -> Cost:
    """What the conversion of a file said and took. seconds: it may take no more, if not 0."""
    command = [
        sys.executable,
        "-m",
        "tests.prompts.conversion.apart",
        str(path),
        name,
        str(seconds),
    ]
    return Cost(**json.loads(subprocess.check_output(command, timeout=120)))


def main(path: Path, name: str, seconds: float) -> None:
    sentence = ""
    limits = Limits.of(path.stat().st_size, output=MOST_BYTES)
    if seconds:
        limits = msgspec.structs.replace(limits, seconds=seconds)
    with TemporaryDirectory() as folder:
        try:
            convert(
                path,
                Path(folder),
                name=name,
                most_bytes=MOST_BYTES,
                progress=lambda news: None,
                limits=limits,
            )
        except BadInput as exc:
            sentence = str(exc)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = Cost(sentence, used.ru_maxrss * 1024 / 1e6, used.ru_utime + used.ru_stime)
    sys.stdout.write(json.dumps(made._asdict()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
