"""Restoring a backup, and what can be compared before and after."""

from pathlib import Path
from typing import Any

import pytest

from batchui.backup.archive import Writer
from batchui.backup.making import make
from batchui.backup.restoring import PutBack, put_back
from batchui.batches.models import Attempt, Batch, Part
from batchui.teams.models import Connection, Team, User
from batchui.worker.models import Heartbeat

PARTS = (Batch, Part, Attempt, User, Team, Connection)


def forget_workers() -> None:
    """A minute passes, in which no worker runs."""
    Heartbeat.objects.all().delete()


def facts() -> dict[str, list[dict[str, Any]]]:
    """Everything that the database says of batches and people."""
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in PARTS}


def stored(folder: Path) -> dict[str, bytes]:
    """Every file of batches, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in (folder / "batches").rglob("*")
        if path.is_file()
    }


def restore(path: Path, *, replace: bool = True) -> PutBack:
    forget_workers()
    return put_back(path, replace=replace)


def repack(to: Path, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    """Make a backup whose manifest says something else."""
    with monkeypatch.context() as during:
        close = Writer.close
        during.setattr(Writer, "close", lambda self, **known: close(self, **{**known, **facts}))
        make(to)
