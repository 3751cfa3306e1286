"""`manage.py download`: what of a batch is written, and where to."""

import csv
from pathlib import Path

import openpyxl
import pytest
from django.core.management import CommandError
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.web.management.commands.download import Command
from tests.batches.conftest import MakeBatch, poll_all, rows, send_all
from tests.teams.people import join, outsider
from tests.web.submitting import Called, Terminal, workbook

pytestmark = pytest.mark.django_db


class Downloaded(Called):
    """One run of the command."""

    def __init__(self, *words: str) -> None:
        super().__init__(Command(), *words)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the terminal is in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def table(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_bytes().decode("utf-8-sig").splitlines()))


# -- written ------------------------------------------------------------------------------------


def test_without_an_output_the_file_has_its_usual_name(
    sandbox: RunningSandbox, batch: Batch, here: Path
) -> None:
    send_all()
    poll_all()
    ran = Downloaded("texts")
    name = f"texts {timezone.localdate().isoformat()}.csv"
    assert (ran.status, ran.out) == (0, f"{name}\n")
    assert ran.err == "Finished: 60 of 60 rows answered\n"
    [written] = here.iterdir()
    assert written.name == name
    header, *found = table(written)
    assert header == ["id", "text", "answer", "status", "error"]
    assert [line[0] for line in found] == [str(number) for number in range(1, 61)]
    assert {line[3] for line in found} == {"answered"}


def test_what_there_is_goes_out_before_the_end_too(
    sandbox: RunningSandbox, batch: Batch, here: Path
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    ran = Downloaded("texts", "--output", "out.plain.csv")
    assert (ran.status, ran.err) == (0, "Queued: 0 of 60 rows answered\n")
    assert {line[3] for line in table(here / "out.plain.csv")[1:]} == {"waiting"}
    send_all()
    poll_all()
    asked = ("--only", "attention", "--columns", "id", "--answer-column", "said")
    assert Downloaded("texts", "--output", "failed.csv", *asked).status == 0
    header, *found = table(here / "failed.csv")
    assert header == ["id", "said", "status", "error"]
    assert {line[2] for line in found} == {"failed"}


def test_the_uploaded_workbook_comes_back_with_a_note(
    sandbox: RunningSandbox, start: MakeBatch, here: Path, tmp_path: Path
) -> None:
    book = workbook(tmp_path, {"May": [["text"], ["one"]], "Notes": [["Hello"]]}, "May.xlsm")
    start(book.read_bytes(), book.name)
    ran = Downloaded("May", "--format", "workbook")
    assert ran.out == f"May {timezone.localdate().isoformat()}.xlsm\n"
    assert ran.err.splitlines() == [
        "The answers are in the columns B to D of the sheet “May”.",
        "Queued: 0 of 1 row answered",
    ]
    opened = openpyxl.load_workbook(here / ran.out.strip())
    assert [cell.value for cell in opened["May"][1]] == ["text", "answer", "status", "error"]
    assert opened["Notes"]["A1"].value == "Hello"


def test_nothing_is_replaced_unless_it_is_forced(batch: Batch, here: Path) -> None:
    (here / "out.csv").write_text("mine")
    ran = Downloaded("texts", "--output", "out.csv")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "out.csv is there already. Add --force to replace it, or name another file: --output.\n"
    )
    assert (here / "out.csv").read_text() == "mine"
    assert Downloaded("texts", "--output", "out.csv", "--force").status == 0
    assert len(table(here / "out.csv")) == 61
    assert Downloaded("texts").status == 0
    assert Downloaded("texts").status == 2


def test_a_link_stays_and_leads_to_the_answers(batch: Batch, here: Path) -> None:
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    (here / "out.csv").symlink_to(elsewhere / "answers.csv")
    assert Downloaded("texts", "--output", "out.csv").status == 0
    assert (here / "out.csv").is_symlink()
    assert (elsewhere / "answers.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert [path.name for path in elsewhere.iterdir()] == ["answers.csv"]


def test_a_terminal_shows_how_much_is_written(start: MakeBatch) -> None:
    start(rows(2_001))
    seen = Called(Command(), "texts", "--output", "out.jsonl", err=Terminal()).err
    first, last, _ = seen.split("\n")
    assert first == "\r1,000 of 2,001 rows written"
    assert last == "Queued: 0 of 2,001 rows answered"


# -- refused: 2 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("June",), "There is no batch “June”. Write its name as the Batches page shows it, or "),
        (("texts", "--as", "x@example.com"), "Nobody in batchui has the e-mail address x@example"),
        (("texts", "--columns", "txt"), "--columns: The file has no column “txt”."),
        (("texts", "--format", "workbook"), "--format workbook: this batch did not come from an "),
        (("texts", "--output", "none/out.csv"), "--output none/out.csv: there is no folder "),
        (("texts", "--output", "-"), "--output -: name a file. "),
        (("texts", "--output", "."), "--output . is a folder. Name a file in it."),
        (("texts", "--output", "out.xls"), "--output out.xls: batchui writes no .xls file of "),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    batch: Batch, here: Path, words: tuple[str, ...], sentence: str
) -> None:
    ran = Downloaded(*words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(sentence)
    assert not list(here.iterdir())


def test_a_draft_has_no_answers_yet(receive: MakeBatch) -> None:
    receive(rows(3))
    ran = Downloaded("texts")
    said = "This batch has not been started, so there are no answers to download yet.\n"
    assert (ran.status, ran.err) == (2, said)


def test_the_batches_of_a_team_are_for_its_people(batch: Batch, ana: User) -> None:
    ben = join(ana)
    assert Downloaded("texts", "--as", ben.email, "--output", "ben.csv").status == 0
    ran = Downloaded("texts", "--as", outsider().email, "--output", "zoe.csv")
    assert (ran.status, ran.err.partition("”")[0]) == (2, "There is no batch “texts")
    assert not Path("zoe.csv").exists()


# -- 1: it could not be written -----------------------------------------------------------------


def test_an_upload_that_is_lost_is_said_and_no_file_is_left(
    start: MakeBatch, here: Path, tmp_path: Path, files_in: Path
) -> None:
    batch = start(workbook(tmp_path, {"May": [["text"], ["one"]]}).read_bytes(), "May.xlsx")
    (files_in / batch.source_file).unlink()
    with pytest.raises(CommandError) as raised:
        Downloaded("May", "--format", "workbook")
    assert raised.value.returncode == 1
    assert "could not be written to May " in str(raised.value)
    assert str(raised.value).endswith(f"download them at {batch.get_absolute_url()}")
    assert not list(here.iterdir())
