"""Receiving an upload: what is taken, under which name, and what is left behind of what is not."""

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile, File

from batchui.batches import intake, long_tasks, uploads
from batchui.batches.checking import check_file
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import HEAD_BYTES
from batchui.prompts.reading.readers import MOST_BYTES
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MakeBatch, on_record, rows

pytestmark = pytest.mark.django_db


def receive(team: Team, content: bytes, file: str = "texts.csv", **more: Any) -> Batch:
    return intake.receive(ContentFile(content, file), team=team, by=None, **more)


def stored(files_in: Path) -> list[Path]:
    """Every file that is stored."""
    return [path for path in files_in.rglob("*") if path.is_file()]


# -- what is taken ------------------------------------------------------------------------------


def test_an_upload_is_stored_from_its_beginning_wherever_it_was_read_to(
    team: Team, ana: User
) -> None:
    content = rows(30)
    upload = ContentFile(content, "texts.csv")
    upload.seek(100)
    batch = intake.receive(upload, team=team, by=ana)
    with uploads.open_upload(batch.source_file) as source:
        assert source.read() == content
    assert (batch.columns, batch.rows, len(batch.sample)) == (("id", "text"), 30, 20)
    assert batch.source_size == len(content)
    assert batch.source_sha256 == hashlib.sha256(content).hexdigest()
    event = batch.events.get(kind="uploaded")
    assert (event.text, event.actor) == ("“texts.csv” was uploaded.", ana)
    assert batch.created_by == ana


def test_a_file_of_just_the_limit_is_taken_and_one_byte_more_is_not(
    team: Team, settings: Any, files_in: Path
) -> None:
    content = rows(5)
    settings.MAX_UPLOAD_BYTES = len(content)
    assert receive(team, content).rows == 5
    settings.MAX_UPLOAD_BYTES = len(content) - 1
    with pytest.raises(BadInput, match="and the limit is"):
        receive(team, content)
    assert (Batch.objects.count(), len(stored(files_in))) == (1, 2)  # the upload and its rows


def test_a_column_name_with_a_nul_is_refused_at_once(team: Team, files_in: Path) -> None:
    with pytest.raises(BadInput, match="“te xt” contains a NUL character"):
        receive(team, b'{"te\\u0000xt": "one"}\n', "texts.jsonl")
    assert not stored(files_in)


def test_a_small_file_that_cannot_be_used_is_refused_at_once(team: Team, files_in: Path) -> None:
    with pytest.raises(BadInput):
        receive(team, rows(30) + b'31,"never closed\n')
    assert not stored(files_in)
    assert not Batch.objects.exists()


def large(*, bad: bool = False) -> bytes:
    """More than is looked at when it comes in; bad: with a row far down that cannot be read."""
    end = b'x,"never closed\n' if bad else b""
    return b"id,text\n" + b"1,some text\n" * 300_000 + end


