"""Raw replies that were taken for answers go after three days; all others stay."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from batchui.batches.compressed import Compressed
from batchui.batches.models import Attempt, Part
from batchui.batches.part_models import CLEAN_REPLY
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.teams.models import Team
from batchui.worker import sweep
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db


def a_reply(part: Part, *, days: float = 4, status: str = "answered", **fields: Any) -> Attempt:
    """An attempt with a stored reply, which came so many days ago."""
    attempt = attempt_on_record(
        part, status=status, finished_at=timezone.now() - timedelta(days=days), **fields
    )
    attempt.reply_file = f"batches/{part.batch_id}/parts/{part.number}/reply-{attempt.number}.zst"
    Compressed.of_bytes(b"{}").store(attempt.reply_file)
    attempt.save()
    return attempt


def is_kept(attempt: Attempt) -> bool:
    """Whether a reply is there; both its file and its name are, or neither."""
    name = attempt.reply_file
    attempt.refresh_from_db()
    assert default_storage.exists(name) is (attempt.reply_file == name)
    return attempt.reply_file == name


@pytest.fixture
def done(team: Team) -> Part:
    on_record(team, parts=1).parts.update(status=PartStatus.DONE)
    return Part.objects.get()


@pytest.mark.parametrize(("days", "stays"), [(0, True), (2.99, True), (3.01, False)])
def test_a_clean_reply_is_kept_for_three_days(done: Part, days: float, stays: bool) -> None:
    attempt = a_reply(done, days=days)
    sweep.sweep()
    assert is_kept(attempt) is stays


@pytest.mark.parametrize("status", sorted(set(AttemptStatus) - {AttemptStatus.ANSWERED}))
def test_any_other_reply_stays_as_long_as_its_batch(done: Part, status: str) -> None:
    attempt = a_reply(done, days=400, status=status)
    sweep.sweep()
    assert is_kept(attempt)


@pytest.mark.parametrize("status", sorted(PartStatus))
def test_a_reply_stays_until_its_part_has_ended(done: Part, status: str) -> None:
    attempt = a_reply(done)
    Part.objects.update(status=status)
    sweep.sweep()
    assert is_kept(attempt) is (status not in (PartStatus.DONE, PartStatus.STOPPED))


def test_some_go_at_a_time_the_oldest_first(done: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "REPLIES_AT_ONCE", 2)
    five, seven, four, six = (a_reply(done, days=days) for days in (5, 7, 4, 6))
    sweep.sweep()
    assert [is_kept(one) for one in (seven, six, five, four)] == [False, False, True, True]
    sweep.sweep()
    assert [is_kept(one) for one in (five, four)] == [False, False]


def test_one_that_cannot_be_removed_is_tried_again_and_keeps_no_other(
    done: Part, files_in: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stuck, other = a_reply(done, days=5), a_reply(done)
    file = files_in / stuck.reply_file
    whole = file.read_bytes()
    file.unlink()
    (file / "in the way").mkdir(parents=True)
    sweep.sweep()
    assert not is_kept(other)
    assert is_kept(stuck)
    [line] = [one.getMessage() for one in caplog.records if one.name == sweep.__name__]
    assert line.startswith(f"The reply to attempt {stuck.pk} cannot be removed: ")
    (file / "in the way").rmdir()
    file.rmdir()
    default_storage.save(stuck.reply_file, ContentFile(whole))
    sweep.sweep()
    assert not is_kept(stuck)


def test_a_sweep_that_was_killed_between_the_files_and_their_names_is_made_good(
    done: Part, files_in: Path
) -> None:
    attempt = a_reply(done)
    (files_in / attempt.reply_file).unlink()
    sweep.sweep()
    attempt.refresh_from_db()
    assert attempt.reply_file == ""


def test_while_a_backup_is_made_all_stay(done: Part) -> None:
    attempt, backup = a_reply(done), sweep.new_backup_name()
    sweep.keep_files(backup)
    sweep.sweep()
    assert is_kept(attempt)
    sweep.allow_removal(backup)
    sweep.sweep()
    assert not is_kept(attempt)


def test_they_are_found_by_an_index_however_many_are_gone_already(done: Part) -> None:
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:  # of so few rows an index would not be used
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
    old = Attempt.objects.filter(CLEAN_REPLY, finished_at__lt=timezone.now())
    assert "attempt_clean_reply" in old.order_by("finished_at").explain()
