"""The sandbox as a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batchui.keys import derived
from tests.project.helpers import until
from tests.sandbox.conftest import LLAMA, TOKEN, Caller
from tests.surroundings import clean_environment

ROOT = Path(__file__).resolve().parents[2]
MODULE = [sys.executable, "-m", "batchui.sandbox"]


@contextmanager
def started(*arguments: str, command: list[str] = MODULE) -> Iterator[subprocess.Popen[str]]:
    """The process, ended and waited for at the end."""
    process = subprocess.Popen(
        [*command, "--port", "0", "--control", *arguments],
        cwd=ROOT,
        env=os.environ | {"BATCHUI_SANDBOX_TOKEN": TOKEN},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/client/v4", line)
    assert found, line
    return found[0]


def test_requests_outlive_a_killed_process(tmp_path: Path) -> None:
    data = str(tmp_path / "s.sqlite3")
    with started("--data", data) as process:
        caller = Caller(address(process))
        with caller.http:
            request_id = caller.submit(LLAMA, {"prompt": "Hello"})
        process.kill()
    with started("--data", data) as process:
        caller = Caller(address(process))
        with caller.http:
            found = until(lambda: caller.poll(LLAMA, request_id).json()["result"].get("responses"))
            assert len(found) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_a_second(tmp_path: Path, number: signal.Signals) -> None:
    with started("--data", str(tmp_path / "s.sqlite3")) as process:
        base_url = address(process)
        caller = Caller(base_url)
        with caller.http:  # a connection kept open, and one that waits for its answer
            caller.submit(LLAMA, {"prompt": "Hello"})
            caller.http.post(
                base_url.replace("/client/v4", "/control/script"),
                json={"fault": "delay", "seconds": 60},
            )
            with socket.create_connection(_host(base_url)) as waiting:
                waiting.sendall(
                    b"GET /client/v4/accounts/a/ai/models/search HTTP/1.1\r\n"
                    b"Host: localhost\r\nAuthorization: Bearer %b\r\n\r\n" % TOKEN.encode()
                )
                time.sleep(0.1)
                began = time.monotonic()
                process.send_signal(number)
                assert process.wait(5) == 0
                assert time.monotonic() - began < 1
    assert process.returncode == 0


def test_without_a_token_it_does_not_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MODULE, "--port", "0", "--data", str(tmp_path / "s.sqlite3")],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert "Set BATCHUI_SANDBOX_TOKEN" in done.stderr
    assert not (tmp_path / "s.sqlite3").exists()


def _host(base_url: str) -> tuple[str, int]:
    return "127.0.0.1", int(base_url.rpartition(":")[2].partition("/")[0])


def test_a_port_in_use_is_said_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*MODULE, "--port", port, "--data", str(tmp_path / "s.sqlite3")],
            cwd=ROOT,
            env=os.environ | {"BATCHUI_SANDBOX_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert done.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_cannot_be_used_is_said_in_one_sentence(tmp_path: Path) -> None:
    data = tmp_path / "not-a-database"
    data.write_text("Just a text, and a long enough one to be read as a header. " * 20)
    with started("--data", str(data)) as process:
        _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert str(data) in said
    assert said.count("\n") == 1


def test_it_prints_one_line_however_many_calls_are_made(tmp_path: Path) -> None:
    with started("--data", str(tmp_path / "s.sqlite3")) as process:
        caller = Caller(address(process))
        with caller.http:
            for _ in range(3):
                caller.poll(LLAMA, caller.submit(LLAMA, {"prompt": "One"}))
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=5) == ("", "")


def test_it_needs_neither_django_nor_anything_of_ours() -> None:
    code = (
        "import sys, batchui.sandbox.testing, batchui.sandbox.__main__\n"
        "names = set(sys.modules)\n"
        "ours = {n for n in names if n.startswith('batchui.')} \n"
        "assert all(n.startswith('batchui.sandbox') for n in ours), ours\n"
        "assert not names & {'django', 'httpx', 'zstandard'}, names\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=20)


@pytest.mark.processes
def test_the_management_command_serves_the_same(tmp_path: Path) -> None:
    key = "a key that is long enough for anybody"
    environment = clean_environment(BATCHUI_DATA=str(tmp_path), SECRET_KEY=key)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "sandbox", "--port", "0", "--binding"],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        caller = Caller(address(process), token=derived(key, purpose="sandbox"))
        with caller.http:
            assert caller.submit(LLAMA, {"prompt": "Hello"})
            assert caller.http.get(f"{caller.root_url}/control/script").status_code == 404
            assert caller.http.get(f"{caller.root_url}/ai-api/models/search").status_code == 200
        assert process.stdout
        assert "BATCHUI_SANDBOX_TOKEN" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    finally:
        process.kill()
        process.communicate()
    assert (tmp_path / "sandbox.sqlite3").exists()
