"""`manage.py submit`: exit statuses, sentences on stderr, and the same batch as from the page."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from batchui.batches import checking, decisions, intake
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from batchui.worker import heartbeat
from batchui.worker.models import Heartbeat
from tests.batches.conftest import CHAT_COMPLETIONS, MODEL, rows
from tests.surroundings import clean_environment, manage
from tests.teams.people import join, set_up
from tests.web.submitting import PROMPT, TRANSLATION, Ran, Submit, work_a_little, written

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.django_db


@pytest.fixture
def texts(tmp_path: Path, db: None) -> Path:
    heartbeat.beat("worker:beside")
    return written(tmp_path, rows(60))


# -- 0: started, or every row answered ----------------------------------------------------------


def test_it_starts_a_batch_and_prints_its_address(texts: Path, settings: Any) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    ran = Ran(texts, *PROMPT)
    batch = Batch.objects.get()
    assert (ran.status, ran.err) == (0, "The sandbox answers: no AI model runs there.\n")
    assert ran.out == f"http://127.0.0.1:8000{batch.get_absolute_url()}\n"
    assert (batch.status, batch.part_count, batch.name) == (BatchStatus.QUEUED, 3, "texts")


def test_without_a_worker_it_says_that_nothing_is_sent_yet(
    sandbox: RunningSandbox, texts: Path
) -> None:
    Heartbeat.objects.all().delete()
    remark = "No worker is running, so nothing is sent now"
    assert remark in Ran(texts, *PROMPT).err
    waited = Ran(texts, *PROMPT, "--wait")
    assert (waited.status, waited.err.count(remark)) == (0, 1)


def test_without_an_address_it_prints_the_path(texts: Path, settings: Any) -> None:
    settings.BASE_URL = ""
    assert Ran(texts, *PROMPT).out == f"{Batch.objects.get().get_absolute_url()}\n"


def test_every_option_reaches_the_batch(texts: Path) -> None:
    Ran(
        texts,
        *PROMPT,
        *("--system", "Be brief.", "--reference-column", "id", "--name", "May", "--resend-once"),
        *("--option", "max_tokens=50", "--option", "temperature=0.5", "--option", "top_p=0.9"),
        *("--option", 'response_format={"type": "json_object"}', "--option", "seed=7"),
    )
    batch = Batch.objects.get()
    assert (batch.name, batch.instruction, batch.reference_column) == ("May", "Be brief.", "id")
    assert (batch.max_tokens, batch.temperature, batch.resend_once) == (50, 0.5, True)
    assert batch.options == {
        "top_p": 0.9,
        "response_format": {"type": "json_object"},
        "seed": 7,
    }


@pytest.mark.parametrize(
    ("options", "template"),
    [
        (("--text-column", "text"), "{{text}}"),
        (("--text-column", "text", "--prompt", "Summarise."), "Summarise.\n\n{{text}}"),
        (("--text-column", "text", "--prompt", "Say {{text}}"), "Say {{text}}"),
    ],
)
def test_a_column_is_sent_as_it_is_or_behind_the_prompt(
    texts: Path, options: tuple[str, ...], template: str
) -> None:
    assert Ran(texts, *options).status == 0
    assert Batch.objects.get().template == template


@pytest.mark.parametrize(
    ("given", "code"), [("fr", "fr"), ("French", "fr"), ("pt-BR", "pt"), ("nb", "no")]
)
def test_a_language_is_a_code_or_a_name(texts: Path, given: str, code: str) -> None:
    options = ("--text-column", "text", "--target-lang", given)
    assert Ran(texts, *options, model=TRANSLATION).status == 0
    assert Batch.objects.get().target_lang == code


def test_waiting_ends_with_0_and_the_answers(sandbox: RunningSandbox, texts: Path) -> None:
    output = texts.with_name("out.csv")
    ran = Ran(texts, *PROMPT, "--wait", "--output", str(output))
    assert ran.status == 0
    who, *lines = ran.err.splitlines()
    assert who == "The sandbox answers: no AI model runs there."
    assert lines[0] == "Queued: 0 of 60 rows answered"
    assert all(line.endswith("of 60 rows answered") for line in lines[:-1])
    assert lines[-1] == f"Finished: 60 of 60 rows answered, written to {output}"
    assert "\r" not in ran.err
    table = list(csv.reader(io.StringIO(output.read_bytes().decode("utf-8-sig"), newline="")))
    assert table[0] == ["id", "text", "answer", "status", "error"]
    assert len(table) == 61
    assert {line[3] for line in table[1:]} == {"answered"}


@pytest.mark.parametrize(("before", "after"), [(None, 0o600), (0o640, 0o640), (0o644, 0o644)])
def test_the_answers_are_for_their_owner_unless_the_file_was_open_before(
    sandbox: RunningSandbox, texts: Path, before: int | None, after: int
) -> None:
    output = texts.with_name("out.csv")
    if before is not None:
        output.touch()
        output.chmod(before)
    assert Ran(texts, *PROMPT, "--output", str(output)).status == 0
    assert output.stat().st_mode & 0o777 == after


@pytest.mark.parametrize(
    ("name", "options", "is_json"),
    [
        ("out.json", (), True),
        ("out", ("--format", "json"), True),
        ("out.txt", ("--format", "csv"), False),
    ],
)
def test_the_format_is_the_one_asked_for_or_the_endings(
    sandbox: RunningSandbox,
    tmp_path: Path,
    name: str,
    options: tuple[str, ...],
    is_json: bool,
) -> None:
    output = tmp_path / name
    assert Ran(written(tmp_path, rows(3)), *PROMPT, "--output", str(output), *options).status == 0
    assert output.read_bytes().startswith(b"[" if is_json else b"\xef\xbb\xbfid,text,answer")
    if is_json:
        assert [row["row"] for row in json.loads(output.read_bytes())] == [2, 3, 4]


def test_lines_of_ready_made_items_need_no_prompt(sandbox: RunningSandbox, tmp_path: Path) -> None:
    items = written(tmp_path, b'{"prompt": "Say one"}\n{"prompt": "Say two"}\n', "items.jsonl")
    assert Ran(items, "--wait", model=CHAT_COMPLETIONS).status == 0
    assert Batch.objects.get().as_items


# -- 1: finished, and some rows were not answered -----------------------------------------------


def test_answers_that_cannot_be_written_can_still_be_downloaded(
    sandbox: RunningSandbox, texts: Path
) -> None:
    output = texts.with_name("out.csv")

    class Hindered(Submit):
        """Beside it, somebody makes a folder of the output's name."""

        @staticmethod
        def pause(seconds: float) -> None:
            output.mkdir(exist_ok=True)
            work_a_little(seconds)

    with pytest.raises(CommandError) as raised:
        call_command(Hindered(), str(texts), "--model", MODEL, *PROMPT, "--output", str(output))
    page = Batch.objects.get().get_absolute_url()
    assert f"could not be written to {output}: Is a directory." in str(raised.value)
    assert str(raised.value).endswith(f"download them at {page}")
    assert raised.value.returncode == 1
    assert [path for path in output.parent.iterdir() if path.is_file()] == [texts]


