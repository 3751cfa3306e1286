"""LibreOffice without a window."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import required_program


def convert(
    folder: Path, files: dict[str, bytes], *, to: str, how: Sequence[str] = ()
) -> dict[str, bytes]:
    """The files as LibreOffice saves them in another format, by their names without an ending.

    files: by name with an ending. to: an ending, or one with a filter ("csv:…"). how: more options.
    folder: for these files alone; the profile beside it serves several.
    """
    source, target = folder / "source", folder / "target"
    source.mkdir(parents=True)
    for name, content in files.items():
        (source / name).write_bytes(content)
    subprocess.run(
        [
            required_program("soffice", package="libreoffice-calc"),
            f"-env:UserInstallation={(folder.parent / 'profile').as_uri()}",
            *("--headless", *how, "--convert-to", to, "--outdir", str(target)),
            *(str(source / name) for name in files),
        ],
        capture_output=True,
        check=True,
        timeout=150,
    )
    return {path.stem: path.read_bytes() for path in sorted(target.iterdir())}


def formulas(folder: Path, files: dict[str, bytes], *, separator: str) -> dict[str, list[str]]:
    """The formulas that LibreOffice finds in each CSV, read with this separator."""
    # Separator, quotation mark, UTF-8, from line 1 on; the last one: formulas are evaluated.
    how = f"CSV:{ord(separator)},34,76,1,,0,false,true,false,false,false,-1,true"
    named = {f"{name}.csv": content for name, content in files.items()}
    sheets = convert(folder, named, to="fods", how=[f"--infilter={how}"])
    return {
        name: re.findall(r'table:formula="([^"]*)"', xml.decode()) for name, xml in sheets.items()
    }
