"""Opens the file that somebody at the terminal names, or what comes through a pipe."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files.base import File

from batchui.batches.files import CHUNK_BYTES, AnyFile
from batchui.batches.upload_limits import too_large
from batchui.prompts.problems import BadInput

STDIN = Path("-")
# Without an ending: what comes through a pipe shows itself what it is.
NAME_OF_STDIN = "From the terminal"


@contextmanager
def opened_input(path: Path, *, name: str) -> Iterator[AnyFile]:
    """The file, to be uploaded under this name; "": under its own. `-` is the standard input.

    Raises BadInput for a file that cannot be read, or is too large.
    """
    with _piped() if path == STDIN else _opened(path) as content:
        yield File(content, name or (NAME_OF_STDIN if path == STDIN else path.name))


def _piped() -> IO[bytes]:
    if sys.stdin is None:  # as Python has it where the shell has closed it
        raise BadInput("-: nothing comes through a pipe. Name a file.")
    return _copied(sys.stdin.buffer)


def _copied(pipe: IO[bytes]) -> IO[bytes]:
    """A copy of what comes through a pipe, which cannot be read twice."""
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
    copy = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115
    size = 0
    while data := pipe.read(CHUNK_BYTES):
        size += copy.write(data)
        if size > settings.MAX_UPLOAD_BYTES:
            copy.close()
            raise too_large(size)
    return copy


def _opened(path: Path) -> IO[bytes]:
    try:
        content = path.open("rb")
        if path.is_file():
            return content
        with content:
            return _copied(content)
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
