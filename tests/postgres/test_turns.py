"""Which files run once more on PostgreSQL."""

from pathlib import Path

import pytest

from batchui.up.venv import ROOT
from tests import turns
from tests.postgres.again import ONCE, TURNS, files_of_turn, turn

FOLDERS = ("tests/batches", "tests/worker")


def test_each_file_has_its_turn() -> None:
    there = {
        str(path.relative_to(ROOT))
        for name in FOLDERS
        for path in ROOT.glob(f"{name}/**/test_*.py")
    }
    each = [set(files_of_turn(FOLDERS, whose)) for whose in range(TURNS)]
    assert set().union(*each) == there - set(ONCE) == set(files_of_turn(FOLDERS, None))
    assert sum(map(len, each)) == len(there - set(ONCE))
    assert min(map(len, each)) > len(there) / (2 * TURNS)


def test_it_is_everybodys_turn_where_that_is_asked_for_or_no_commit_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    assert turn() is None
    monkeypatch.undo()
    monkeypatch.setenv("BATCHUI_ALL_ON_POSTGRES", "1")
    assert turn() is None


def test_what_runs_once_is_there() -> None:
    assert [file for file in ONCE if not (ROOT / file).is_file()] == []
