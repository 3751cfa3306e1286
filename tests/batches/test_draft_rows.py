"""The rows of a draft: any page of them is there at once, and each is as it was read."""

import gzip
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches import checking, draft_rows, intake, long_tasks, preparing, sources
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.results import Result, part_results
from batchui.batches.states import BatchStatus
from batchui.prompts.problems import Problem
from batchui.prompts.reading.format import Choices
from batchui.prompts.reading.readers import Row, read
from batchui.worker import sweep
from tests.batches.books import book
from tests.batches.conftest import MODEL, MakeBatch, rows

pytestmark = pytest.mark.django_db

# Cells over several lines, a row with a cell too many, an empty line, a row that is too short.
ODD = b'id,text\n1,"over\ntwo lines"\n2,two,more\n\n3,"a ""b""\tc"\n4\n5,last\n'
JSONL = (
    b'{"id": 1, "price": 1.10, "tags": ["a", "b"], "inner": {"x": null}}\n'
    b"no object\n"
    b'{"id": 3, "price": 123456789012345678901234567890, "text": "x"}\n'
)


def read_again(batch: Batch) -> list[Row]:
    """The rows as the upload has them."""
    with sources.open_rows(batch) as source:
        return list(read(source, batch.format))


def of(row: Row) -> tuple[object, ...]:
    """A row with all that is said of its problem."""
    problem = row.problem
    parts = problem and (str(problem), *(getattr(problem, name) for name in Problem.__slots__))
    return (row.number, row.line, row.cells, parts)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_rows, "PIECE_ROWS", 3)
    monkeypatch.setattr(draft_rows, "AT_ONCE", 2)


# -- what was read comes back -------------------------------------------------------------------


@pytest.mark.parametrize("pieces", ["one piece", "small pieces"])
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (ODD, "odd.csv"),
        (ODD * 40, "many.csv"),
        (JSONL, "objects.jsonl"),
        (b"one\n\nthree\n" * 5, "lines.txt"),
        (gzip.compress(ODD), "odd.csv.gz"),
        (rows(1_234), "plain.csv"),
    ],
    ids=["odd", "many", "objects", "lines", "packed", "plain"],
)
def test_every_row_comes_back_as_it_was_read(
    receive: MakeBatch,
    request: pytest.FixtureRequest,
    content: bytes,
    name: str,
    pieces: str,
) -> None:
    if pieces == "small pieces":
        request.getfixturevalue("small_pieces")
    batch = receive(content, name)
    assert batch.draft_rows_file
    again, kept = read_again(batch), list(draft_rows.read_rows(batch))
    assert list(map(of, kept)) == list(map(of, again))
    assert len(kept) == batch.rows
    assert [json.loads(row.stored or b"") for row in kept] == [
        json.loads(draft_rows.encode_row(row.cells)) for row in again
    ]


def test_numbers_and_dates_of_a_workbook_come_back(receive: MakeBatch) -> None:
    batch = receive(
        book(("Sheet", [["id", "price"], [1, 1.5], [2, True], [None, "x"]])), "book.xlsx"
    )
    assert list(map(of, draft_rows.read_rows(batch))) == list(map(of, read_again(batch)))


def test_a_file_that_turns_out_to_be_in_another_encoding_has_each_row_once(
    receive: MakeBatch,
) -> None:
    """It is read twice: once as UTF-8, and again."""
    content = b"id,text\n" + b"1,some text\n" * 20_000 + "2,Gr\xfc\xdfe\n".encode("latin-1")
    batch = receive(content)
    assert batch.format.encoding != "utf-8"
    assert sum(1 for _ in draft_rows.read_rows(batch)) == batch.rows == 20_001
    assert draft_rows.page(batch, offset=20_000, limit=9)[0].cells == ["2", "Grüße"]


# -- one page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("has_file", [True, False])
def test_any_page_has_the_rows_that_stand_there(
    receive: MakeBatch, small_pieces: None, has_file: bool
) -> None:
    batch = receive(rows(10))
    if not has_file:  # a draft of an older version
        batch.draft_rows_file = ""
    for offset in range(11):
        for limit in (1, 3, 4, 100):
            found = draft_rows.page(batch, offset=offset, limit=limit)
            wanted = range(offset + 1, min(10, offset + limit) + 1)
            assert [row.row for row in found] == [at + 1 for at in wanted]
            assert [row.cells for row in found] == [[f"{at}", f"text number {at}"] for at in wanted]
    assert draft_rows.page(batch, offset=-1, limit=5) == []


