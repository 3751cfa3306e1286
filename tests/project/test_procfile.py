"""The Procfile's three commands do what the README says, and so does its example of `submit`."""

import csv
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from batchui.processes import children
from batchui.sandbox.testing import running_sandbox
from batchui.up.ports import free_port
from batchui.up.venv import ROOT
from tests.project.helpers import Reader, gone, until
from tests.surroundings import clean_environment

pytestmark = pytest.mark.processes

COMMANDS = dict(re.findall(r"^(\w+): (.+)$", (ROOT / "Procfile").read_text(), re.M))
README = (ROOT / "README.md").read_text()
[SUBMIT] = re.findall(r"^\.venv/bin/(python manage\.py submit (?:.+\\\n)+.+)$", README, re.M)


def run(command: str, *, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def running(command: str, *, environment: dict[str, str]) -> Iterator[Reader]:
    process = children.launch(
        ["/bin/bash", "-c", command], environment=environment, output=subprocess.PIPE
    )
    assert process.stdout is not None
    lines = Reader(process.stdout)
    try:
        yield lines
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        children.stop(process, grace=10)
        gone(family, seconds=5)
        lines.close()


def status_of(address: str) -> int | None:
    """The status of an answer; None while nobody listens."""
    try:
        with urllib.request.urlopen(address, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code
    except urllib.error.URLError:
        return None


def test_they_migrate_serve_and_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(COMMANDS) == ["release", "web", "worker"]
    monkeypatch.chdir(ROOT)
    port = free_port(0)
    site = f"http://127.0.0.1:{port}"
    with running_sandbox() as sandbox:
        environment = clean_environment(
            BATCHUI_DATA=str(tmp_path / "data"),
            BATCHUI_SANDBOX_URL=sandbox.base_url,
            BATCHUI_FIRST_POLL_SECONDS="0.1",
            PORT=str(port),
            PYTHONUNBUFFERED="1",
        )
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        assert run(COMMANDS["release"], environment=environment).returncode == 0
        # As written it listens to everybody, which is nothing for a machine that runs tests.
        web = COMMANDS["web"].replace("--host 0.0.0.0", "--host 127.0.0.1")
        assert web != COMMANDS["web"]
        with running(web, environment=environment):
            until(lambda: status_of(f"{site}/healthz") == 200, seconds=60)
            assert status_of(f"{site}/sign-in/") == 200
            assert status_of(f"{site}/readyz") == 503, "no worker runs yet"
            with running(COMMANDS["worker"], environment=environment):
                until(lambda: status_of(f"{site}/readyz") == 200, seconds=60)
                answers = submitted_as_the_readme_says(tmp_path, environment)
    assert [(row["id"], row["review"], row["status"]) for row in answers] == [
        ("1", "lovely", "answered"),
        ("2", "noisy, cold", "answered"),
    ]
    assert all(row["answer"] for row in answers)


def submitted_as_the_readme_says(folder: Path, environment: dict[str, str]) -> list[dict[str, str]]:
    """What the example of the README writes. Its files are in `folder`."""
    (folder / "reviews.csv").write_text('id,review\n1,lovely\n2,"noisy, cold"\n')
    command = SUBMIT.replace("manage.py", str(ROOT / "manage.py"))
    done = run(f"cd {folder} && {command}", environment=environment)
    assert done.returncode == 0, done.stderr
    log = re.findall(
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO batchui\.security: ", done.stderr, re.M
    )
    assert log, "the log goes to stderr, each line with its time"
    assert len(done.stdout.splitlines()) == 1, "and stdout has the address of the batch alone"
    with (folder / "answers.csv").open(encoding="utf-8-sig", newline="") as answers:
        return list(csv.DictReader(answers))
