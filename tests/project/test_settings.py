"""Settings as processes see them: bad values are said in sentences, never as a traceback."""

import os
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.surroundings import manage


def production(**more: str) -> dict[str, str]:
    """What README tells to set for a team."""
    return {
        "SECURE_PROXY": "1",
        "ALLOWED_HOSTS": "batches.example.com",
        "CSRF_TRUSTED_ORIGINS": "https://batches.example.com",
        "DATABASE_URL": "postgres://batchui:secret@db.example.com/batchui",
        "SECRET_KEY": "a secret of more than fifty characters, as Django asks for it 1234567890",
        "BATCHUI_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
    } | more


def test_two_installations_share_a_bucket_without_seeing_each_other(tmp_path: Path) -> None:
    code = "from django.core.files.storage import default_storage as s; print(s.location)"
    for given, location in (("staging/", "staging"), ("", "")):
        result = manage(
            *("shell", "--no-imports", "-c", code),
            data=tmp_path,
            BATCHUI_S3_BUCKET="bucket",
            BATCHUI_S3_PREFIX=given,
        )
        assert result.stdout.strip() == location, result.stderr


def test_hosts_of_the_own_network_are_asked_for_pictures_too(tmp_path: Path) -> None:
    code = "from django.conf import settings as s; print(sorted(s.PICTURE_HOSTS))"
    for given, hosts in (
        ("images.internal, 10.0.0.5:8080", ["10.0.0.5:8080", "images.internal"]),
        ("", []),
    ):
        result = manage(
            *("shell", "--no-imports", "-c", code), data=tmp_path, BATCHUI_PICTURE_HOSTS=given
        )
        assert result.stdout.strip() == str(hosts), result.stderr


def test_every_wrong_value_is_said_at_once_and_without_a_traceback(tmp_path: Path) -> None:
    result = manage(
        "check",
        data=tmp_path,
        DEBUG="perhaps",
        BATCHUI_CALLS_PER_5_MINUTES="lots",
        CLOUDFLARE_API_URL="api.example.com",
        CLOUDFLARE_ACCOUNT_ID="0123",
        CSRF_TRUSTED_ORIGINS="batches.example.com",
        DATABASE_URL="mysql://ann:secret@db.example.com/batches",
        SECRET_KEY="short",
    )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr
    for number in (2, 3, 4, 5, 6, 9):
        assert f"batchui.E{number:03}" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_data_folder_without_the_right_to_write_is_said(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    try:
        result = manage("check", data=tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert result.stderr.count("batchui.E001") == 1
    assert "Traceback" not in result.stderr


def test_a_data_folder_that_cannot_be_is_said() -> None:
    result = manage("migrate", data="/proc/nowhere")
    assert result.returncode == 1
    assert "The data folder /proc/nowhere cannot be written" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_data_folder_that_nobody_can_look_for_is_said(tmp_path: Path) -> None:
    """Asking whether it is there is an error by itself, as in a folder of somebody else."""
    data = tmp_path / ("x" * 300)
    assert manage("check", data=data).returncode == 0
    result = manage("migrate", data=data)
    assert result.returncode == 1
    assert "cannot be written: File name too long" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["secret-key", "encryption-key", "address", "sandbox-address"])
def test_a_file_of_the_data_folder_that_cannot_be_read_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    result = manage("check", data=tmp_path)
    assert result.returncode == 1
    assert f"{tmp_path / name} cannot be read: Is a directory." in result.stderr
    assert "Traceback" not in result.stderr


def test_the_deployment_checks_of_django_find_nothing(tmp_path: Path) -> None:
    result = manage("check", "--deploy", "--fail-level", "WARNING", data=tmp_path, **production())
    assert result.returncode == 0, result.stderr


def test_a_platform_with_sqlite_is_refused_saying_why(tmp_path: Path) -> None:
    result = manage("check", data=tmp_path, **production(DYNO="web.1", DATABASE_URL=""))
    assert result.returncode == 1
    assert "the web and worker processes cannot share an SQLite file" in result.stderr


def test_looking_at_the_settings_leaves_nothing_behind(tmp_path: Path) -> None:
    for command in (["check"], ["makemigrations", "--check", "--dry-run"], ["submit", "--help"]):
        assert manage(*command, data=tmp_path / "data").returncode == 0
    assert not (tmp_path / "data").exists()


def test_keys_are_kept_in_the_data_folder_and_differ(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert manage("migrate", data=data).returncode == 0
    secret, encryption = data / "secret-key", data / "encryption-key"
    assert data.stat().st_mode & 0o777 == 0o700
    assert secret.stat().st_mode & 0o777 == encryption.stat().st_mode & 0o777 == 0o600
    assert secret.read_text() != encryption.read_text()
    kept = secret.read_text()
    assert manage("migrate", data=data).returncode == 0
    assert secret.read_text() == kept


def test_no_command_shows_a_secret(tmp_path: Path) -> None:
    secrets = {
        "SECRET_KEY": "canary-key-0123456789012345678901234567890123456789",
        "BATCHUI_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "CLOUDFLARE_ACCOUNT_ID": "0123456789abcdef0123456789abcdef",
        "CLOUDFLARE_API_TOKEN": "canary-token-0123456789",
        "DATABASE_URL": "postgres://batchui:canary-password@db.example.com/batchui",
    }
    shown = manage("diffsettings", data=tmp_path, **secrets).stdout
    assert "CLOUDFLARE_API_TOKEN = '[hidden]'" in shown
    assert "canary" not in shown
    assert secrets["BATCHUI_ENCRYPTION_KEYS"] not in shown


def test_what_is_stored_is_for_its_user_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    for name in ("batchui.sqlite3", "sandbox.sqlite3"):
        (data / name).touch(mode=0o644)
    assert manage("migrate", "--verbosity=0", data=data).returncode == 0
    texts = tmp_path / "texts.csv"
    texts.write_text("id,text\n1,one\n")
    submitted = manage(
        *("submit", str(texts), "--model", "@cf/meta/llama-3.3-70b-instruct-fp8-fast"),
        *("--prompt", "Say {{text}}"),
        data=data,
    )
    assert submitted.returncode == 0, submitted.stderr
    stored = [path for path in data.rglob("*") if path.is_file()]
    assert len(stored) > 4
    assert {path.name for path in stored if path.stat().st_mode & 0o077} == set()
