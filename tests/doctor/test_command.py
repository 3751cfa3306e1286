"""`manage.py doctor`: what it prints, and its exit status."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from batchui.batches import clients
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams.connections import sandbox_token
from tests.batches.conftest import MakeBatch, rows, work

pytestmark = pytest.mark.django_db


def test_it_says_that_all_is_well(
    finished: Batch, capsys: pytest.CaptureFixture[str], sandbox: RunningSandbox
) -> None:
    call_command("doctor", pause=0)
    said, aside = capsys.readouterr()
    assert said == "All is well: 1 batch, 60 rows, 10 invariants.\n"
    assert "3 requests that the sandbox accepted" in aside


def test_it_names_what_is_off_and_ends_with_1(
    finished: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    Batch.objects.update(answered=F("answered") - 1)
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", pause=0)
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert said.startswith("1. Each row of a file has one fate")
    assert f"Batch “texts” {finished.pk}: The batch counts 59 as “answered”" in said
    assert "2 things wrong in 1 batch, 60 rows." in said


def test_one_batch_alone(
    start: MakeBatch, finished: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = work(start(rows(5)))
    Batch.objects.filter(pk=finished.pk).update(answered=59)
    call_command("doctor", batch=other.pk, pause=0)
    assert "All is well: 1 batch, 5 rows" in capsys.readouterr().out


def test_it_changes_nothing(finished: Batch, files_in: Path) -> None:
    def state() -> list[Any]:
        tables = [list(table.objects.order_by("pk").values()) for table in (Batch, Part, Attempt)]
        return [*tables, list(Event.objects.values()), sorted(files_in.rglob("*"))]

    before = state()
    call_command("doctor", pause=0)
    assert state() == before


def test_a_batch_that_is_not_there_cannot_be_checked(db: None) -> None:
    with pytest.raises(CommandError, match="There is no batch") as raised:
        call_command("doctor", batch=uuid4())
    assert raised.value.returncode == 2


def test_a_storage_that_does_not_answer_cannot_be_checked(finished: Batch, files_in: Path) -> None:
    folder = files_in / "batches"
    folder.rename(files_in / "aside")
    folder.write_text("in the way")
    with pytest.raises(CommandError, match="Nothing can be said: NotADirectoryError") as raised:
        call_command("doctor", pause=0)
    assert raised.value.returncode == 2


def test_an_account_at_cloudflare_has_no_list_of_requests(
    finished: Batch, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "account", "secret-token"
    call_command("doctor", pause=0)
    said, aside = capsys.readouterr()
    assert said.startswith("All is well")
    assert "the database is asked alone" in aside


@pytest.mark.parametrize(("token", "has_a_list"), [("", True), ("another token", False)])
def test_a_sandbox_that_runs_elsewhere_tells_those_who_have_its_token(
    start: MakeBatch,
    settings: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    token: str,
    has_a_list: bool,
) -> None:
    settings.DATA = tmp_path  # which has no sandbox of its own
    with running_sandbox(token=sandbox_token()) as running:
        settings.SANDBOX_URL, settings.FIRST_POLL_SECONDS = running.base_url, 0
        work(start(rows(60)))
        settings.SANDBOX_TOKEN = token
        call_command("doctor", pause=0)
    clients.close_all()
    said, aside = capsys.readouterr()
    assert said.startswith("All is well: 1 batch, 60 rows")
    assert ("3 requests that the sandbox accepted" in aside) is has_a_list
    assert ("the database is asked alone" in aside) is not has_a_list


def test_a_sandbox_that_does_not_run_is_no_fault(
    finished: Batch, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SANDBOX_URL = "http://127.0.0.1:9/client/v4"
    call_command("doctor", pause=0)
    assert "the database is asked alone" in capsys.readouterr().err
