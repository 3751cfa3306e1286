"""What each host that serves pages does for itself."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection

from batchui.batches import files
from batchui.worker import this_host
from batchui.worker.models import Heartbeat
from batchui.worker.sweep import sweep

HOUR = 3600


@pytest.fixture
def uploads(settings: Any, tmp_path: Path) -> Path:
    """Where uploads are taken in."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    return tmp_path


def left(uploads: Path, name: str, *, hours: float) -> Path:
    """A file that was last written so long ago."""
    path = uploads / name
    path.write_bytes(b"half a file")
    at = time.time() - hours * HOUR
    os.utime(path, (at, at))
    return path


@pytest.mark.django_db
def test_uploads_that_were_cut_off_go_after_a_day(uploads: Path) -> None:
    cut_off = left(uploads, "tmpabc.upload.csv", hours=25)
    coming_in = left(uploads, "tmpdef.upload.csv", hours=23)
    not_ours = left(uploads, "notes.txt", hours=1000)
    this_host.look_after()
    assert not cut_off.exists()
    assert coming_in.exists()
    assert not_ours.exists()


@pytest.mark.django_db
def test_files_that_were_being_made_when_a_process_was_killed_go_after_a_day(
    uploads: Path,
) -> None:
    with files.working_folder() as folder:
        left(folder, "sheet-1.jsonl.zst", hours=25)
        (folder / "inner").mkdir()
        left(folder / "inner", "part", hours=25)
        dead, goes_on = (shutil.copytree(folder, uploads / f"{at}{folder.name}") for at in "ab")
    for path in (dead / "inner", dead, goes_on / "inner", goes_on):
        os.utime(path, (0, time.time() - 25 * HOUR))
    left(goes_on, "sheet-2.jsonl.zst", hours=23)
    os.utime(goes_on, (0, time.time() - 25 * HOUR))
    sweep()
    assert list(uploads.iterdir()) == [goes_on]


@pytest.mark.parametrize("leads_to", ["gone", "tmpabc.upload.csv"], ids=["is gone", "fails"])
def test_an_upload_that_is_gone_when_it_is_looked_at_does_not_end_it(
    uploads: Path, leads_to: str
) -> None:
    (uploads / "tmpabc.upload.csv").symlink_to(uploads / leads_to)  # listed, and not to be read
    cut_off = left(uploads, "tmpdef.upload.csv", hours=25)
    this_host.remove_left_behind()
    assert not cut_off.exists()


@pytest.mark.django_db
def test_a_database_that_is_away_does_not_end_it(
    uploads: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATABASE_KIND, settings.S3_BUCKET = "PostgreSQL", ""

    def away(*_: Any) -> None:
        raise OperationalError("the database is away")

    with connection.execute_wrapper(away):
        this_host.look_after()
    assert "other hosts cannot see this one" in caplog.text
    assert not Heartbeat.objects.exists()
