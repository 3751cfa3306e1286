"""`manage.py submit` beside a database with a damaged page: status 2 and one line, no traceback."""

import io
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.batches.conftest import MODEL, rows
from tests.surroundings import manage
from tests.web.submitting import PROMPT, Submit, written

MALFORMED = "The database cannot be used: database disk image is malformed. "


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of a batchui that was started once."""
    data = tmp_path_factory.mktemp("whole") / "data"
    assert manage("migrate", "--verbosity=0", data=data).returncode == 0
    return data


def overwrite_first_page(database: Path, table: str) -> None:
    with closing(sqlite3.connect(database)) as opened:
        [size] = opened.execute("PRAGMA page_size").fetchone()
        asked = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        [page] = opened.execute(asked, [table]).fetchone()
    with database.open("r+b") as content:
        content.seek((page - 1) * size)
        content.write(b"\xff" * size)


@pytest.mark.processes
@pytest.mark.parametrize(
    "table",
    ["batches_part", "batches_batch", "batches_event", "teams_team", "django_migrations"],
)
def test_a_damaged_table_is_one_sentence(whole: Path, tmp_path: Path, table: str) -> None:
    data = shutil.copytree(whole, tmp_path / "data")
    overwrite_first_page(data / "batchui.sqlite3", table)
    texts = written(tmp_path, rows(3))
    ran = manage("submit", str(texts), "--model", MODEL, *PROMPT, data=data)
    assert (ran.returncode, ran.stdout) == (2, "")
    *log, line = ran.stderr.splitlines()
    assert line.startswith(MALFORMED)
    assert all(" INFO batchui.security: " in other for other in log)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a file of SQLite is damaged")
def test_damage_after_the_start_is_said_with_the_page_of_the_batch(tmp_path: Path) -> None:
    path = Path(connection.settings_dict["NAME"])
    kept = []

    class Spoiled(Submit):
        @staticmethod
        def pause(_seconds: float) -> None:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            kept.append(path.read_bytes())
            overwrite_first_page(path, "batches_batch")

    texts, out = written(tmp_path, rows(3)), io.StringIO()
    try:
        with pytest.raises(CommandError) as raised:
            call_command(Spoiled(), str(texts), "--model", MODEL, *PROMPT, "--wait", stdout=out)
    finally:
        connection.close()
        path.write_bytes(kept[0])
    assert raised.value.returncode == 1
    started = f"The batch was started: {out.getvalue().strip()}"
    assert str(raised.value) == f"{MALFORMED}{started}"