def test_rows_without_an_answer_end_with_1(sandbox: RunningSandbox, texts: Path) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    output = texts.with_name("out.jsonl")
    ran = Ran(texts, *PROMPT, "--wait", "--output", str(output))
    assert ran.status == 1
    ended = f"Finished: 59 of 60 rows answered, written to {output}"
    assert ran.err.splitlines()[-1] == ended
    statuses = [json.loads(line)["status"] for line in output.read_bytes().splitlines()]
    assert sorted(set(statuses)) == ["answered", "failed"]


def test_skipped_rows_end_with_1(sandbox: RunningSandbox, tmp_path: Path) -> None:
    texts = written(tmp_path, b"id,text\n1,a\n2\n3,\n")
    ran = Ran(texts, *PROMPT, "--skip-invalid", "--wait")
    assert ran.status == 1
    batch = Batch.objects.get()
    assert (batch.answered, batch.invalid, batch.skipped) == (1, 1, 1)
    assert "2 rows are skipped, and the downloads say so." in ran.err
    assert ran.err.splitlines()[-1] == "Finished: 1 row answered, 2 skipped"


def test_rows_with_nothing_to_ask_about_are_skipped_and_end_with_0(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    texts, output = written(tmp_path, b"id,text\n1,a\n2,\n\n3,b\n"), tmp_path / "answers.jsonl"
    ran = Ran(texts, *PROMPT, "--wait", "--output", str(output))
    assert ran.status == 0
    assert "2 rows are skipped, with nothing to ask about, and the downloads say so." in ran.err
    ended = f"Finished: 2 rows answered, 2 skipped, written to {output}"
    assert ran.err.splitlines()[-1] == ended
    told = [json.loads(line) for line in output.read_bytes().splitlines()]
    assert [line["status"] for line in told] == ["answered", "skipped", "skipped", "answered"]
    assert [line["error"] for line in told] == [
        None,
        "Row 3, column “text”: the cell is blank, so there is nothing to ask.",
        "Row 4: the line is empty.",
        None,
    ]


def test_with_stop_at_blank_nothing_is_started(sandbox: RunningSandbox, tmp_path: Path) -> None:
    texts = written(tmp_path, b"id,text\n1,a\n2,\n")
    ran = Ran(texts, *PROMPT, "--stop-at-blank")
    assert (ran.status, Batch.objects.exists()) == (2, False)
    assert "1 row has nothing to ask about. Fill it in, or skip it. Row 3" in ran.err


def test_a_batch_that_fails_ends_with_1(sandbox: RunningSandbox, tmp_path: Path) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    ran = Ran(written(tmp_path, rows(1)), *PROMPT, "--wait")
    assert (ran.status, Batch.objects.get().status) == (1, BatchStatus.FAILED)


def test_a_decision_is_asked_for_while_waiting(sandbox: RunningSandbox, texts: Path) -> None:
    class Deciding(Submit):
        @staticmethod
        def pause(_seconds: float) -> None:
            work_a_little(0)
            for part in Batch.objects.get().parts.filter(status="unsure"):
                if "decision" in err.getvalue():
                    decisions.leave_out(part, by=None)

    sandbox.script({"fault": "cut_after"})
    out, err = io.StringIO(), io.StringIO()
    options = ["--model", MODEL, *PROMPT, "--wait"]
    with pytest.raises(SystemExit) as ended:
        call_command(Deciding(), str(texts), *options, stdout=out, stderr=err)
    assert ended.value.code == 1
    asked = f"A part needs your decision: {out.getvalue().strip()}"
    assert err.getvalue().count(asked) == 1


# -- whose batch it is --------------------------------------------------------------------------


def test_without_a_name_it_is_the_first_administrators(texts: Path) -> None:
    ana = set_up()
    join(ana)
    Ran(texts, *PROMPT)
    batch = Batch.objects.get()
    assert (batch.created_by, batch.team) == (ana, ana.membership.team)


def test_it_is_the_batch_of_whom_it_says(texts: Path) -> None:
    ben: User = join(set_up())
    Ran(texts, *PROMPT, "--as", " Ben@example.com ")
    assert Batch.objects.get().created_by == ben


def test_before_anybody_has_signed_in_there_is_a_team_already(texts: Path) -> None:
    Ran(texts, *PROMPT)
    batch = Batch.objects.get()
    assert (batch.created_by, batch.team) == (None, Team.objects.get())
    assert set_up().membership.team == batch.team


def test_a_worker_that_is_quicker_does_no_harm(
    sandbox: RunningSandbox, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker of `up` may take every step of intake before the command does."""
    receive = intake.receive

    def received(*args: Any, **kwargs: Any) -> Batch:
        batch = receive(*args, **kwargs)
        checking.check_file(batch.pk)
        return batch

    monkeypatch.setattr(intake, "receive", received)
    assert Ran(texts, *PROMPT, "--wait").status == 0


def test_waiting_ends_with_how_it_ended_also_without_an_output(
    sandbox: RunningSandbox, texts: Path
) -> None:
    assert Ran(texts, *PROMPT, "--wait").err.splitlines()[-1] == "Finished: 60 of 60 rows answered"


# -- in a process of its own --------------------------------------------------------------------


@pytest.mark.processes
def test_a_real_process_beside_a_real_worker(
    shared_sandbox: RunningSandbox, tmp_path: Path
) -> None:
    shared_sandbox.script()
    data = tmp_path / "data"
    variables = {
        "BATCHUI_SANDBOX_URL": shared_sandbox.base_url,
        "BATCHUI_FIRST_POLL_SECONDS": "0.1",
    }
    assert manage("migrate", "--verbosity=0", data=data).returncode == 0
    texts, output = written(tmp_path, rows(60)), tmp_path / "out.jsonl"
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=clean_environment(BATCHUI_DATA=str(data), **variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        words = (str(texts), "--model", MODEL, *PROMPT, "--output", str(output))
        done = manage("submit", *words, data=data, **variables)
    finally:
        worker.terminate()
        worker.wait(20)
    assert done.returncode == 0, done.stderr
    assert len(output.read_bytes().splitlines()) == 60
    empty = written(tmp_path, b"", "empty.csv")
    refused = manage("submit", str(empty), "--model", MODEL, *PROMPT, data=data, **variables)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "The file is empty. Choose a file with at least one row.\n"


@pytest.mark.processes
@pytest.mark.parametrize("folder", ["nothing", "an empty folder", "a database without tables"])
@pytest.mark.parametrize("command", ["submit", "download", "sign_in_link"])
def test_where_batchui_was_never_started_one_sentence_says_so_and_nothing_is_made(
    tmp_path: Path, folder: str, command: str
) -> None:
    data = tmp_path / "data"
    if folder != "nothing":
        data.mkdir(0o700)
    if folder == "a database without tables":
        (data / "batchui.sqlite3").touch()
    texts = written(tmp_path, rows(3))
    words = {"submit": (str(texts), "--model", MODEL, *PROMPT), "download": ("texts",)}
    before = sorted(tmp_path.rglob("*"))
    ran = manage(command, *words.get(command, ()), data=data)
    assert ran.returncode == (1 if command == "sign_in_link" else 2)
    assert "Start batchui once (python3 manage.py up)." in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before
