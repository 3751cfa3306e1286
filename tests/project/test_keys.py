"""Keys are made once, whole, and for their owner alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batchui.keys import Hidden, is_fernet, keep, kept_text, new_fernet_key, new_secret, split_keys


def test_a_key_is_kept_once_with_mode_600(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    assert kept_text(path) == ""
    key = new_secret()
    assert len(key) == 64
    assert keep(path, key) == key
    assert keep(path, new_secret()) == key
    assert kept_text(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret-key"]


def test_a_secret_is_itself_and_is_not_shown() -> None:
    secret = Hidden("cfut_0123456789")
    assert (secret, str(secret), f"{secret}") == ("cfut_0123456789",) * 3
    assert "0123" not in f"{secret!r} {[secret]} { {'token': secret} }"
    assert [type(key) for key in split_keys("a,b")] == [Hidden, Hidden]


def test_processes_that_start_together_agree_on_the_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: keep(tmp_path / "secret-key", new_secret()), range(64)))
    assert len(keys) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret-key"]


def test_an_encryption_key_is_a_fernet_key() -> None:
    assert is_fernet(new_fernet_key())


@pytest.mark.parametrize("key", ["", "short", "x" * 44, "é" * 32])
def test_other_texts_are_no_fernet_keys(key: str) -> None:
    assert not is_fernet(key)


def test_keys_are_separated_by_commas_or_blanks() -> None:
    assert split_keys(" new, old\nolder ") == ["new", "old", "older"]
