"""Keys are made once, whole, and for their owner alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batchui.keys import generated_key, is_fernet, split_keys


def test_a_key_is_made_once_with_mode_600(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    key = generated_key(path)
    assert len(key) == 64
    assert generated_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret-key"]


def test_processes_that_start_together_agree_on_the_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: generated_key(tmp_path / "secret-key"), range(64)))
    assert len(keys) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret-key"]


def test_an_encryption_key_is_a_fernet_key(tmp_path: Path) -> None:
    assert is_fernet(generated_key(tmp_path / "key", fernet=True))


@pytest.mark.parametrize("key", ["", "short", "x" * 44, "é" * 32])
def test_other_texts_are_no_fernet_keys(key: str) -> None:
    assert not is_fernet(key)


def test_keys_are_separated_by_commas_or_blanks() -> None:
    assert split_keys(" new, old\nolder ") == ["new", "old", "older"]
