"""When the watchdog restarts background work, and when it leaves it alone."""

import itertools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ
from pytest_django import Settings

from batchui.worker import watchdog
from batchui.worker.management.commands import worker
from batchui.worker.watchdog import Patience, Probes, Watchdog

LIVES = [sys.executable, "-c", "import time; time.sleep(60)"]
DIES = [sys.executable, "-c", "raise SystemExit(7)"]
PATIENCE = Patience(
    between_probes=0.02, start=0.5, silence=0.3, longest_silence=1, stop=2, pauses=(0.02, 0.04)
)


@pytest.fixture(autouse=True)
def _signal_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def told(
    command: list[str],
    *,
    until: str,
    times: int = 1,
    last_beat: Callable[[], datetime | None],
    is_stalled: Callable[[datetime], bool] = lambda since: False,
    wake: Callable[[], None] = lambda: None,
    note: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """What a watchdog says until it has said `until` so many times; then it is stopped.

    note: gets each line as it is said.
    """
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        note(line)
        if sum(until in line for line in lines) >= times:
            dog.stop_asked = True

    probes = Probes(wake=wake, last_beat=last_beat, is_stalled=is_stalled)
    dog = Watchdog(command, probes=probes, say=say, patience=PATIENCE)
    dog.run()
    return lines


def beating() -> Callable[[], datetime]:
    """A heartbeat that changes with every look."""
    seconds = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))


def test_silence_ends_in_a_restart_and_the_next_one_is_borne_longer() -> None:
    seconds: list[float] = []
    began = time.monotonic()

    def note(line: str) -> None:
        nonlocal began
        now = time.monotonic()
        if "started again now: it has shown no sign of life for" in line:
            seconds.append(now - began)
        began = now

    lines = told(LIVES, until="no sign of life", times=3, last_beat=lambda: None, note=note)
    assert lines[0] == "Background work has started."
    assert len(seconds) == 3
    # 0.3, 0.6 and 1.2 s; a start is given 0.5 s, and no silence more than 1 s is borne.
    assert all(took > least for took, least in zip(seconds, (0.45, 0.55, 0.9), strict=True))


def test_a_heartbeat_of_another_clock_is_a_heartbeat() -> None:
    looks = itertools.count()

    def wake() -> None:
        if next(looks) == 60:  # twice the time in which silence would have ended in a restart
            raise OSError("enough")

    lines = told(LIVES, until="enough", last_beat=beating(), wake=wake)
    assert not any("started again" in line for line in lines)


def test_a_cluster_that_starts_has_longer_than_one_that_has_fallen_silent() -> None:
    """Also where nobody chooses: its first sign of life takes a start of Python and Django."""
    for patience in (Patience(), PATIENCE):
        assert patience.silence < patience.start


def test_a_cluster_that_never_finishes_anything_is_restarted() -> None:
    lines = told(
        LIVES,
        until="Background work has started.",
        times=2,
        last_beat=beating(),
        is_stalled=lambda since: True,
    )
    assert lines[1] == (
        "Background work is started again now: its work is done, but never acknowledged."
    )


def test_a_cluster_that_ends_is_started_again_after_growing_pauses() -> None:
    lines = told(DIES, until="started again", times=3, last_beat=beating())
    reasons = [line for line in lines if "again" in line]
    assert reasons == [
        "Background work is started again in 0.02 s: it ended with status 7.",
        "Background work is started again in 0.04 s: it ended with status 7.",
        "Background work is started again in 0.04 s: it ended with status 7.",
    ]


def test_while_the_database_is_away_the_cluster_is_not_blamed() -> None:
    looks = itertools.count()

    def wake() -> None:
        if next(looks) < 60:
            raise OSError("connection refused\nmore about it")

    lines = told(LIVES, until="answers again", last_beat=beating(), wake=wake)
    away = "The database does not answer (connection refused). Trying again until it does."
    assert lines.count(away) == 1
    assert not any("started again" in line for line in lines)


def test_work_that_is_under_way_learns_of_the_stop(settings: Settings, tmp_path: Path) -> None:
    settings.STOPPING_FILE = str(tmp_path / "stopping")
    assert not watchdog.stopping()
    (tmp_path / "stopping").touch()
    assert watchdog.stopping()


def test_without_a_watchdog_nothing_is_stopping(settings: Settings) -> None:
    settings.STOPPING_FILE = ""
    assert not watchdog.stopping()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("taken", "number", "stalled"),
    [
        (timedelta(minutes=10), worker.STALLED_AT, True),
        (timedelta(minutes=10), worker.STALLED_AT - 1, False),
        (timedelta(minutes=1), worker.STALLED_AT, False),
        (timedelta(minutes=18), worker.STALLED_AT, False),
    ],
    ids=["stalled", "a few were lost", "they still run", "taken by the cluster before"],
)
def test_a_stalled_cluster_is_known_by_what_it_never_acknowledged(
    taken: timedelta, number: int, stalled: bool
) -> None:
    lock = timezone.now() - taken + timedelta(seconds=Conf.RETRY)
    OrmQ.objects.bulk_create(OrmQ(key="this one", payload="", lock=lock) for _ in range(number))
    since = timezone.now() - timedelta(minutes=15)
    assert worker.is_stalled("this one", since=since) is stalled
    assert not worker.is_stalled("its neighbour", since=since)
