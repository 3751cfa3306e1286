"""The data folder: made for its owner alone, with keys on which all processes agree."""

from pathlib import Path

import pytest
from pytest_django import Settings

from batchui import data_folder
from batchui.keys import keep, new_fernet_key, new_secret


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    """Where the settings have the data folder. It is not there yet, and its keys are new."""
    settings.DATA = tmp_path / "data"
    settings.FILE_UPLOAD_TEMP_DIR = settings.DATA / "incoming"
    settings.SECRET_KEY_FILE = settings.DATA / "secret-key"
    settings.ENCRYPTION_KEY_FILE = settings.DATA / "encryption-key"
    settings.SECRET_KEY, settings.ENCRYPTION_KEYS = new_secret(), [new_fernet_key()]
    return tmp_path / "data"


def test_the_folder_is_for_its_owner_alone_and_keeps_the_keys(
    folder: Path, settings: Settings
) -> None:
    data_folder.make()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "secret-key").read_text() == settings.SECRET_KEY
    assert [(folder / "encryption-key").read_text()] == settings.ENCRYPTION_KEYS


def test_the_keys_of_the_process_that_was_first_are_used(folder: Path, settings: Settings) -> None:
    folder.mkdir()
    secret = keep(folder / "secret-key", new_secret())
    key = keep(folder / "encryption-key", new_fernet_key())
    data_folder.make()
    assert (secret, [key]) == (settings.SECRET_KEY, settings.ENCRYPTION_KEYS)
