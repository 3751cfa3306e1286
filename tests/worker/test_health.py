"""The two addresses for machines that watch over the product."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from batchui.worker import health, heartbeat
from batchui.worker.models import Heartbeat


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    health.forget()
    yield
    health.forget()


def readyz() -> tuple[int, dict[str, Any]]:
    response = health.readyz(RequestFactory().get("/readyz"))
    return response.status_code, json.loads(response.content)


def test_healthz_answers_without_django() -> None:
    def django(environ: object, start_response: object) -> list[bytes]:
        raise AssertionError("Django was asked")

    started = []
    answer = health.with_healthz(django)(
        {"PATH_INFO": "/healthz", "HTTP_HOST": "10.0.0.1"}, lambda *args: started.append(args)
    )
    assert list(answer) == [b"ok"]
    assert started[0][0] == "200 OK"


def test_other_addresses_go_to_django() -> None:
    application = health.with_healthz(lambda environ, start_response: [b"django"])
    assert list(application({"PATH_INFO": "/healthz/"}, lambda *_: None)) == [b"django"]


def test_healthz_asks_no_database(client: Client) -> None:
    assert client.get("/healthz").content == b"ok"


@pytest.mark.django_db
def test_all_is_well_while_background_work_beats(client: Client) -> None:
    heartbeat.beat()
    response = client.get("/readyz")
    assert response.status_code == 200
    report = response.json()
    assert report["ready"] is True
    assert list(report["checks"]) == ["database", "migrations", "storage", "keys", "worker"]
    assert all(part["says"].endswith(".") for part in report["checks"].values())


@pytest.mark.django_db
def test_what_was_written_to_try_the_storage_is_gone_again() -> None:
    readyz()
    assert default_storage.listdir("ready")[1] == []


@pytest.mark.django_db
def test_background_work_that_never_ran_is_said() -> None:
    status, report = readyz()
    assert status == 503
    assert report["checks"]["worker"]["says"] == (
        "Background work has never run. Start it with: python manage.py worker"
    )


@pytest.mark.django_db
def test_background_work_that_fell_silent_is_said() -> None:
    heartbeat.beat()
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=5))
    status, report = readyz()
    assert status == 503
    assert "300 s ago" in report["checks"]["worker"]["says"]


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "status"), [(40, 200), (50, 503)])
def test_background_work_is_silent_as_soon_as_the_pages_say_so(seconds: int, status: int) -> None:
    heartbeat.beat()
    Heartbeat.objects.update(at=timezone.now() - timedelta(seconds=seconds))
    assert readyz()[0] == status
    assert heartbeat.worker_is_silent() == (status == 503)


@pytest.mark.django_db
def test_a_migration_that_was_not_applied_is_said() -> None:
    heartbeat.beat()
    MigrationRecorder(connection).record_unapplied("worker", "0002_reads_until")
    status, report = readyz()
    assert status == 503
    assert report["checks"]["migrations"]["says"] == (
        "1 migration waits. Run: python manage.py migrate"
    )


@pytest.mark.django_db
def test_a_worker_with_files_of_its_own_is_said(settings: Settings) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    heartbeat.beat()
    Heartbeat.objects.update(storage_id="elsewhere", host="other")
    status, report = readyz()
    assert status == 503
    assert "keeps its files in another folder" in report["checks"]["worker"]["says"]


@pytest.mark.django_db
def test_keys_that_do_not_work_are_said_without_showing_them(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = ["swordfish"]
    status, report = readyz()
    assert status == 503
    assert not report["checks"]["keys"]["ok"]
    assert "swordfish" not in str(report)


def test_a_database_that_does_not_answer_is_said() -> None:
    # pytest-django refuses the database to a test without its mark: as good as one that is gone.
    status, report = readyz()
    assert status == 503
    assert not report["checks"]["database"]["ok"]
    assert report["checks"]["keys"]["ok"]


@pytest.mark.django_db
def test_many_who_ask_cost_one_report(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    first = readyz()
    with django_assert_num_queries(0):
        assert readyz() == first


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_are_not_sent_to_https(client: Client, settings: Settings, path: str) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(path).status_code in (200, 503)
