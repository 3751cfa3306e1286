"""A sandbox process that is killed half-way: what was answered stays, and is not asked again."""

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from batchui.up.venv import ROOT
from tests.project.helpers import until
from tests.sandbox.conftest import TOKEN
from tests.sandbox.upstream.conftest import MODEL, Work, content, prompts
from tests.sandbox.upstream.model_server import ModelServer
from tests.surroundings import clean_environment

ITEMS = 60


@contextmanager
def sandbox(data: Path, server: ModelServer) -> Iterator[tuple[subprocess.Popen[str], Work]]:
    """A sandbox in a process of its own, killed in the end."""
    settings = {
        "BATCHUI_SANDBOX_TOKEN": TOKEN,
        "SANDBOX_UPSTREAM_URL": server.url,
        "SANDBOX_UPSTREAM_MODEL": "small",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "batchui.sandbox", "--port", "0", "--data", str(data)],
        cwd=ROOT,
        env=clean_environment(**settings),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line.endswith(f" Its answers come from small at {server.url[7:]}.\n")
        found = re.search(r"http://127\.0\.0\.1:\d+/client/v4", line)
        assert found, line
        caller = Work(found[0])
        with caller.http:
            yield process, caller
    finally:
        process.kill()
        process.communicate()


def stored(data: Path) -> set[int]:
    """The positions of the items that have an answer on the disk."""
    with closing(sqlite3.connect(data)) as database:
        rows = database.execute("SELECT position FROM items WHERE entry IS NOT NULL").fetchall()
    return {position for (position,) in rows}


def position(text: str) -> int:
    return int(text.removeprefix("row "))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_sandbox_goes_on_where_it_was(
    tmp_path: Path, server: ModelServer, number: signal.Signals
) -> None:
    data = tmp_path / "s.sqlite3"
    server.free = 20
    with sandbox(data, server) as (process, caller):
        request_id = caller.submit(MODEL, *prompts(ITEMS))
        until(lambda: len(server.asked) == 24 and len(stored(data)) == 20)
        process.send_signal(number)
        process.wait(5)
    kept, asked = stored(data), len(server.asked)
    assert len(kept) == 20
    server.free = None
    with sandbox(data, server) as (_, caller):
        entries = caller.reply(MODEL, request_id)
    assert [content(entry) for entry in entries] == [f"About row {n}" for n in range(ITEMS)]
    again = [position(text) for text in server.asked[asked:]]
    assert sorted(again) == sorted(set(range(ITEMS)) - kept)
    # Only what was under way at the moment of the kill was asked twice.
    assert len(server.asked) == ITEMS + 4


def test_one_killed_again_and_again_still_gets_there(tmp_path: Path, server: ModelServer) -> None:
    data = tmp_path / "s.sqlite3"
    request_id = ""
    for kills in range(1, 4):
        server.free = len(server.asked) + 10
        with sandbox(data, server) as (process, caller):
            request_id = request_id or caller.submit(MODEL, *prompts(ITEMS))
            until(lambda least=10 * kills: len(stored(data)) >= least)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            process.wait(5)
    server.free = None
    with sandbox(data, server) as (_, caller):
        entries = caller.reply(MODEL, request_id)
    assert [content(entry) for entry in entries] == [f"About row {n}" for n in range(ITEMS)]
    assert len(server.asked) <= ITEMS + 3 * 4


def test_a_setting_that_cannot_be_used_is_said_in_a_sentence(
    tmp_path: Path, server: ModelServer
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "batchui.sandbox", "--data", str(tmp_path / "s.sqlite3")],
        cwd=ROOT,
        env=clean_environment(
            BATCHUI_SANDBOX_TOKEN=TOKEN, SANDBOX_UPSTREAM_URL=server.url, SANDBOX_UPSTREAM_KEY="x"
        ),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert "SANDBOX_UPSTREAM_MODEL is missing." in done.stderr
    assert "Traceback" not in done.stderr
