"""What the README promises is there."""

import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import get_commands

from batchui.up.venv import ROOT
from tests.batches.conftest import MODEL, rows
from tests.project.helpers import until
from tests.stories.product import QUICK, TOKEN, Product, running_product
from tests.surroundings import clean_environment

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
    # What `up` or `chaos` tells the services it starts is nobody else's to set; the bucket's own
    # package reads its credentials.
    inner = {"BATCHUI_STOPPING_FILE", "BATCHUI_WORKER_NAME", "BATCHUI_CHAOS"}
    credentials = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}
    assert read - inner - told == set()
    assert told - credentials - read == set()


@pytest.mark.parametrize("path", re.findall(r"!\[.*?\]\((.*?)\)|\]\(([A-Z]+\.md)\)", README))
def test_every_picture_and_page_is_there(path: tuple[str, str]) -> None:
    assert (ROOT / "".join(path)).is_file()


def carried_out(line: str, *, at: Path, data: Path) -> str:
    """What a line of the README prints, in a folder where batchui is; it must succeed."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=at,
        env=clean_environment(BATCHUI_DATA=str(data), BATCHUI_SANDBOX_TOKEN=TOKEN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_finished_soon(product: Product, batch: str) -> bool:
    """Whether a batch has ended; what is on hold there is released at once."""
    product.change("UPDATE batches_part SET resume_at = '2000-01-01' WHERE status = 'held'")
    time.sleep(0.5)
    return product.status(batch) == "finished"


@pytest.mark.processes
def test_a_backup_is_made_while_batchui_runs_and_put_back_pays_for_nothing_twice(
    tmp_path: Path,
) -> None:
    [backup] = [line for line in LINES if "manage.py backup" in line]
    [restore] = [line for line in LINES if "manage.py restore " in line]
    here, data = tmp_path / "here", tmp_path / "data"
    here.mkdir()
    (here / "manage.py").symlink_to(ROOT / "manage.py")
    (here / ".venv").symlink_to(sys.prefix)
    (here / "texts.csv").write_bytes(rows(60))
    with running_product(data, **QUICK) as product:
        product.script({"fault": "error", "call": "submit", "code": 3040, "times": 1000})
        submit = (
            ".venv/bin/python manage.py submit texts.csv --prompt 'Summarise: {{text}}' --model"
        )
        carried_out(f"{submit} {MODEL}", at=here, data=data)
        assert "checked." in carried_out(backup, at=here, data=data)
        product.script()
        [(batch,)] = product.ask("SELECT id FROM batches_batch")
        until(lambda: is_finished_soon(product, batch), seconds=60)
        answered = sum(call["status"] == 200 for call in product.submissions())
        assert answered == 3
    with closing(sqlite3.connect(data / "batchui.sqlite3")) as database, database:
        database.execute("DELETE FROM worker_heartbeat")  # a minute passes
    said = carried_out(restore, at=here, data=data)
    assert "3 parts may have been sent since." in said
    [kept] = data.glob("before-restore-*")
    assert str(kept) in said
    with running_product(data, **QUICK) as product:
        assert set(product.statuses(batch).values()) == {"unsure"}
        beats = "SELECT at FROM worker_heartbeat WHERE name LIKE 'worker:%'"
        seen = {until(lambda: product.ask(beats))[0]}
        until(lambda: seen.update(product.ask(beats)) or len(seen) > 3, seconds=60)
        assert set(product.statuses(batch).values()) == {"unsure"}
        assert product.submissions() == []
