"""Hosts that share a database and not their files are told what to do."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from batchui.worker.checks import files_are_shared
from batchui.worker.models import Heartbeat


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "process"),
    [("other", "The worker process on other "), ("", "The worker process on another host ")],
)
def test_who_keeps_files_elsewhere_is_named_with_what_to_do(
    settings: Settings, host: str, process: str
) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    Heartbeat.objects.create(
        name="worker:other:1a2b", at=timezone.now(), host=host, storage_id="elsewhere"
    )
    [error] = files_are_shared(databases=["default"])
    assert error.id == "batchui.E017"
    assert error.msg.startswith(process)
    assert error.hint is not None
    assert "BATCHUI_DATA" in error.hint
    assert "BATCHUI_S3_BUCKET" in error.hint


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "counts"), [(4.9, True), (5.1, False)])
def test_a_sign_of_life_says_for_five_minutes_where_files_are_kept(
    settings: Settings, minutes: float, counts: bool
) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    at = timezone.now() - timedelta(minutes=minutes)
    Heartbeat.objects.create(name="worker:other:1a2b", at=at, host="other", storage_id="elsewhere")
    assert bool(files_are_shared(databases=["default"])) is counts
