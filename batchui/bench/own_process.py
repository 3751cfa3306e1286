"""A module of the bench that runs in a process of its own, and what it prints."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batchui.bench.surroundings import ROOT, BenchFailed, clean_environment

WITH_DJANGO = "batchui.bench.with_django"


def lines_of(
    module: str, *arguments: object, what: str, database: str = ""
) -> Iterator[dict[str, Any]]:
    """The lines of JSON that a module prints, as it prints them; its data is thrown away.

    what: that is measured, for the error. database: the address of an empty one; "" for SQLite.
    Raises BenchFailed if the process fails: it has said why.
    """
    command = [sys.executable, "-m", WITH_DJANGO, module, *map(str, arguments)]
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        settings = {"BATCHUI_DATA": str(Path(folder, "data")), "PYTHONPATH": str(ROOT)}
        if database:
            settings["DATABASE_URL"] = database
        with subprocess.Popen(
            command, env=clean_environment(**settings), stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None  # noqa: S101
            for line in process.stdout:
                yield json.loads(line)
    if process.returncode:
        raise BenchFailed(f"{what} could not be measured; the reason is above.")


def output_of(
    module: str, *arguments: object, what: str, environment: Mapping[str, str]
) -> list[str]:
    """The lines that a module has printed when it has ended.

    what: that runs, for the error. Raises BenchFailed, with what it said, if the process fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
    if done.returncode:
        raise BenchFailed(f"{what} failed:\n{done.stderr}")
    return done.stdout.splitlines()
