"""What the README promises is there."""

import os
import re
import runpy
import sqlite3
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import get_commands

import batchui.settings
from batchui.batches import deleting
from batchui.prompts import ask
from batchui.sandbox.options import Options
from batchui.sandbox.upstream import settings as upstream_settings
from batchui.teams import invitations
from batchui.up.venv import ROOT
from batchui.worker import sweep
from tests.batches.conftest import MODEL, rows
from tests.project.helpers import until
from tests.stories.product import QUICK, TOKEN, Product, running_product
from tests.surroundings import clean_environment

README = (ROOT / "README.md").read_text()
CODE_BLOCKS = re.findall(r"^ *```\n(.*?)^ *```", README, re.M | re.S)
CI = (ROOT / ".ci" / "run").read_text()
LIST = tomllib.loads((ROOT / "tests/project/promises.toml").read_text())
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


def test_what_is_used_when_a_setting_is_not_set_is_what_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in set(os.environ) - set(clean_environment()):
        monkeypatch.delenv(name)
    used = runpy.run_path(batchui.settings.__file__)
    rows = re.findall(r"^\| (`.+?`) \| .+ \| (.+?) \|$", section("Settings"), re.M)
    told = {name: default for names, default in rows for name in re.findall(r"`(\w+)`", names)}
    assert told["BATCHUI_DATA"] == f"`./{used['DATA'].relative_to(ROOT)}`"
    assert told["SECRET_KEY"] == told["BATCHUI_ENCRYPTION_KEYS"]
    assert told["SECRET_KEY"] == "made, and kept in the data folder"
    kept = {used["SECRET_KEY_FILE"].parent, used["ENCRYPTION_KEY_FILE"].parent}
    assert kept == {used["DATA"]}
    assert told["ALLOWED_HOSTS"] == used["ALLOWED_HOSTS"][0]
    assert (told["CSRF_TRUSTED_ORIGINS"], used["CSRF_TRUSTED_ORIGINS"]) == ("none", [])
    assert told["DATABASE_URL"] == f"{used['DATABASE_KIND']} in the data folder"
    assert used["DATABASES"]["default"]["NAME"] == used["DATA"] / "batchui.sqlite3"
    assert told["CLOUDFLARE_API_URL"] == "Cloudflare's"
    assert used["CLOUDFLARE_API_URL"] == "https://api.cloudflare.com/client/v4"
    assert told["BATCHUI_S3_BUCKET"] == "the data folder"
    assert used["STORAGES"]["default"]["OPTIONS"]["location"].parent == used["DATA"]
    assert (told["BATCHUI_S3_PREFIX"], used["S3_PREFIX"]) == ("the whole bucket", "")
    for name in ("DEBUG", "SECURE_PROXY", "BATCHUI_SANDBOX_CONTROL"):
        assert told[name] == f"{used[name.removeprefix('BATCHUI_')]:d}"
    for name in ("CALLS_PER_5_MINUTES", "FIRST_POLL_SECONDS", "LONGEST_PAUSE_SECONDS"):
        assert told[f"BATCHUI_{name}"] == f"{used[name]:g}"
    assert told["BATCHUI_MAX_UPLOAD_MB"] == f"{used['MAX_UPLOAD_BYTES'] // 1024**2}"
    for name in ("MAX_ROWS", "MAX_COLUMNS", "MAX_CELL_CHARACTERS"):
        assert told[f"BATCHUI_{name}"] == f"{used[name]:,}"
    assert told["BATCHUI_LOG_FORMAT"] == used["LOG_FORMAT"]
    # The sandbox reads these without Django.
    asked = upstream_settings.CONCURRENCY, upstream_settings.SECONDS
    assert (used["SANDBOX_UPSTREAM_CONCURRENCY"], used["SANDBOX_UPSTREAM_SECONDS"]) == asked
    assert told["SANDBOX_UPSTREAM_CONCURRENCY"] == f"{asked[0]}"
    assert told["SANDBOX_UPSTREAM_TIMEOUT_SECONDS"] == f"{asked[1]:g}"
    assert used["SANDBOX_UPSTREAM_URL"] == used["SANDBOX_UPSTREAM_KEY"] == ""


