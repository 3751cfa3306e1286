"""A module of the bench that runs in a process of its own, and what it prints."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batchui.bench.surroundings import ROOT, BenchFailed, bring_tables, clean_environment

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
        environment = own_environment(Path(folder, "data"), database)
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None  # noqa: S101
            for line in process.stdout:
                yield json.loads(line)
    if process.returncode:
        raise BenchFailed(f"{what} could not be measured; the reason is above.")


def own_environment(data: Path, database: str = "") -> Mapping[str, str]:
    """The environment of a process with this data folder.

    database: the address of an empty one; "" for one in the folder, which is made. Raises
    BenchFailed.
    """
    settings = {"BATCHUI_DATA": str(data), "PYTHONPATH": str(ROOT)}
    if database:
        return clean_environment(DATABASE_URL=database, **settings)
    bring_tables(data)
    return clean_environment(**settings)


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
