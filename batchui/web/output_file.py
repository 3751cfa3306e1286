"""Writes a download to a file of the person at the terminal."""

import os
import tempfile
from pathlib import Path

from batchui.batches import making
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.progress import Progress
from batchui.prompts.problems import BadInput


def refuse_output(output: Path) -> None:
    """Raise BadInput where no file of this name can be made.

    Nor is a device or a pipe replaced by a file: /dev/null would be gone for the whole machine.
    """
    if output == Path("-"):
        raise BadInput("--output -: name a file. Nothing is downloaded into the terminal.")
    folder = _target(output).parent
    if not folder.is_dir():
        raise BadInput(f"--output {output}: there is no folder {folder}.")
    if output.is_dir():
        raise BadInput(f"--output {output} is a folder. Name a file in it.")
    if output.exists() and not output.is_file():
        raise BadInput(f"--output {output} is no ordinary file. Name another one.")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"--output {output}: you may not write in {folder}.")


def write_output(
    batch: Batch, kind: str, choice: Choice, output: Path, progress: Progress
) -> list[str]:
    """Write the download to a file of another name, then give it its own. Returns notes about it.

    One that was there keeps its permissions; a new one is for its owner alone. If writing fails,
    there is no file, or the one that was there. A link stays, and leads to the new file. Raises
    BadInput and OSError.
    """
    target = _target(output)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as out:
        try:
            notes = making.write(batch, kind, choice, Path(out.name), progress)
            os.fsync(out.fileno())
            if target.exists():
                os.chmod(out.name, target.stat().st_mode & 0o777)
            os.replace(out.name, target)
        except BaseException:
            os.unlink(out.name)
            raise
    return notes


def _target(output: Path) -> Path:
    """The file that is written: where `output` is a link, the one that it leads to."""
    return output.resolve()
