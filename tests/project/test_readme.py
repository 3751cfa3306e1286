"""What the README promises is there."""

import re
import shlex
import sqlite3
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands

from batchui.up.venv import ROOT

README = (ROOT / "README.md").read_text()
CODE_BLOCKS = re.findall(r"^ *```\n(.*?)^ *```", README, re.M | re.S)
LINES = [line.strip() for block in CODE_BLOCKS for line in block.splitlines()]


def section(title: str) -> str:
    return README.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_two_commands_come_first() -> None:
    commands = [line for line in LINES if "manage.py" in line]
    assert commands[:2] == ["python3 manage.py up", "python3 manage.py test"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"manage\.py (\w+)", README))))
def test_every_command_named_exists(name: str) -> None:
    assert name in {"up", "test"} | set(get_commands())


def test_every_setting_is_in_the_table_and_none_besides() -> None:
    read = set(re.findall(r'_env\.\w+\("([A-Z0-9_]+)"', (ROOT / "batchui/settings.py").read_text()))
    told = set(re.findall(r"`([A-Z][A-Z0-9_]{4,})`", section("Settings"))) | {"DEBUG"}
    # What `up` tells the services it starts is nobody else's to set; the bucket's own package reads
    # its credentials.
    inner = {"BATCHUI_STOPPING_FILE", "BATCHUI_WORKER_NAME"}
    credentials = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}
    assert read - inner - told == set()
    assert told - credentials - read == set()


@pytest.mark.parametrize("path", re.findall(r"!\[.*?\]\((.*?)\)|\]\(([A-Z]+\.md)\)", README))
def test_every_picture_and_page_is_there(path: tuple[str, str]) -> None:
    assert (ROOT / "".join(path)).is_file()


def test_the_backup_is_a_whole_database_even_while_the_product_runs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    running = sqlite3.connect(tmp_path / "data" / "batchui.sqlite3")
    running.execute("PRAGMA journal_mode=WAL")
    running.execute("CREATE TABLE rows (number INTEGER)")
    running.execute("INSERT INTO rows VALUES (42)")
    running.commit()
    backup = [line for line in LINES if "VACUUM" in line or line.startswith("tar ")]
    assert len(backup) == 2
    for line in backup:
        subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    running.close()
    packed = subprocess.run(
        shlex.split("tar tzf batchui-backup.tar.gz"),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    # Nothing of the running database: its write-ahead log would spoil the restored one.
    assert packed == ["data/", "data/backup.sqlite3"]
    copy = sqlite3.connect(tmp_path / "data" / "backup.sqlite3")
    assert copy.execute("SELECT number FROM rows").fetchall() == [(42,)]
    copy.close()
