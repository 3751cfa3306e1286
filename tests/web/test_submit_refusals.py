"""`manage.py submit` given bad input: status 2, one sentence on stderr, nothing left behind."""

import io
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from batchui.batches import decisions, intake
from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MODEL, rows
from tests.web.submitting import PROMPT, TRANSLATION, Ran, Submit, written
from tests.web.visiting import nothing_is_left

pytestmark = pytest.mark.django_db

GOOD = rows(3)
REFUSED: dict[str, tuple[bytes, tuple[str, ...], str, str]] = {
    "an empty file": (b"", PROMPT, MODEL, "The file is empty. Choose a file with"),
    "a fault in the file": (
        b'id,text\n1,one\n2,"two\n',
        PROMPT,
        MODEL,
        "Row 3, column “text”: a quotation mark opens the cell here",
    ),
    "a row that is too short": (
        b"id,text\n1,a\n2\n",
        PROMPT,
        MODEL,
        "1 row cannot be asked. Correct it in the file, or skip it. Row 3, column "
        "“text”: the cell is missing. The row has 1 cell where the header has 2 columns. Add what "
        "is missing, or skip the row.",
    ),
    "a blank prompt": (
        b"id,text\n1,a\n2, \n",
        (*PROMPT, "--stop-at-blank"),
        MODEL,
        "1 row has nothing to ask about. Fill it in, or skip it. Row 3, column "
        "“text”: the cell is blank",
    ),
    "no prompt": (GOOD, (), MODEL, "--prompt: write what to ask, and name a column"),
    "no column": (GOOD, ("--prompt", "Hello"), MODEL, "--prompt: The text names no column"),
    "an unknown column": (
        GOOD,
        ("--text-column", "txt"),
        MODEL,
        "--text-column: The text names the column “txt”, which the file does not have. Did you "
        "mean “text”?",
    ),
    "an unknown model": (
        GOOD,
        PROMPT,
        "@cf/meta/llama-9",
        "--model: batchui knows no model “@cf/meta/llama-9”",
    ),
    "an unknown language": (
        GOOD,
        ("--text-column", "text", "--target-lang", "Klingonese"),
        TRANSLATION,
        "--target-lang: The translation model does not know the language “Klingonese”.",
    ),
    "no language": (
        GOOD,
        ("--text-column", "text"),
        TRANSLATION,
        "--target-lang: Choose the language to translate into.",
    ),
    "an unknown reference": (
        GOOD,
        (*PROMPT, "--reference-column", "order"),
        MODEL,
        "--reference-column: The file has no column “order”.",
    ),
    "an option without a value": (
        GOOD,
        (*PROMPT, "--option", "max_tokens"),
        MODEL,
        "--option max_tokens: write it as key=value, such as max_tokens=200.",
    ),
    "an option that is no number": (
        GOOD,
        (*PROMPT, "--option", "max_tokens=many"),
        MODEL,
        "--option max_tokens: Write a whole number from 1 to 32,768.",
    ),
    "an option of ours": (
        GOOD,
        (*PROMPT, "--option", "messages=x"),
        MODEL,
        "--option: The option “messages” is filled in from the question and the file",
    ),
    "nobody of that name": (
        GOOD,
        (*PROMPT, "--as", "nobody@example.com"),
        MODEL,
        "Nobody in batchui has the e-mail address nobody@example.com.",
    ),
    "no such folder": (
        GOOD,
        (*PROMPT, "--output", "/no/such/folder/out.csv"),
        MODEL,
        "--output /no/such/folder/out.csv: there is no folder /no/such/folder.",
    ),
    "an endless name": (GOOD, (*PROMPT, "--name", "x" * 201), MODEL, "--name: use at most 200"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_ends_with_2_a_sentence_and_nothing_left_behind(
    db: None, tmp_path: Path, files_in: Path, what: str
) -> None:
    content, options, model, sentence = REFUSED[what]
    ran = Ran(written(tmp_path, content), *options, model=model)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(sentence)
    assert ran.err.count("\n") == 1
    assert not Batch.objects.exists()
    assert not [path for path in files_in.rglob("*") if path.is_file()]


def test_a_file_that_is_not_there_ends_with_2(db: None, tmp_path: Path) -> None:
    ran = Ran(tmp_path / "none.csv", *PROMPT)
    assert (ran.status, ran.err) == (2, f"{tmp_path}/none.csv: there is no such file.\n")
    folder = Ran(tmp_path, *PROMPT)
    assert (folder.status, folder.err) == (2, f"{tmp_path} is a folder. Name a file in it.\n")
    assert not Team.objects.exists()


def test_an_output_that_is_a_folder_is_refused_before_the_wait(db: None, tmp_path: Path) -> None:
    texts = written(tmp_path, GOOD)
    ran = Ran(texts, *PROMPT, "--output", str(tmp_path))
    assert (ran.status, ran.err) == (2, f"--output {tmp_path} is a folder. Name a file in it.\n")
    assert not Batch.objects.exists()


def test_no_device_and_no_pipe_is_replaced_by_the_answers(db: None, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    ran = Ran(written(tmp_path, GOOD), *PROMPT, "--output", str(pipe))
    said = f"--output {pipe} is no ordinary file. Name another one.\n"
    assert (ran.status, ran.err) == (2, said)
    assert pipe.is_fifo()
    assert not Batch.objects.exists()


def test_the_submitted_file_is_not_replaced_by_its_answers(db: None, tmp_path: Path) -> None:
    texts = written(tmp_path, GOOD)
    other_name = tmp_path / "link.csv"
    other_name.symlink_to(texts)
    ran = Ran(texts, *PROMPT, "--output", str(other_name))
    said = f"--output {other_name} is the file that is submitted. Name another one.\n"
    assert (ran.status, ran.err) == (2, said)
    assert texts.read_bytes() == GOOD
    assert not Batch.objects.exists()


@pytest.mark.parametrize("option", ["--prompt", "--name", "--option"])
def test_an_option_that_is_no_utf_8_is_asked_for_again(
    db: None, tmp_path: Path, option: str
) -> None:
    ran = Ran(written(tmp_path, GOOD), *PROMPT, option, os.fsdecode(b"K\xf6ln={{text}}"))
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "“K?ln={{text}}” was not typed in UTF-8. Set the terminal to UTF-8, and type it again.\n"
    )


def test_ctrl_c_while_the_file_is_read_leaves_nothing_behind(
    db: None, tmp_path: Path, files_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for read in ((intake, "check_file"), (decisions, "prepare")):
        with monkeypatch.context() as patched:
            patched.setattr(*read, interrupted)
            with pytest.raises(CommandError) as raised:
                Ran(written(tmp_path, GOOD), *PROMPT)
        assert (raised.value.returncode, str(raised.value)) == (130, "Nothing was started.")
        assert nothing_is_left(files_in)


def test_ctrl_c_while_it_waits_says_that_the_batch_goes_on(
    sandbox: RunningSandbox, tmp_path: Path
) -> None:
    class Interrupted(Submit):
        @staticmethod
        def pause(_seconds: float) -> None:
            raise KeyboardInterrupt

    words = (str(written(tmp_path, GOOD)), "--model", MODEL, *PROMPT, "--wait")
    with pytest.raises(CommandError) as raised:
        call_command(Interrupted(), *words, stdout=io.StringIO(), stderr=io.StringIO())
    batch = Batch.objects.get()
    assert raised.value.returncode == 130
    assert str(raised.value) == f"The batch goes on: {batch.get_absolute_url()}"


def test_an_account_that_only_up_knows_is_asked_for(
    team: Team, tmp_path: Path, settings: Any
) -> None:
    settings.ADDRESS_FILE, settings.SANDBOX_FILE = tmp_path / "address", tmp_path / "sandbox"
    settings.ADDRESS_FILE.write_text("http://127.0.0.1:8000")
    ran = Ran(written(tmp_path, GOOD), *PROMPT)
    assert ran.status == 2
    assert "Set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN here too" in ran.err
    assert not Batch.objects.exists()
    settings.SANDBOX_FILE.write_text("http://127.0.0.1:8787/client/v4")
    assert Ran(written(tmp_path, GOOD), *PROMPT).status == 0


def test_a_batch_that_a_colleague_deletes_while_it_is_read_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete(batch_id: object) -> None:
        Batch.objects.filter(pk=batch_id).update(deleted_at=timezone.now())

    monkeypatch.setattr(intake, "check_file", delete)
    ran = Ran(written(tmp_path, rows(3)), *PROMPT)
    assert (ran.status, ran.out) == (2, "")
    assert "a colleague deleted the batch" in ran.err
