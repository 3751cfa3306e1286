"""The environment of a run: the imitation of the API, settings, folders."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from batchui.bench.question import MODEL
from batchui.processes import children, procfs

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "batchui.sqlite3"
# Settings of the person who starts the bench must not change what is measured.
OURS = ("BATCHUI_", "CLOUDFLARE_", "AWS_", "SANDBOX_UPSTREAM_")
OURS_TOO = {
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_URL",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
    "DYNO",
    "K_SERVICE",
    "SECRET_KEY",
    "SECURE_PROXY",
}


class BenchFailed(Exception):
    """There are no figures. The text says why."""


@dataclass
class Api:
    """The running imitation of the API."""

    address: str
    process: children.Process

    @property
    def model_address(self) -> str:
        """Where the scripts send their requests."""
        return f"{self.address}/accounts/bench/ai/run/{MODEL}"

    def calls(self) -> tuple[int, int]:
        """The number of submissions and of polls so far."""
        with closing(HTTPConnection(self.address.removeprefix("http://"), timeout=10)) as api:
            api.request("GET", "/calls")
            calls = json.load(api.getresponse())
        return calls["submitted"], calls["polled"]

    def cpu_seconds(self) -> float:
        """Its user and system time so far."""
        return procfs.cpu_seconds(self.process.pid)


@contextmanager
def running_api(seconds: float = 0.0) -> Iterator[Api]:
    """The imitation of the API, in a process of its own. It answers a request after `seconds`."""
    command = [sys.executable, "-m", "batchui.bench.echo", str(seconds)]
    process = children.launch(
        command, environment=clean_environment(PYTHONPATH=str(ROOT)), output=subprocess.PIPE
    )
    try:
        assert process.stdout is not None  # noqa: S101
        port = process.stdout.readline().decode()
        if not port.strip().isdecimal():
            raise BenchFailed(f"The imitation of the API did not start: {port}")
        yield Api(f"http://127.0.0.1:{int(port)}", process)
    finally:
        children.stop(process, grace=2)
        if process.stdout is not None:
            process.stdout.close()


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without batchui's variables, plus `variables`."""
    return {name: value for name, value in os.environ.items() if not is_ours(name)} | variables


def is_ours(name: str) -> bool:
    """Whether an environment variable changes how batchui behaves."""
    return name in OURS_TOO or name.startswith(OURS)


def product_environment(data: Path, api: Api, **variables: str) -> Mapping[str, str]:
    """An environment for the product: it keeps `data` and calls `api`; plus `variables`."""
    return clean_environment(
        BATCHUI_DATA=str(data),
        CLOUDFLARE_API_URL=api.address,
        CLOUDFLARE_ACCOUNT_ID="bench",
        CLOUDFLARE_API_TOKEN="bench",  # noqa: S106
        **variables,
    )


def bring_tables(data: Path) -> None:
    """Make this data folder, with a database that has no rows yet.

    The migrations take 3 s, and so are run once for all measurements of a process. Raises
    BenchFailed.
    """
    data.mkdir(parents=True, mode=0o700)
    database = data / DATABASE
    database.touch(0o600)
    database.write_bytes(_empty_tables())


@functools.cache
def _empty_tables() -> bytes:
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", "migrate", "--verbosity", "0"],
            capture_output=True,
            text=True,
            check=False,
            env=clean_environment(BATCHUI_DATA=folder),
        )
        if done.returncode:
            raise BenchFailed(f"The tables could not be made:\n{done.stderr}")
        return Path(folder, DATABASE).read_bytes()