def test_an_older_python_is_told_what_to_do() -> None:
    [oldest] = re.findall(r"You need Python (\S+) or newer", README)
    assert f'requires-python = ">={oldest}"' in (ROOT / "pyproject.toml").read_text()
    major, minor = (int(number) for number in oldest.split("."))
    older = f"import runpy, sys; sys.version_info = ({major}, {minor - 1}, 9, 'final', 0);"
    older += "sys.argv = ['manage.py', 'up']; runpy.run_path('manage.py', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", older], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"batchui needs Python {oldest} or newer")


READING = {"--sheet", "--header-row", "--no-header", "--encoding", "--delimiter", "--nested"}
WRITING = {"--output", "--format", "--only", "--columns", "--answer-column"}
OPTIONS = {
    "submit": READING | WRITING | {"--wait", "--option", "--name", "--file-name", "--as"},
    "download": WRITING | {"--force", "--as"},
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_lists_every_option_of_the_commands(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", command, "--help"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    options = OPTIONS[command]
    if command == "submit":
        options = options | {field.about.option for field in ask.fields() if field.about.option}
    assert options <= set(re.findall(r"--[a-z-]+", done.stdout))


def test_what_is_kept_for_how_long_is_what_it_says() -> None:
    text = " ".join(README.split())
    assert f"A deleted batch is kept for {deleting.KEPT.days} days" in text
    assert f"can be brought back for {deleting.KEPT.days} days" in text
    days = sweep.DRAFTS_ARE_KEPT.days
    assert f"Drafts that nobody starts are removed after {days} days" in text
    assert f"forgets what it was sent after {Options().keep_days} days" in text
    assert f"never answered after {Options().keep_unanswered_days}." in text
    assert invitations.LIFETIME.days == 7
    assert "works once, for seven days" in text


@pytest.mark.parametrize("path", re.findall(r"!\[.*?\]\((.*?)\)|\]\(([A-Z]+\.md)\)", README))
def test_every_picture_and_page_is_there(path: tuple[str, str]) -> None:
    assert (ROOT / "".join(path)).is_file()


# -- every sentence -----------------------------------------------------------------------------


def sentences() -> list[str]:
    """The sentences of the README and the rows of its tables, without headings, code, pictures."""
    text = re.sub(r"^ *```\n.*?^ *```\n|!\[.*?\]\(.*?\)", "\n", README, flags=re.M | re.S)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:- |\d\. |\||#))", text):
        words = " ".join(paragraph.split())
        words = re.sub(r"^\d\. (\*\*[^*]+\.\*\* )?", "", words)
        is_row = words.startswith("|")
        if words and not re.match(r"#|\|[-|]+\|$", words):
            ends = r"(?<=[.:])\s+(?=[A-Z`*](?!dit\*|ead\*))"
            found += [words] if is_row else re.split(ends, words)
    heads = {line for line in found if line.startswith(("| variable |", "| what you see |"))}
    return [line for line in found if line not in heads]


def test_every_sentence_is_a_promise_that_tests_carry_out_or_an_advice() -> None:
    kept = [*LIST["promises"], *LIST["advice"]]
    assert [line for line in sentences() if not line.startswith(tuple(kept))] == []
    assert [one for one in kept if not any(line.startswith(one) for line in sentences())] == []


@pytest.mark.parametrize("tests", LIST["promises"].values(), ids=list(LIST["promises"]))
def test_the_tests_that_carry_a_promise_out_are_there(tests: str | list[str]) -> None:
    for test in [tests] if isinstance(tests, str) else tests:
        path, name = test.split("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / path).read_text()


def test_ci_runs_the_tests_as_it_says() -> None:
    assert re.search(r'^section "Tests" .*python3 manage\.py test$', CI, re.M)


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
        assert carried_out(f"{submit} {MODEL}", at=here, data=data).startswith(product.address)
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
