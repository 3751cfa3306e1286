"""The two addresses for machines that watch over the product."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, default_storage
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from batchui.batches.files import AnyFile
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


def logged(caplog: pytest.LogCaptureFixture) -> dict[str, type[BaseException] | None]:
    """The lines of the log, with the kind of error each one tells of."""
    return {line.getMessage(): line.exc_info and line.exc_info[0] for line in caplog.records}


def test_healthz_answers_without_django() -> None:
    def django(environ: object, start_response: object) -> list[bytes]:
        raise AssertionError("Django was asked")

    started = []
    answer = health.with_healthz(django)(
        {"PATH_INFO": "/healthz", "HTTP_HOST": "10.0.0.1"}, lambda *args: started.append(args)
    )
    assert list(answer) == [b"ok"]
    [(status, headers)] = started
    assert status == "200 OK"
    assert dict(headers) == {"Content-Type": "text/plain", "Content-Length": "2"}


def test_other_addresses_go_to_django() -> None:
    application = health.with_healthz(lambda environ, start_response: [b"django"])
    assert list(application({"PATH_INFO": "/healthz/"}, lambda *_: None)) == [b"django"]


def test_healthz_asks_no_database(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.content, response["Content-Type"]) == (b"ok", "text/plain")


@pytest.mark.django_db
def test_all_is_well_while_background_work_beats(client: Client) -> None:
    heartbeat.beat()
    response = client.get("/readyz")
    assert response.status_code == 200
    report = response.json()
    assert response["Cache-Control"] == "no-store"  # nobody is told of yesterday's health
    assert report["ready"] is True
    assert list(report["checks"]) == ["database", "migrations", "storage", "keys", "worker"]
    assert all(part["says"].endswith(".") for part in report["checks"].values())


@pytest.mark.django_db
def test_what_was_written_to_try_the_storage_is_gone_again() -> None:
    readyz()
    assert default_storage.listdir("ready")[1] == []


class Forgetful(InMemoryStorage):
    """A storage that gives back half of what it was given."""

    def open(self, name: str, mode: str = "rb") -> AnyFile:
        return ContentFile(super().open(name, mode).read()[:8])


@pytest.mark.django_db
def test_a_storage_that_spoils_what_it_keeps_is_said(settings: Settings) -> None:
    here = f"{__name__}.{Forgetful.__qualname__}"
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": here}}
    status, report = readyz()
    assert status == 503
    assert report["checks"]["storage"] == {
        "ok": False,
        "says": "A small file did not come back as it was written.",
    }


@pytest.mark.django_db
def test_migrations_that_wait_are_counted_with_what_to_run() -> None:
    graph, recorder = MigrationLoader(connection).graph, MigrationRecorder(connection)
    [latest] = graph.leaf_nodes("worker")
    [before] = [parent for parent in graph.node_map[latest].parents if parent[0] == "worker"]
    said = []
    for migration in (latest, before):
        recorder.record_unapplied(*migration)
        health.forget()
        status, report = readyz()
        assert status == 503
        said.append(report["checks"]["migrations"]["says"])
    assert said == [
        "1 migration waits. Run: python manage.py migrate",
        "2 migrations wait. Run: python manage.py migrate",
    ]


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
def test_a_worker_whose_clock_is_ahead_has_just_shown_a_sign_of_life() -> None:
    heartbeat.beat()
    Heartbeat.objects.update(at=timezone.now() + timedelta(minutes=5))
    status, report = readyz()
    assert status == 200
    assert "sign of life 0 s ago" in report["checks"]["worker"]["says"]


@pytest.mark.django_db
def test_a_worker_with_files_of_its_own_is_said(settings: Settings) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    heartbeat.beat()
    Heartbeat.objects.update(storage_id="elsewhere", host="other")
    status, report = readyz()
    assert status == 503
    assert "keeps its files in another folder" in report["checks"]["worker"]["says"]


@pytest.mark.django_db
def test_keys_that_do_not_work_are_said_without_showing_them(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ENCRYPTION_KEYS = ["swordfish"]
    status, report = readyz()
    assert status == 503
    assert report["checks"]["keys"] == {
        "ok": False,
        "says": "This did not work (ValueError). The log says more.",
    }
    assert "swordfish" not in str(report)
    assert logged(caplog) == {"readyz: keys": ValueError}


@pytest.mark.django_db
def test_a_database_that_does_not_answer_is_said(caplog: pytest.LogCaptureFixture) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("no password for batchui")

    with connection.execute_wrapper(away):
        status, report = readyz()
    assert status == 503
    silent = {"ok": False, "says": "The database does not answer. The log says more."}
    assert report["checks"]["database"] == report["checks"]["worker"] == silent
    assert report["checks"]["keys"]["ok"]
    assert logged(caplog)["readyz: database"] is OperationalError


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
