"""Static files are gathered once, and under the eyes of servers that send them."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from batchui import gathering


def test_of_those_who_start_at_once_one_gathers_the_static_files_and_the_others_wait(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.STATIC_ROOT = tmp_path / "gathered"
    file = settings.STATIC_ROOT / "batchui.js"

    def gather(command: str, **_: Any) -> None:
        assert command == "collectstatic"
        file.touch(exist_ok=False)
        time.sleep(0.2)
        file.write_text("whole")
        (settings.STATIC_ROOT / gathering.MANIFEST).touch()

    def gathered() -> str:
        gathering.gather_static_files()
        return file.read_text()

    monkeypatch.setattr(gathering, "call_command", gather)
    with ThreadPoolExecutor() as pool:
        starts = [pool.submit(gathered) for _ in range(3)]
    assert [one.result() for one in starts] == ["whole"] * 3


def test_they_are_gathered_again_only_where_something_has_changed(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.STATIC_ROOT = tmp_path / "gathered"
    piece = tmp_path / "pieces" / "a.js"
    piece.parent.mkdir()
    piece.write_text("1")
    settings.STATICFILES_DIRS = [piece.parent]
    runs: list[str] = []

    def gather(command: str, **_: Any) -> None:
        runs.append(command)
        (settings.STATIC_ROOT / gathering.MANIFEST).touch()

    def are_gathered() -> bool:
        runs.clear()
        gathering.gather_static_files()
        return bool(runs)

    monkeypatch.setattr(gathering, "call_command", gather)
    assert are_gathered()
    assert not are_gathered()
    piece.write_text("22")
    assert are_gathered()
    (settings.STATIC_ROOT / gathering.MANIFEST).unlink()
    assert are_gathered()
    assert not are_gathered()
    monkeypatch.setattr(gathering, "MADE_BY", ("minifying.py",))
    assert are_gathered()


def test_what_a_killed_process_left_half_written_is_removed(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "css").mkdir()
    left, kept = tmp_path / "css" / f".a.css.{'0f' * 8}", tmp_path / "css" / ".a.css"
    left.touch()
    kept.touch()
    monkeypatch.setattr(gathering, "call_command", lambda *_, **__: None)
    gathering.gather_static_files()
    assert (left.exists(), kept.exists()) == (False, True)