def test_a_row_that_cannot_be_asked_says_why(receive: MakeBatch) -> None:
    batch = receive(ODD)
    found = draft_rows.page(batch, offset=0, limit=100)
    assert [row.row for row in found] == [2, 3, 4, 5, 6, 7]
    assert [bool(row.error) for row in found] == [False, True, False, False, True, False]
    assert str(found[1].error).startswith("Row 3 (line 4): 3 cells where the header has 2")
    assert found[2].cells == []  # an empty line is not bad
    assert {row.status for row in found} == {""}


def test_a_row_is_found_by_the_number_that_a_spreadsheet_shows(receive: MakeBatch) -> None:
    batch = receive(b"a title\n\nid,text\n1,one\n2,two\n")
    assert batch.format.first_row == 4
    assert draft_rows.row(batch, 5) == Result(5, ["2", "two"], "", None, None, None)
    assert draft_rows.row(batch, 3) is None
    assert draft_rows.row(batch, 6) is None


def test_a_page_far_down_reads_one_piece(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(b"id,text\n" + b"1,some text that is not very long\n" * 60_000)
    pieces: list[int] = []
    read_pieces = draft_rows.read_pieces

    def counted(name: str, *, items: int, first: int = 0) -> Iterator[draft_rows.Piece]:
        for piece in read_pieces(name, items=items, first=first):
            pieces.append(piece.before)
            yield piece

    monkeypatch.setattr(draft_rows, "read_pieces", counted)
    assert len(draft_rows.page(batch, offset=50_000, limit=100)) == 100
    assert len(pieces) == 1
    assert pieces[0] > 49_000


def test_long_rows_make_pieces_of_few(receive: MakeBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * 100_000
    content = "\n".join(["id,text", *(f"{at},{long}" for at in range(30))]).encode()
    batch = receive(content)
    pieces = list(draft_rows.read_pieces(batch.draft_rows_file, items=batch.rows))
    assert max(len(piece.text) for piece in pieces) < 1_000_000


# -- whose rows they are ------------------------------------------------------------------------


def test_another_way_to_read_the_file_replaces_them(receive: MakeBatch) -> None:
    batch = receive(b"id;text\n1;one\n2;two\n")
    before = batch.draft_rows_file
    assert intake.read_differently(batch, Choices(header_row=0), by=None)
    batch.refresh_from_db()
    assert batch.draft_rows_file != before
    assert [row.cells for row in draft_rows.page(batch, offset=0, limit=1)] == [["id", "text"]]


def test_a_draft_that_is_read_again_has_no_rows_meanwhile(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(rows(5))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    assert intake.read_differently(batch, Choices(header_row=0), by=None)
    batch.refresh_from_db()
    assert (batch.status, batch.draft_rows_file) == (BatchStatus.CHECKING, "")
    assert draft_rows.page(batch, offset=0, limit=5) == []


def test_a_file_that_cannot_be_used_has_no_rows(receive: MakeBatch) -> None:
    batch = receive(b"id,text\n" + b"1,some text\n" * 300_000 + b'2,"never closed\n')
    assert (batch.rows, batch.draft_rows_file) == (0, "")
    assert draft_rows.page(batch, offset=0, limit=5) == []


def test_who_lost_the_file_to_another_worker_does_not_overwrite_its_rows(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(rows(60))
    Batch.objects.update(status=BatchStatus.CHECKING, draft_rows_file="")
    store = draft_rows.KeptRows.store
    names: list[str] = []

    def overtaken(kept: draft_rows.KeptRows, mine: Batch) -> object:
        changes = store(kept, mine)
        names.append(changes["draft_rows_file"])
        if len(names) == 1:  # while it writes, another one claims the batch and reads it, too
            Batch.objects.update(lease_until=timezone.now() - timedelta(hours=1))
            checking.check_file(batch.pk)
        return changes

    monkeypatch.setattr(draft_rows.KeptRows, "store", overtaken)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert len(set(names)) == 2
    assert (batch.status, batch.draft_rows_file) == (BatchStatus.DRAFT, names[1])


# -- cutting ------------------------------------------------------------------------------------


def started(batch: Batch, **fields: object) -> Batch:
    asked = {"model": MODEL, "template": "{{text}}", "skip_invalid": True}
    Batch.objects.filter(pk=batch.pk).update(
        status=BatchStatus.PREPARING, started_at=timezone.now(), **asked | fields
    )
    preparing.prepare(batch.pk)
    return Batch.objects.get(pk=batch.pk)


@pytest.mark.parametrize("ask_once", [True, False])
@pytest.mark.parametrize(
    ("content", "name"),
    [(ODD * 20, "odd.csv"), (JSONL.replace(b"1.10", b'1.10, "text": "y"'), "o.jsonl")],
)
def test_parts_are_cut_the_same_from_them_and_from_the_upload(
    receive: MakeBatch, small_pieces: None, content: bytes, name: str, ask_once: bool
) -> None:
    one, other = receive(content, name), receive(content, name)
    Batch.objects.filter(pk=other.pk).update(draft_rows_file="")  # of an older version
    found = []
    for batch in (one, other):
        cut = started(batch, ask_once=ask_once)
        assert cut.status == BatchStatus.QUEUED
        found.append([list(part_results(part)) for part in cut.parts.all()])
    assert found[0] == found[1]


def test_the_upload_is_not_read_again(receive: MakeBatch) -> None:
    batch = receive(rows(60))
    upload = Path(default_storage.path(batch.source_file))
    upload.write_bytes(b"?" * batch.source_stored_size)
    assert started(batch).status == BatchStatus.QUEUED


@pytest.mark.parametrize("damage", ["gone", "cut short", "changed"])
def test_nothing_is_sent_of_damaged_rows_and_the_page_says_so(
    receive: MakeBatch, damage: str
) -> None:
    batch = receive(rows(60))
    stored = Path(default_storage.path(batch.draft_rows_file))
    content = stored.read_bytes()
    if damage == "gone":
        stored.unlink()
    elif damage == "cut short":
        stored.write_bytes(content[:-20])
    else:
        stored.write_bytes(content[:40] + b"?" + content[41:])
    with pytest.raises(DamagedFile):
        draft_rows.page(batch, offset=0, limit=1)
    batch = started(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem.startswith(f"The stored file {batch.draft_rows_file} is ")
    assert batch.problem.endswith("Upload the file again; what you wrote is kept.")


# -- how long they are kept ---------------------------------------------------------------------


def test_they_go_an_hour_after_the_start(receive: MakeBatch, files_in: Path) -> None:
    draft, batch = receive(rows(5)), started(receive(rows(60)))
    name = batch.draft_rows_file
    for minutes, is_there in ((59, True), (61, False)):
        Batch.objects.filter(pk=batch.pk).update(
            started_at=timezone.now() - timedelta(minutes=minutes)
        )
        sweep.sweep()
        batch.refresh_from_db()
        assert (files_in / name).exists() == is_there
        assert batch.draft_rows_file == (name if is_there else "")
    draft.refresh_from_db()
    assert (files_in / draft.draft_rows_file).exists()


def test_a_sweep_that_was_killed_between_the_file_and_its_name_is_made_good(
    receive: MakeBatch, files_in: Path
) -> None:
    batch = started(receive(rows(60)))
    Batch.objects.update(started_at=timezone.now() - timedelta(hours=2))
    (files_in / batch.draft_rows_file).unlink()
    sweep.sweep()
    batch.refresh_from_db()
    assert batch.draft_rows_file == ""


def test_a_page_of_many_rows_takes_no_time(receive: MakeBatch) -> None:
    batch = receive(b"id,text\n" + b"1,some text that is not very long\n" * 200_000)
    began = time.process_time()
    for offset in (0, 100_000, 199_900):
        assert len(draft_rows.page(batch, offset=offset, limit=100)) == 100
    assert (time.process_time() - began) / 3 < 0.02
