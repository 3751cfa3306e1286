"""LibreOffice without a window."""

import subprocess
from pathlib import Path

from tests.conftest import required_program


def convert(folder: Path, files: dict[str, bytes], *, to: str) -> dict[str, bytes]:
    """The files as LibreOffice saves them in another format, by their names without an ending.

    files: by name with an ending. to: an ending, or one with a filter ("csv:…"). folder: empty.
    """
    source, target = folder / "source", folder / "target"
    source.mkdir()
    for name, content in files.items():
        (source / name).write_bytes(content)
    subprocess.run(
        [
            required_program("soffice", package="libreoffice-calc"),
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            *("--headless", "--convert-to", to, "--outdir", str(target)),
            *(str(source / name) for name in files),
        ],
        capture_output=True,
        check=True,
        timeout=150,
    )
    return {path.stem: path.read_bytes() for path in sorted(target.iterdir())}
