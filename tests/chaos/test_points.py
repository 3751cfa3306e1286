"""A process obeys an order at its named point, once, and no other."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.chaos import points
from batchui.chaos.points import Obedience, Order


def ended_by(act: Callable[[], object]) -> signal.Signals | None:
    """The signal that ends a child which does `act`; None if it comes to its end."""
    child = os.fork()
    if not child:
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return signal.SIGSTOP
    return signal.Signals(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else None


def reach(folder: Path, kind: str, *, after: bool) -> Callable[[], None]:
    return lambda: Obedience(folder).reach(kind, after=after)


@pytest.mark.parametrize("name", ["KILL", "STOP"])
def test_a_process_gives_itself_the_signal_of_its_order(tmp_path: Path, name: str) -> None:
    points.give(tmp_path, Order("commit", True, "", name))
    assert ended_by(reach(tmp_path, "commit", after=True)) == signal.Signals[f"SIG{name}"]
    assert points.taken(tmp_path) > 0


def test_an_order_is_obeyed_once(tmp_path: Path) -> None:
    points.give(tmp_path, Order("submit", False, "", "KILL"))
    assert ended_by(reach(tmp_path, "submit", after=False)) == signal.SIGKILL
    assert ended_by(reach(tmp_path, "submit", after=False)) is None


@pytest.mark.parametrize(("kind", "after"), [("commit", False), ("store", True)])
def test_an_order_for_another_point_is_left(tmp_path: Path, kind: str, after: bool) -> None:
    points.give(tmp_path, Order("commit", True, "", "KILL"))
    assert ended_by(reach(tmp_path, kind, after=after)) is None
    assert points.taken(tmp_path) == 0


def test_an_order_may_name_the_function_that_is_called(tmp_path: Path) -> None:
    def move_part() -> None:
        Obedience(tmp_path).reach("commit", after=False)

    order = Order("commit", False, "move_part", "KILL")
    points.give(tmp_path, order)
    assert ended_by(reach(tmp_path, "commit", after=False)) is None
    assert ended_by(move_part) == signal.SIGKILL
    assert str(order) == "KILL before commit within move_part"


def test_an_order_that_is_withdrawn_is_not_obeyed(tmp_path: Path) -> None:
    points.give(tmp_path, Order("poll", False, "", "KILL"))
    points.withdraw(tmp_path)
    assert ended_by(reach(tmp_path, "poll", after=False)) is None


def test_a_point_stands_on_each_side_of_what_is_done(tmp_path: Path) -> None:
    done = tmp_path / "done"
    act = Obedience(tmp_path).around("store", done.touch)
    points.give(tmp_path, Order("store", False, "", "KILL"))
    assert ended_by(act) == signal.SIGKILL
    assert not done.exists()
    points.withdraw(tmp_path)
    points.give(tmp_path, Order("store", True, "", "KILL"))
    assert ended_by(act) == signal.SIGKILL
    assert done.exists()


ASK = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "batchui.settings"
import django
django.setup()
from django.db import transaction, connection
from batchui.cloudflare.client import RestClient
from batchui.batches.files import DurableFileSystemStorage
print("batchui.chaos.points" in sys.modules, hasattr(RestClient.submit, "__wrapped__"))
sys.stdout.flush()
with transaction.atomic():
    connection.cursor().execute("CREATE TABLE left_behind (number INTEGER)")
"""


def run(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ASK],
        env=clean_environment(BATCHUI_DATA=str(tmp_path), PYTHONPATH=str(ROOT), **variables),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.processes
def test_without_the_variable_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    ended = run(tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "False False\n"), ended.stderr


@pytest.mark.processes
def test_with_the_variable_a_process_dies_before_its_commit(tmp_path: Path) -> None:
    orders = tmp_path / "orders"
    orders.mkdir()
    points.give(orders, Order("commit", False, "", "KILL"))
    ended = run(tmp_path, BATCHUI_CHAOS=str(orders))
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "True True\n"), ended.stderr