class Watched(io.BytesIO):
    """A file that notes how far it was read whenever somebody turns back."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.turned_at: list[int] = []

    def seek(self, *args: int) -> int:
        self.turned_at.append(self.tell())
        return super().seek(*args)


def test_of_a_large_file_only_the_beginning_is_read_when_it_comes_in(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    content = large(bad=True)
    upload = Watched(content)
    file = File(upload, "texts.csv")
    file.size = len(content)
    batch = intake.receive(file, team=team, by=None)
    assert (batch.status, batch.rows) == (BatchStatus.CHECKING, 0)
    assert len(batch.sample) == 20
    _, kind, head, sample, above, *_ = upload.turned_at  # and then it is stored
    assert (kind, head) == (HEAD_BYTES, HEAD_BYTES + 1)
    assert 0 < sample < len(content) / 4
    assert 0 < above < len(content) / 4


def test_of_a_large_file_of_empty_lines_only_the_beginning_is_read_when_it_comes_in(
    team: Team, settings: Any
) -> None:
    settings.MAX_ROWS = 1_000
    content = rows(3) + b"\n" * (MOST_BYTES + 1_000_000) + b"4,the last row\n"
    upload = Watched(content)
    file = File(upload, "texts.csv")
    file.size = len(content)
    batch = intake.receive(file, team=team, by=None)
    assert (batch.status, len(batch.sample)) == (BatchStatus.CHECKING, 3)
    _, _, _, sample, above, *_ = upload.turned_at
    assert sample == MOST_BYTES
    assert 0 < above < MOST_BYTES / 4
    check_file(batch.pk)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT
    assert batch.problem.startswith("The file has more than 1,000 rows")


def test_a_fault_near_the_beginning_of_a_large_file_is_left_to_the_check(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    batch = receive(team, rows(4) + b'5,"never closed\n' + large())
    assert (batch.status, len(batch.sample)) == (BatchStatus.CHECKING, 4)


def test_a_file_of_which_no_row_can_be_read_is_refused_however_large(team: Team) -> None:
    with pytest.raises(BadInput):
        receive(team, b'id,text\n1,"never closed' + b" and on" * 60_000)


def test_a_sample_is_the_first_twenty_rows(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    batch = receive(team, rows(30))
    assert [row[0] for row in batch.first_rows] == [str(number) for number in range(1, 21)]


def test_a_small_file_is_checked_at_once_and_a_large_one_by_a_worker(
    team: Team, monkeypatch: pytest.MonkeyPatch, woken: list[Batch]
) -> None:
    content = rows(5)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", len(content))
    assert receive(team, content).status == BatchStatus.DRAFT
    assert woken == []
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", len(content) - 1)
    batch = receive(team, content)
    assert batch.status == BatchStatus.CHECKING
    assert woken == [batch]
    assert receive(team, content, check_now=True).status == BatchStatus.DRAFT


# -- what is left behind ------------------------------------------------------------------------


def test_an_upload_that_finds_no_place_in_the_database_leaves_no_file(
    team: Team, files_in: Path
) -> None:
    with pytest.raises(ValueError, match="Cannot assign"):
        intake.receive(ContentFile(rows(5), "texts.csv"), team=team, by="nobody")  # type: ignore[arg-type]
    assert not stored(files_in)


def test_a_disk_that_takes_no_file_is_said_and_leaves_no_batch(team: Team, files_in: Path) -> None:
    files_in.mkdir()
    (files_in / "batches").write_bytes(b"in the way")
    with pytest.raises(BadInput, match="could not read or store the file"):
        receive(team, rows(5))
    assert not Batch.objects.exists()


def test_only_what_was_never_started_is_discarded(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    started = start(rows(5))
    before = stored(files_in)
    other, draft = (receive(started.team, rows(5)) for _ in range(2))
    assert len(stored(files_in)) == len(before) + 4  # the uploads and their rows
    intake.erase_unstarted(draft)
    intake.erase_unstarted(started)
    assert set(Batch.objects.all()) == {started, other}
    assert len(stored(files_in)) == len(before) + 2
    intake.erase_unstarted(other)
    assert stored(files_in) == before


# -- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "source_name"),
    [
        ("texts.csv", "texts.csv"),
        (r"C:\Users\ana\texts.csv", "texts.csv"),
        ("../../etc/passwd", "passwd"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
    ],
)
def test_a_name_is_that_of_the_file_and_not_its_way(
    team: Team, name: str, source_name: str
) -> None:
    upload = ContentFile(rows(3))
    upload.name = name
    assert intake.receive(upload, team=team, by=None).source_name == source_name


def test_a_file_without_a_name_to_speak_of_has_one(team: Team) -> None:
    assert receive(team, rows(3), "   .csv").name == ".csv"
    assert receive(team, rows(3), " texts .csv").name == "texts"
    upload = ContentFile(rows(3))
    assert upload.name is None
    assert intake.receive(upload, team=team, by=None).source_name == "file"


def test_a_name_that_was_chosen_is_kept_as_far_as_it_fits(team: Team) -> None:
    assert receive(team, rows(3), name="My reviews").name == "My reviews"
    assert receive(team, rows(3), name="x" * 250).name == "x" * 200


def test_a_long_name_is_cut_and_still_told_from_others(team: Team) -> None:
    names = [receive(team, rows(3), "x" * 250 + ".csv").name for _ in range(3)]
    assert names == ["x" * 196, "x" * 180 + " (2)", "x" * 180 + " (3)"]


def test_no_two_batches_of_a_team_have_one_name(team: Team) -> None:
    on_record(Team.objects.create(name="Others"), name="texts")
    names = [receive(team, rows(3)).name for _ in range(3)]
    assert names == ["texts", "texts (2)", "texts (3)"]
    Batch.objects.filter(name="texts (2)").update(deleted_at="2000-01-01T00:00:00Z")
    assert receive(team, rows(3)).name == "texts (2)"
    assert receive(team, rows(3), "texts (2).csv").name == "texts (4)"


def test_a_batch_that_is_run_again_asks_the_same(team: Team, ana: User) -> None:
    batch = receive(team, rows(5), ask=Ask(template="Say {{text}}", max_tokens=77))
    copy = intake.run_again(batch, by=ana)
    assert (batch.template, batch.max_tokens) == ("Say {{text}}", 77)
    assert (copy.ask, copy.name, copy.created_by) == (batch.ask, "texts (2)", ana)
    assert (copy.source_name, copy.format, copy.rows) == ("texts.csv", batch.format, 5)
    assert copy.source_file != batch.source_file


def test_a_second_click_leads_to_the_same_draft_and_a_colleague_gets_her_own(
    team: Team, ana: User
) -> None:
    bea = User.objects.create_user(email="bea@example.com", name="Bea", password=None)
    batch = receive(team, rows(5))
    first = intake.run_again(batch, by=ana)
    assert intake.run_again(batch, by=ana) == first
    hers = intake.run_again(batch, by=bea)
    assert (hers.created_by, intake.run_again(batch, by=bea)) == (bea, hers)
    assert hers != first
