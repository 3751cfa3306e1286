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

    def gathered() -> str:
        gathering.gather_static_files()
        return file.read_text()

    monkeypatch.setattr(gathering, "call_command", gather)
    with ThreadPoolExecutor() as pool:
        starts = [pool.submit(gathered) for _ in range(3)]
    assert [one.result() for one in starts] == ["whole"] * 3
