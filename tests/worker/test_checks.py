"""Hosts that share a database and not their files are told what to do."""

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
