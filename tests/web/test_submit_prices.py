"""`manage.py submit` asks once more before a batch that may cost more than the team's figure."""

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from batchui.batches.models import Batch
from batchui.teams.models import Team
from tests.batches.conftest import another_account
from tests.web.submitting import PROMPT, Ran, Terminal, written

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]

DEAR = b"id,text\n" + b"1,%b\n" % (b"word " * 400) * 3_000


@pytest.fixture
def file(tmp_path: Path, team: Team, settings: Any) -> Path:
    """Rows of which nothing is free; the team wants to be asked before each batch."""
    another_account(settings)
    Team.objects.filter(pk=team.pk).update(confirm_above=0)
    return written(tmp_path, DEAR)


def typed(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(line))


def test_without_anybody_to_ask_it_says_what_to_do(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    ran = Ran(file, *PROMPT)
    assert ran.status == 2
    assert re.search(r"This batch may cost .*\$\S+ Say --yes to start it", ran.err)
    assert not Batch.objects.exists()


def test_with_yes_it_starts(file: Path) -> None:
    assert Ran(file, *PROMPT, "--yes").status == 0
    batch = Batch.objects.get()
    assert batch.started_at is not None
    assert batch.estimated_high is not None
    assert batch.estimated_high > 0.11


@pytest.mark.parametrize("line", ["y\n", "Yes\n"])
def test_who_agrees_in_the_terminal_starts_it(
    file: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    typed(monkeypatch, line)
    assert "Start it? [y/N]" in Ran(file, *PROMPT).err
    assert Batch.objects.get().started_at is not None


@pytest.mark.parametrize("line", ["\n", "n\n", ""])
def test_who_does_not_starts_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    typed(monkeypatch, line)
    ran = Ran(file, *PROMPT)
    assert ran.status == 2
    assert "and nothing was started" in ran.err
    assert not Batch.objects.exists()


def test_below_the_figure_nobody_is_asked(
    file: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    Team.objects.filter(pk=team.pk).update(confirm_above=1_000)
    typed(monkeypatch, "")
    assert Ran(file, *PROMPT).status == 0
