"""Start-up checks: each wrong setting has its sentence."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.utils import timezone
from pytest_django import Settings

from batchui.checks import settings_are_right
from batchui.worker.checks import files_are_shared
from batchui.worker.heartbeat import beat
from batchui.worker.models import Heartbeat

PRODUCTION = {
    "SECURE_PROXY": True,
    "HOSTS_ARE_GIVEN": True,
    "KEYS_ARE_GIVEN": True,
    "DATABASE_KIND": "PostgreSQL",
}
FERNET = Fernet.generate_key().decode()


def found(settings: Settings, **changes: Any) -> list[str]:
    """The ids of what the checks find with these settings."""
    for name, value in changes.items():
        setattr(settings, name, value)
    return [str(message.id).removeprefix("batchui.") for message in settings_are_right()]


def test_the_settings_of_a_first_start_are_right(settings: Settings) -> None:
    assert found(settings) == []


def test_the_settings_of_a_deployment_are_right(settings: Settings) -> None:
    assert found(settings, **PRODUCTION) == []


def test_the_settings_of_a_platform_are_right(settings: Settings) -> None:
    assert found(settings, **PRODUCTION, PLATFORM="Heroku", S3_BUCKET="bucket") in ([], ["E016"])


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("E006", {"SECRET_KEY": "short"}),
        ("E007", {"ENCRYPTION_KEYS": ["not a key"]}),
        ("E007", {"ENCRYPTION_KEYS": [FERNET, FERNET]}),
        ("E008", {"ENCRYPTION_KEYS": [FERNET], "SECRET_KEY": FERNET}),
        ("E009", {"CLOUDFLARE_ACCOUNT_ID": "0123"}),
        ("E009", {"CLOUDFLARE_API_TOKEN": "token"}),
        ("E010", {**PRODUCTION, "HOSTS_ARE_GIVEN": False}),
        ("E011", {**PRODUCTION, "DEBUG": True}),
        ("E015", {"FIRST_POLL_SECONDS": 90}),
        ("W001", {"ALLOWED_HOSTS": ["*"]}),
        (
            "W005",
            {
                "CLOUDFLARE_API_URL": "http://192.0.2.7/client/v4",
                "CLOUDFLARE_ACCOUNT_ID": "0123",
                "CLOUDFLARE_API_TOKEN": "secret",
            },
        ),
        ("E019", {"SANDBOX_UPSTREAM_URL": "http://127.0.0.1:11434"}),
        (
            "W006",
            {
                "SANDBOX_UPSTREAM_URL": "http://192.0.2.7:8000",
                "SANDBOX_UPSTREAM_MODEL": "m",
                "SANDBOX_UPSTREAM_KEY": "secret",
            },
        ),
        ("W003", {**PRODUCTION, "KEYS_ARE_GIVEN": False, "S3_BUCKET": "bucket"}),
    ],
)
def test_a_wrong_setting_is_found(
    settings: Settings, expected: str, changes: dict[str, Any]
) -> None:
    assert [one for one in found(settings, **changes) if one != "E016"] == [expected]


def test_a_platform_with_a_disk_for_each_process_needs_shared_places(
    settings: Settings,
) -> None:
    ids = found(settings, PLATFORM="Heroku", HOSTS_ARE_GIVEN=True, DATABASE_KIND="SQLite")
    assert ids == ["E012", "E013", "E014"]


def test_a_secret_is_never_repeated(settings: Settings) -> None:
    settings.SECRET_KEY = "hunter2"
    settings.ENCRYPTION_KEYS = ["swordfish"]
    settings.CLOUDFLARE_API_TOKEN = "opensesame"
    said = str(settings_are_right())
    assert not any(secret in said for secret in ("hunter2", "swordfish", "opensesame"))


def test_a_key_that_others_can_read_is_warned_about(settings: Settings) -> None:
    path = settings.DATA / "secret-key"
    path.chmod(0o644)
    try:
        assert found(settings) == ["W002"]
    finally:
        path.chmod(0o600)


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o755])
def test_a_data_folder_that_others_can_look_into_is_said(
    settings: Settings, tmp_path: Path, mode: int
) -> None:
    tmp_path.chmod(0o700)
    assert found(settings, DATA=tmp_path) == []
    tmp_path.chmod(mode)
    assert found(settings) == ["W004"]


@pytest.mark.parametrize("server", ["http://127.0.0.1:8787/v4", "https://192.0.2.7/v4"])
def test_a_token_may_go_to_this_machine_and_by_https(settings: Settings, server: str) -> None:
    account = {"CLOUDFLARE_ACCOUNT_ID": "0123", "CLOUDFLARE_API_TOKEN": "secret"}
    assert found(settings, CLOUDFLARE_API_URL=server, **account) == []


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["worker", "web"])
def test_another_host_with_files_of_its_own_is_refused(settings: Settings, kind: str) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    name = f"{kind}:other:1a2b"
    Heartbeat.objects.create(name=name, at=timezone.now(), host="other", storage_id="elsewhere")
    [error] = files_are_shared(databases=["default"])
    assert error.id == "batchui.E017"
    assert f"The {kind} process on other" in error.msg


@pytest.mark.django_db
@pytest.mark.parametrize("storage_id", ["", "elsewhere"])
def test_a_check_of_a_host_without_a_data_folder_makes_none(
    settings: Settings, tmp_path: Path, storage_id: str
) -> None:
    settings.DATABASE_KIND, settings.DATA = "PostgreSQL", tmp_path / "not there yet"
    Heartbeat.objects.create(
        name="worker:other:1a2b", at=timezone.now(), host="other", storage_id=storage_id
    )
    # What others store is certainly not here.
    assert [error.id for error in files_are_shared(databases=["default"])] == (
        ["batchui.E017"] if storage_id else []
    )
    assert not settings.DATA.exists()


@pytest.mark.django_db
def test_hosts_that_share_a_folder_are_not_refused(settings: Settings) -> None:
    settings.DATABASE_KIND = "PostgreSQL"
    beat("worker:other:1a2b")
    assert files_are_shared(databases=["default"]) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "age"),
    [
        ({"DATABASE_KIND": "PostgreSQL"}, timedelta(hours=1)),
        ({"DATABASE_KIND": "PostgreSQL", "S3_BUCKET": "bucket"}, timedelta()),
        ({"DATABASE_KIND": "SQLite"}, timedelta()),
    ],
    ids=["long ago", "in a bucket", "SQLite"],
)
def test_a_host_that_shares_its_files_or_is_gone_is_not(
    settings: Settings, changes: dict[str, Any], age: timedelta
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    at = timezone.now() - age
    Heartbeat.objects.create(name="worker", at=at, host="other", storage_id="elsewhere")
    assert files_are_shared(databases=["default"]) == []
