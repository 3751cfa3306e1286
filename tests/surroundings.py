"""The processes that tests start: their environment, and commands of `manage.py`."""

import subprocess
import sys
from pathlib import Path

from batchui.bench import surroundings
from batchui.up.venv import ROOT


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without anything of batchui's or the tests', plus `variables`.

    For processes that tests start: `manage.py` in them uses batchui's real settings.
    """
    kept = surroundings.clean_environment()
    kept.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # a browser of the tests set it
    # setproctitle, which comes with mutmut and which django-q uses where it is, would write over
    # the environment by which tests know a process.
    return kept | {"SPT_NOENV": "1"} | variables


def manage(*words: str, data: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `manage.py` in a process of its own, to its end.

    data: the data folder. variables: more of the environment.
    """
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=clean_environment(BATCHUI_DATA=str(data), **variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
