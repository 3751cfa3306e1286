"""What `manage.py restore` and `restored` say: of keys, of parts in doubt, of what to do next."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from batchui.backup.making import make
from batchui.batches.models import Batch
from batchui.batches.states import PartStatus, Question
from batchui.keys import new_fernet_key
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import crypto
from batchui.teams.models import Connection, Team
from batchui.up import prepare
from batchui.up import start as start_up
from batchui.worker import generation, installation_mark, tick
from tests.backup.restoring import forget_workers
from tests.batches.conftest import posts

pytestmark = pytest.mark.usefixtures("nobody_works")

NOT_READY = {
    "sqlite": "There is no batchui in the data folder",
    "postgresql": "The database cannot be (used|read)",
}


# -- keys ---------------------------------------------------------------------------------------


@pytest.fixture
def account(team: Team) -> Connection:
    return Connection.objects.create(
        team=team,
        kind=Connection.Kind.REST,
        account_id="0123",
        base_url="https://api.example.com",
        token_encrypted=crypto.encrypt("token"),
    )


def said(capsys: pytest.CaptureFixture[str], to: Path) -> str:
    forget_workers()
    call_command("restore", to, replace=True)
    return capsys.readouterr().out


def test_the_keys_of_a_backup_are_put_back_and_the_others_kept(
    account: Connection, to: Path, data: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    key = settings.ENCRYPTION_KEY_FILE.read_text()
    make(to, with_keys=True)
    other = new_fernet_key()
    settings.ENCRYPTION_KEY_FILE.write_text(other)
    assert "cannot be read" not in said(capsys, to)
    assert settings.ENCRYPTION_KEY_FILE.read_text() == key
    assert settings.ENCRYPTION_KEY_FILE.stat().st_mode & 0o777 == 0o600
    [kept] = data.glob("before-restore-*")
    assert (kept / "encryption-key").read_text() == other


@pytest.mark.parametrize("here", ["another", "none", "the same"])
def test_a_token_that_the_keys_here_cannot_read_is_said(
    account: Connection, to: Path, settings: Any, capsys: pytest.CaptureFixture[str], here: str
) -> None:
    make(to)
    if here == "another":
        settings.ENCRYPTION_KEY_FILE.write_text(new_fernet_key())
    elif here == "none":
        settings.ENCRYPTION_KEY_FILE.unlink()
    told = said(capsys, to)
    warned = "1 API token cannot be read: the key is another one than that of the backup" in told
    assert warned is (here != "the same")


def test_keys_of_the_environment_outweigh_those_of_a_backup(
    account: Connection, to: Path, data: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    make(to, with_keys=True)
    settings.SECRET_KEY_FILE = settings.ENCRYPTION_KEY_FILE = None
    told = said(capsys, to)
    assert "The keys of the backup are not used: the environment has others." in told
    assert "cannot be read" not in told
    settings.ENCRYPTION_KEYS = [new_fernet_key()]
    assert "1 API token cannot be read" in said(capsys, to)


# -- what is said -------------------------------------------------------------------------------


def test_what_to_know_and_what_to_do_is_said(
    sandbox: RunningSandbox, batch: Batch, to: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(to)
    told = said(capsys, to).splitlines()
    assert told[0].startswith("Restored: 5 files and the database. It is the backup of ")
    assert told[1].startswith("3 parts may have been sent since. They wait for a decision")
    assert told[2].startswith("People, passwords and invitations are as they were then")
    assert told[3].startswith("What was here before is kept: ")
    assert told[4:] == ["Now start batchui: python3 manage.py up"]


def test_a_machine_that_was_put_back_as_a_whole_is_told(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("restored")
    assert capsys.readouterr().out.startswith("3 parts may have been sent since.")
    tick.run_tick()
    assert posts(sandbox) == 0
    message = "The whole machine was put back."
    assert set(batch.parts.values_list("message", flat=True)) == {message}


def test_who_says_it_again_is_told_of_the_parts_that_wait_for_a_decision_already(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> str:
        call_command("restored")
        return capsys.readouterr().out.strip()

    told()
    wait = "for a decision on the page “Batches” already."
    assert told() == f"No other part waits to be sent. 3 parts wait {wait}"
    batch.parts.filter(number__gt=1).update(status=PartStatus.STOPPED)
    assert told() == f"No other part waits to be sent. 1 part waits {wait}"
    Batch.objects.update(deleted_at=timezone.now())
    assert told() == "No part waits to be sent, so nothing has to be decided."


def test_beside_the_files_of_another_database_nothing_is_noted(
    sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    generation.keep_up()
    mark = (files_in / installation_mark.MARK).read_bytes()
    (files_in / installation_mark.MARK).write_text("another-database 7\n")
    with pytest.raises(CommandError, match=r"Nothing was noted\. .*files of another database"):
        call_command("restored")
    (files_in / installation_mark.MARK).write_bytes(mark)
    tick.run_tick()  # with the right files again
    assert posts(sandbox) == 3
    assert not batch.parts.filter(question=Question.RESTORED).exists()


@pytest.mark.parametrize("command", ["restored", "backup", "doctor", "setup_link", "sign_in_link"])
def test_where_there_is_no_batchui_it_is_said_and_nothing_is_made(
    tmp_path: Path, to: Path, command: str
) -> None:
    before = connection.settings_dict["NAME"]
    connection.close()
    nothing = tmp_path / "nothing.sqlite3" if connection.vendor == "sqlite" else "nothing"
    connection.settings_dict["NAME"] = str(nothing)
    try:
        with pytest.raises(CommandError, match=NOT_READY[connection.vendor]):
            call_command(command, *([to] if command == "backup" else []))
        assert not Path(nothing).exists()
        assert not to.exists()
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def test_up_tells_a_machine_that_was_put_back_before_anything_starts(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = start_up.parse(["--restored"])
    assert not start_up.parse([]).restored
    prepare.prepare_database(restored=asked.restored)
    assert capsys.readouterr().out.startswith("3 parts may have been sent since.")
    tick.run_tick()
    assert posts(sandbox) == 0
    prepare.prepare_database()
    assert capsys.readouterr().out == ""
