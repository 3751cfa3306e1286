"""Disk use by kind."""

from pathlib import Path

import pytest

from batchui.bench.compare import disk_sentence, say_disk
from batchui.bench.disk import disk_over_time, disk_use
from batchui.bench.surroundings import BenchFailed, clean_environment


def test_every_file_counts_once_under_its_kind(tmp_path: Path) -> None:
    for size, name in enumerate(
        (
            "files/batches/9f/source/upload",
            "files/batches/9f/parts/1/rows-1.jsonl.zst",
            "files/batches/9f/parts/1/answers-1-2.jsonl.zst",
            "files/batches/9f/parts/2/reply-1-2.json.zst",
            "batchui.sqlite3",
            "batchui.sqlite3-wal",
            "secret-key",
            "files/batches/9f/source/rows-1.jsonl.zst",
            "files/batches/9f/source/converted-1.zst",
        )
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10**size)
    assert disk_use(tmp_path) == {
        "upload": 100_000_001,
        "rows": 10,
        "draft rows": 10_000_000,
        "answers": 100,
        "replies": 1_000,
        "database": 110_000,
        "other": 1_000_000,
    }


def test_megabytes_are_millions_of_bytes() -> None:
    assert disk_sentence({"upload": 2_000_000, "rows": 500_000}) == "2.5 MB (upload 2.0, rows 0.5)."


def test_each_time_has_its_line() -> None:
    printed: list[str] = []
    say_disk({"now": {"upload": 2_000_000}, "an hour later": {"upload": 1_000_000}}, printed.append)
    assert printed == ["   now: 2.0 MB (upload 2.0).", "   an hour later: 1.0 MB (upload 1.0)."]


def test_without_its_sweeps_there_is_no_figure(tmp_path: Path) -> None:
    environment = clean_environment(BATCHUI_DATA=str(tmp_path), DATABASE_URL="nonsense")
    with pytest.raises(BenchFailed, match=r"The sweeps failed:[^$]*DATABASE_URL is not an address"):
        disk_over_time(tmp_path, environment)
