"""API tokens at rest."""

import pytest
from cryptography.fernet import Fernet
from pytest_django import Settings

from batchui.teams import crypto
from batchui.teams.problems import UnreadableSecret

SECRET = "token-of-the-account"


def key() -> str:
    return Fernet.generate_key().decode()


def test_a_secret_comes_back_and_cannot_be_read_in_between() -> None:
    stored = crypto.encrypt(SECRET)
    assert SECRET not in stored
    assert crypto.decrypt(stored) == SECRET


def test_a_new_key_in_front_still_reads_what_an_older_one_wrote(settings: Settings) -> None:
    old, new = key(), key()
    settings.ENCRYPTION_KEYS = [old]
    stored = crypto.encrypt(SECRET)
    settings.ENCRYPTION_KEYS = [new, old]
    assert crypto.decrypt(stored) == SECRET
    newer = crypto.encrypt(SECRET)
    settings.ENCRYPTION_KEYS = [new]
    assert crypto.decrypt(newer) == SECRET


def test_a_lost_key_is_told_in_a_sentence_without_the_secret(settings: Settings) -> None:
    stored = crypto.encrypt(SECRET)
    settings.ENCRYPTION_KEYS = [key()]
    with pytest.raises(UnreadableSecret, match="none of the keys in BATCHUI_ENCRYPTION_KEYS") as e:
        crypto.decrypt(stored)
    assert SECRET not in str(e.value)
    assert stored not in str(e.value)
