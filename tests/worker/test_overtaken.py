"""Files to which nothing points go; everything else stays."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.utils import timezone

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import overtaken, sweep
from batchui.worker.models import Installation
from tests.batches.conftest import (
    MakeBatch,
    counted,
    in_files,
    on_record,
    poll_all,
    rows,
    send_all,
    work,
)
from tests.worker.conftest import kept_in_cache

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """A batch that ended three hours ago."""
    return end(batch)


def end(batch: Batch, *, hours: float = 3) -> Batch:
    work(batch)
    Batch.objects.filter(pk=batch.pk).update(finished_at=timezone.now() - timedelta(hours=hours))
    batch.refresh_from_db()
    return batch


def leave(batch: Batch, files_in: Path, *, hours: float = 3) -> list[Path]:
    """What overtaken and killed workers leave: a version of answers, and halves of files."""
    folder = files_in / "batches" / str(batch.pk)
    left = [
        folder / "parts" / "1" / "answers-9-7.jsonl.zst",
        folder / "parts" / "2" / ".writing-a1b2",
        folder / "source" / ".writing-c3d4",
    ]
    for path in left:
        path.write_bytes(b"left")
    make_older(files_in, hours=hours)
    return left


def make_older(files_in: Path, *, hours: float) -> None:
    written = timezone.now().timestamp() - hours * 3600
    for path in files_in.rglob("*"):
        os.utime(path, (written, written))


def there(paths: list[Path]) -> list[bool]:
    return [path.exists() for path in paths]


def test_what_nothing_points_to_goes_and_every_row_stays(ended: Batch, files_in: Path) -> None:
    before = counted(ended)
    replies = set(files_in.rglob("reply-*"))
    assert replies
    left = leave(ended, files_in)
    sweep.sweep()
    assert there(left) == [False] * 3
    assert in_files(ended) == counted(ended) == before
    assert set(files_in.rglob("reply-*")) == replies
    assert (files_in / ended.source_file).exists()


def test_a_new_version_of_answers_ends_the_old_one(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    batch = end(start(rows(10)))
    [old] = files_in.rglob("answers-*")
    decisions.retry(batch, by=None)
    end(batch)
    make_older(files_in, hours=3)
    assert len(list(files_in.rglob("answers-*"))) == 2
    sweep.sweep()
    [new] = files_in.rglob("answers-*")
    assert new != old
    assert in_files(batch) == {"answered": 10}


@pytest.mark.parametrize(("hours", "stays"), [(1.9, True), (2.1, False)])
def test_a_file_that_somebody_may_be_about_to_point_to_stays(
    ended: Batch, files_in: Path, hours: float, stays: bool
) -> None:
    left = leave(ended, files_in, hours=hours)
    sweep.sweep()
    assert there(left) == [stays] * 3


@pytest.mark.parametrize(("hours", "stays"), [(1.9, True), (2.1, False), (24 * 31, True)])
def test_batches_are_looked_at_two_hours_after_their_end(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, hours: float, stays: bool
) -> None:
    left = leave(end(batch, hours=hours), files_in)
    sweep.sweep()
    assert there(left) == [stays] * 3


def hours_pass(hours: float) -> None:
    """Let it be so many hours longer ago that batches which go on were looked at."""
    for pk in Batch.objects.values_list("pk", flat=True):
        if look_before := cache.get(f"overtaken:{pk}"):
            at, seen = look_before
            cache.set(f"overtaken:{pk}", (at - timedelta(hours=hours), seen))


def created(batch: Batch, *, hours: float) -> None:
    Batch.objects.filter(pk=batch.pk).update(created_at=timezone.now() - timedelta(hours=hours))


@pytest.mark.parametrize("status", ["attention", "running", "draft", "stopping"])
def test_what_nothing_points_to_goes_from_a_batch_that_goes_on_when_it_is_seen_again(
    batch: Batch, files_in: Path, status: str
) -> None:
    created(batch, hours=3)
    Batch.objects.update(status=status)
    left = leave(batch, files_in)
    current = set(files_in.glob("batches/*/parts/*/rows-*"))
    assert len(current) == 3
    sweep.sweep()
    assert there(left) == [True] * 3
    hours_pass(5.9)
    sweep.sweep()
    assert there(left) == [True] * 3
    hours_pass(0.2)
    sweep.sweep()
    assert there(left) == [False] * 3
    assert set(files_in.glob("batches/*/parts/*/rows-*")) == current
    assert (files_in / batch.source_file).exists()


def test_an_old_version_that_was_current_until_now_stays_for_those_who_read_it(
    sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    created(batch, hours=3)
    send_all()
    poll_all()
    Batch.objects.update(status="running")
    part = batch.parts.get(number=1)
    make_older(files_in, hours=3)
    sweep.sweep()
    old = files_in / part.answers_file
    part.answers_file = "batches/another/version"
    part.save()
    hours_pass(7)
    sweep.sweep()
    assert old.exists()
    hours_pass(7)
    sweep.sweep()
    assert not old.exists()


@pytest.mark.parametrize("status", ["checking", "preparing"])
def test_a_batch_that_is_being_read_is_left_alone(
    batch: Batch, files_in: Path, status: str
) -> None:
    created(batch, hours=30)
    Batch.objects.update(status=status)
    left = leave(batch, files_in)
    for _ in range(3):
        sweep.sweep()
        hours_pass(7)
    assert there(left) == [True] * 3


def test_fifty_batches_that_go_on_are_looked_at_in_one_sweep(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(overtaken, "remove_of", lambda batch, **_: seen.append(batch.pk) or [])
    created(batch, hours=3)
    batch.refresh_from_db()
    for _ in range(overtaken.AT_ONCE):
        batch.pk, batch._state.adding = None, True
        batch.id = Batch._meta.pk.get_default()
        batch.save()
    for looked_at in (50, 51, 51):
        sweep.sweep()
        assert len(set(seen)) == len(seen) == looked_at


def test_the_doctor_has_nothing_to_say_of_a_batch_that_waits_for_a_person_for_a_day(
    sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    created(batch, hours=25)
    Batch.objects.update(status="attention")
    leave(batch, files_in, hours=25)

    def of_nobody() -> list[str]:
        return [one.where for one in look(Scope()).findings if one.kind == "file of nobody"]

    assert len(of_nobody()) == 3
    for _ in range(2):
        sweep.sweep()
        hours_pass(7)
    assert of_nobody() == []


def test_each_batch_is_looked_at_once_and_again_after_it_ended_again(
    sandbox: RunningSandbox, batch: Batch, start: MakeBatch, files_in: Path
) -> None:
    first, second = end(batch, hours=5), end(start(rows(60)), hours=4)
    sweep.sweep()
    left = [*leave(first, files_in), *leave(second, files_in)]
    sweep.sweep()
    assert there(left) == [True] * 6
    end(second, hours=3)
    sweep.sweep()
    assert there(left) == [True] * 3 + [False] * 3


def test_fifty_batches_are_looked_at_in_one_sweep(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Batch] = []
    monkeypatch.setattr(overtaken, "remove_of", lambda batch, **_: seen.append(batch))
    work(batch)
    first = batch.finished_at
    for number in range(overtaken.AT_ONCE + 1):
        batch.pk, batch._state.adding = None, True
        batch.id = Batch._meta.pk.get_default()
        batch.finished_at = first - timedelta(hours=3, seconds=-number)
        batch.save()
    sweep.sweep()
    assert len(seen) == overtaken.AT_ONCE
    sweep.sweep()
    sweep.sweep()
    assert len({one.pk for one in seen}) == len(seen) == overtaken.AT_ONCE + 1


def test_a_folder_that_cannot_be_read_does_not_keep_the_others(
    sandbox: RunningSandbox,
    batch: Batch,
    start: MakeBatch,
    files_in: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, other = end(batch, hours=5), end(start(rows(60)), hours=4)
    folder = files_in / "batches" / str(broken.pk)
    folder.rename(folder.with_name("elsewhere"))
    left = leave(other, files_in)
    sweep.sweep()
    assert there(left) == [False] * 3
    [line] = [one.getMessage() for one in caplog.records if one.name == overtaken.__name__]
    assert line == (
        f"The files of batch {broken.pk} cannot be tidied: [Errno 2] No such file or directory: "
        f"'{folder}'"
    )


@pytest.mark.parametrize("status", [BatchStatus.FINISHED, BatchStatus.DRAFT])
def test_a_deleted_batch_is_not_looked_at(
    ended: Batch, status: BatchStatus, caplog: pytest.LogCaptureFixture
) -> None:
    created(ended, hours=9)
    Batch.objects.update(status=status, deleted_at=timezone.now() - timedelta(hours=2))
    for _ in range(2):  # the first removes its files
        sweep.sweep()
    assert caplog.messages == []


def test_how_far_it_has_looked_is_known_for_longer_than_it_looks_back(ended: Batch) -> None:
    sweep.sweep()
    assert kept_in_cache(overtaken.LOOKED_UNTIL) > overtaken.FIRST_LOOK


@pytest.mark.parametrize(("hours", "is_due"), [(1.9, False), (2.1, True)])
def test_a_batch_that_goes_on_is_looked_at_when_it_is_old_and_what_was_found_is_known_for_a_day(
    team: Team, files_in: Path, hours: float, is_due: bool
) -> None:
    batch = on_record(team)
    (files_in / "batches" / str(batch.pk)).mkdir(parents=True)
    created(batch, hours=hours)
    sweep.sweep()
    assert (cache.get(f"overtaken:{batch.pk}") is not None) is is_due
    if is_due:
        known = kept_in_cache(f"overtaken:{batch.pk}")
        assert timedelta(hours=23) < known <= timedelta(hours=24)


@pytest.mark.parametrize(("seconds", "stays"), [(0, True), (1, False), (9, False), (10, True)])
def test_only_what_was_written_between_the_two_times_goes(
    team: Team, files_in: Path, seconds: int, stays: bool
) -> None:
    batch = on_record(team)
    after = timezone.now().replace(microsecond=0) - timedelta(days=1)
    left = files_in / "batches" / str(batch.pk) / "left"
    left.parent.mkdir(parents=True)
    left.touch()
    os.utime(left, (after.timestamp() + seconds,) * 2)
    overtaken.remove_of(batch, before=after + timedelta(seconds=10), after=after)
    assert left.exists() is stays


@pytest.mark.parametrize("status", [BatchStatus.FINISHED, BatchStatus.ATTENTION])
def test_what_is_older_than_a_restore_stays(
    ended: Batch, files_in: Path, status: BatchStatus
) -> None:
    created(ended, hours=9)
    finished_at = ended.finished_at if status == BatchStatus.FINISHED else None
    Batch.objects.update(status=status, finished_at=finished_at)
    Installation.here()
    Installation.objects.update(restored_at=timezone.now() - timedelta(hours=4))
    before = leave(ended, files_in, hours=5)

    def swept_twice() -> list[bool]:
        for _ in range(2):
            sweep.sweep()
            hours_pass(7)
        return there(before)

    assert swept_twice() == [True] * 3
    cache.clear()
    make_older(files_in, hours=3)
    assert swept_twice() == [False] * 3
