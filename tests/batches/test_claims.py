"""What a process has claimed is free as soon as the process is dead, and not before."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from batchui.batches import claims, due, lifecycle, look_ups, polling, sending, trying
from batchui.batches.look_up_models import LookUp
from batchui.batches.models import Batch, Part
from batchui.batches.states import SENT_PARTS, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.batches.try_models import TriedStatus
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.worker import tick
from tests.batches.conftest import MakeBatch, rows, send_all
from tests.batches.trying import begun

pytestmark = pytest.mark.django_db

# Locks the file that it is given, as a worker does, and writes each line that it reads into it.
WORKER = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
for line in sys.stdin:
    file.write(line)
    file.flush()
    print("written", flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder in which nobody has claimed anything."""
    monkeypatch.setattr(settings, "DATA", tmp_path)
    monkeypatch.setattr(claims, "_own_file", claims._OwnFile())
    return tmp_path / claims.FOLDER


@pytest.fixture
def other(folder: Path) -> Iterator["Other"]:
    """Another process of this host."""
    other = Other(folder, claims.THIS_HOST)
    yield other
    other.kill()


class Other:
    """Another process."""

    def __init__(self, folder: Path, host: str) -> None:
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(folder / f"another@{host}")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def remembers(self, line: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


def claimed(part: Part) -> Part:
    """The part, claimed to be sent."""
    [won] = lifecycle.claim_to_send([part], PART_LEASE)
    return won


def lines(folder: Path) -> list[str]:
    return [line for path in folder.glob("*") for line in path.read_text().splitlines()]


@pytest.mark.django_db(transaction=True)
def test_the_parts_of_a_dead_process_are_sent_by_the_next(
    sandbox: RunningSandbox, batch: Batch, other: Other, folder: Path
) -> None:
    part = claimed(batch.parts.all()[0])
    other.remembers(f"part {part.pk} {part.epoch}")
    assert claims.end_those_of_the_dead() == 0
    assert sending.rescue(timezone.now()) == 0
    other.kill()
    tick.run_tick()
    part.refresh_from_db()
    assert part.status in (*SENT_PARTS, PartStatus.DONE)
    assert len(list(folder.glob("*"))) == 1  # that of this process


def test_a_process_of_another_host_may_live_whatever_its_lock_looks_like(
    batch: Batch, folder: Path
) -> None:
    part = claimed(batch.parts.all()[0])
    other = Other(folder, "another-host")
    other.remembers(f"part {part.pk} {part.epoch}")
    other.kill()
    [own, of_other] = sorted(folder.glob("*"), key=lambda path: path.name.endswith("-host"))
    assert claims.end_those_of_the_dead() == 0
    assert of_other.exists()
    os.utime(of_other, (0, 0))
    assert claims.end_those_of_the_dead() == 0
    assert list(folder.glob("*")) == [own]


def test_a_file_that_was_removed_is_made_anew(batch: Batch, folder: Path) -> None:
    part = batch.parts.all()[0]
    for _ in range(2):
        claims.remember(part, epoch=1)
        [own] = folder.glob("*")
        own.unlink()
    assert list(folder.glob("*")) == []
    claims.remember(part, epoch=2)
    assert lines(folder) == [f"part {part.pk} 2"]


@pytest.mark.parametrize("epoch", [-1, 1])
def test_what_was_claimed_again_meanwhile_is_left_alone(
    batch: Batch, other: Other, epoch: int
) -> None:
    part = claimed(batch.parts.all()[0])
    other.remembers(f"part {part.pk} {part.epoch + epoch}")
    other.kill()
    assert claims.end_those_of_the_dead() == 0
    part.refresh_from_db()
    assert part.lease_until is not None
    assert part.lease_until > timezone.now()


def test_what_was_let_go_of_gets_no_lease(batch: Batch, other: Other) -> None:
    part = claimed(batch.parts.all()[0])
    other.remembers(f"part {part.pk} {part.epoch}")
    sending.let_go(part)
    other.kill()
    assert claims.end_those_of_the_dead() == 0
    part.refresh_from_db()
    assert (part.status, part.lease_until) == (PartStatus.READY, None)


def test_a_poll_that_was_over_was_not_cut_off(
    sandbox: RunningSandbox, batch: Batch, other: Other
) -> None:
    send_all()
    part = batch.parts.all()[0]
    assert lifecycle.claim_part(part, PART_LEASE)
    other.remembers(f"part {part.pk} {part.epoch}")
    assert lifecycle.touch_part(part)  # without news
    other.kill()
    assert claims.end_those_of_the_dead() == 0
    part.refresh_from_db()
    assert part.lease_until is None


def test_the_last_claim_of_a_part_counts_whatever_stands_around_it(
    batch: Batch, other: Other
) -> None:
    part = claimed(batch.parts.all()[0])
    for line in (
        f"part {part.pk} {part.epoch - 1}",
        f"part {part.pk} {part.epoch}",
        *("", "part", f"part {part.pk} x", "part x 1", "batch 1 1", "lookup 7 1", "part 1 2 3"),
    ):
        other.remembers(line)
    other.kill()
    assert claims.end_those_of_the_dead() == 1
    assert claims.end_those_of_the_dead() == 0


def test_many_claims_are_ended_together(
    batch: Batch, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "AT_ONCE", 2)
    parts = lifecycle.claim_to_send(list(batch.parts.all()), PART_LEASE)
    for part in parts:
        other.remembers(f"part {part.pk} {part.epoch}")
    other.kill()
    assert claims.end_those_of_the_dead() == len(parts) == 3


def test_every_claim_is_written_down_with_its_epoch(
    sandbox: RunningSandbox, batch: Batch, folder: Path
) -> None:
    sent, *_ = parts = lifecycle.claim_to_send(list(batch.parts.all()), PART_LEASE)
    expected = [f"part {part.pk} {part.epoch}" for part in parts]
    assert lines(folder) == expected
    Part.objects.filter(pk=sent.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    sent.refresh_from_db()
    assert lifecycle.take_over(sent, PART_LEASE)
    expected.append(f"part {sent.pk} {sent.epoch}")
    assert lines(folder) == expected
    assert lifecycle.move_part(sent, PartStatus.READY)
    send_all()
    claims.forget()
    assert lines(folder) == []
    Part.objects.filter(pk=sent.pk).update(next_poll_at=timezone.now())
    [polled] = due.due_parts(10)
    claimed_with = polled.epoch + 1
    polling.poll(polled)
    assert lines(folder) == [f"part {sent.pk} {claimed_with}"]


def test_a_claim_that_was_not_won_is_not_written_down(batch: Batch, folder: Path) -> None:
    part = batch.parts.all()[0]
    Part.objects.filter(pk=part.pk).update(epoch=7)
    assert lifecycle.claim_to_send([part], PART_LEASE) == []
    assert not lifecycle.claim_part(part, PART_LEASE)
    assert lines(folder) == []


@pytest.mark.django_db(transaction=True)
def test_at_the_end_of_a_tick_nothing_is_claimed(
    sandbox: RunningSandbox, batch: Batch, folder: Path
) -> None:
    tick.run_tick()
    assert not batch.parts.exclude(status=PartStatus.DONE).exists()
    [own] = folder.glob("*")
    assert own.read_text() == ""


def test_a_process_that_was_forked_has_a_file_of_its_own(batch: Batch, folder: Path) -> None:
    first, second, _ = batch.parts.all()
    claims.remember(first, epoch=1)
    if not (child := os.fork()):
        try:
            claims.remember(second, epoch=1)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert len(list(folder.glob("*"))) == 2
    claims.end_those_of_the_dead()
    assert lines(folder) == [f"part {first.pk} 1"]


def test_what_kills_all_that_take_it_up_is_soon_left_until_its_lease_ends(
    batch: Batch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = claimed(batch.parts.all()[0])
    claims.forget()
    now = time.time()
    ended = []
    for at in (0, 10, 20, 329, 331, 331):
        monkeypatch.setattr(claims.time, "time", lambda at=at: now + at)
        Part.objects.update(lease_until=timezone.now() + PART_LEASE)
        other = Other(folder, claims.THIS_HOST)
        other.remembers(f"part {first.pk} {first.epoch}")
        other.kill()
        ended.append(claims.end_those_of_the_dead())
    assert ended == [1, 1, 0, 0, 1, 0]


def test_what_was_ended_before_the_clock_was_set_back_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.time()
    monkeypatch.setattr(claims.time, "time", lambda: now + 3600)
    assert [claims._may_end() for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(claims.time, "time", lambda: now)
    assert [claims._may_end() for _ in range(3)] == [True, True, False]


def test_a_file_that_was_found_before_it_was_locked_is_made_anew(
    batch: Batch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = fcntl.flock

    def late(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", locked)
        for path in folder.glob("*"):
            path.unlink()
        locked(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    claims.remember(batch.parts.all()[0], epoch=1)
    assert len(lines(folder)) == 1


def test_of_an_old_file_nothing_is_believed(batch: Batch, other: "Other", folder: Path) -> None:
    part = claimed(batch.parts.all()[0])
    claims.forget()
    other.remembers(f"part {part.pk} {part.epoch}")
    other.kill()
    [of_other] = folder.glob("another*")
    long_ago = time.time() - claims.LONGEST_CLAIM.total_seconds() - 1
    os.utime(of_other, (long_ago, long_ago))
    assert claims.end_those_of_the_dead() == 0
    assert not of_other.exists()


def test_a_file_stays_until_its_leases_are_ended(
    batch: Batch, other: "Other", folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = claimed(batch.parts.all()[0])
    claims.forget()
    other.remembers(f"part {part.pk} {part.epoch}")
    other.kill()

    def fail() -> bool:
        raise OperationalError

    with monkeypatch.context() as patched:
        patched.setattr(claims, "_may_end", fail)
        with pytest.raises(OperationalError):
            claims.end_those_of_the_dead()
    assert claims.end_those_of_the_dead() == 1


@pytest.mark.django_db(transaction=True)
def test_where_no_file_can_be_written_parts_are_sent_as_ever(
    sandbox: RunningSandbox, batch: Batch, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("a file is in the way")
    claims._warn_once.cache_clear()
    tick.run_tick()
    assert not batch.parts.exclude(status=PartStatus.DONE).exists()
    assert caplog.text.count("cannot be written down") == 1
    folder.unlink()


def test_a_folder_that_knows_no_locks_keeps_no_files(
    batch: Batch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    claims.remember(batch.parts.all()[0], epoch=1)
    assert list(folder.glob("*")) == []


def test_a_row_that_a_dead_process_asked_is_unclear_at_once(
    receive: MakeBatch, other: Other, folder: Path
) -> None:
    begun(receive(rows(9)))
    [row] = trying.waiting(1)
    assert trying.claim(row)
    row.refresh_from_db()
    [line] = lines(folder)
    claims.forget()
    other.remembers(line)
    other.kill()
    assert claims.end_those_of_the_dead() == 1
    assert trying.rescue(timezone.now()) == 1
    row.refresh_from_db()
    assert row.status == TriedStatus.UNCLEAR


def test_a_look_of_a_dead_process_is_followed_by_another_at_once(
    sandbox: RunningSandbox, team: Team, other: Other, folder: Path
) -> None:
    found = look_ups.begin(
        team=team,
        by=None,
        connection=ensure_connection(team),
        request_id="a-request",
        model=DEFAULT_MODEL,
    )
    assert isinstance(found, LookUp)
    assert look_ups._claim(found)
    [line] = lines(folder)
    claims.forget()
    assert look_ups.due(5) == []
    other.remembers(line)
    other.kill()
    claims.end_those_of_the_dead()
    assert look_ups.due(5) == [found]
