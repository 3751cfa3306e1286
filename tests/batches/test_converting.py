"""Files that are no plain text: converted once, then read as a table, and answered."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.base import ContentFile

from batchui.batches import checking, draft_rows, exporting, files, intake, long_tasks
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.reading.format import Choices
from batchui.sandbox.testing import RunningSandbox
from tests.batches.books import book, reviews
from tests.batches.conftest import CHAT_COMPLETIONS, MODEL, MakeBatch, work

pytestmark = pytest.mark.django_db


def choose(batch: Batch, **chosen: Any) -> Batch:
    """The batch, read differently."""
    assert intake.read_differently(batch, Choices(**chosen), by=None)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    return batch


def test_the_first_sheet_that_looks_like_a_table_is_read(receive: MakeBatch) -> None:
    batch = receive(reviews(), "reviews.xlsx")
    assert batch.status == BatchStatus.DRAFT
    assert [sheet["name"] for sheet in batch.sheets] == ["Read me", "May", "June"]
    assert batch.sheet is not None
    assert (batch.sheet["name"], batch.sheet["rows"], batch.sheet["columns"]) == ("May", 7, 8)
    assert (batch.format.header_row, batch.first_row, batch.rows) == (3, 4, 4)
    assert batch.columns == ("id", "text", "day", "stars", "share", "ok", "name", "name (2)")


@pytest.mark.parametrize(("rows", "chosen"), [(19, "Table"), (20, "First")])
def test_a_few_lines_in_one_column_are_a_note_and_no_table(
    receive: MakeBatch, rows: int, chosen: str
) -> None:
    first = [["question"], *([f"Where is my parcel {number}?"] for number in range(rows))]
    content = book(("First", first), ("Table", [["id", "text"], ["1", "Hello"]]))
    batch = receive(content, "questions.xlsx")
    assert batch.sheet is not None
    assert batch.sheet["name"] == chosen


def test_a_few_lines_are_read_where_there_is_nothing_else(receive: MakeBatch) -> None:
    batch = receive(book(("First", []), ("Second", [["question"], ["Why?"]])), "questions.xlsx")
    assert (batch.columns, batch.rows) == (("question",), 1)


def test_cells_are_as_a_person_sees_them(receive: MakeBatch) -> None:
    batch = receive(reviews(), "reviews.xlsx")
    date, percent = {"date": "2026-05-01"}, {"percent": "25%"}
    assert batch.first_rows[0] == ["007", "Lovely room", date, 5, percent, True, "Ann", "x"]
    assert [row for _, row in batch.rows_above] == [
        ["Reviews of May", *[""] * 7],
        [""] * 8,
        ["id", "text", "day", "stars", "share", "ok", "name", "name"],
    ]


def test_a_blank_row_of_a_sheet_keeps_its_place(receive: MakeBatch) -> None:
    batch = receive(reviews(), "reviews.xlsx")
    assert (batch.rows, batch.bad_rows, batch.problem_count) == (4, 0, 0)
    row = draft_rows.row(batch, 6)
    assert row is not None
    assert not any(row.cells)
    assert batch.blanks == {"text": {"count": 1, "first_row": 7}}


def test_another_sheet_is_read_when_a_person_chooses_it(receive: MakeBatch) -> None:
    batch = receive(reviews(), "reviews.xlsx")
    before = batch.converted_file
    batch = choose(batch, sheet="June")
    assert (batch.columns, batch.rows, batch.first_row) == (("id", "text"), 3, 2)
    assert batch.converted_file != before
    batch = choose(batch, sheet="Read me", header_row=0)
    assert (batch.columns, batch.rows) == (("Column 1",), 1)


def test_a_sheet_that_is_not_there_is_said_and_can_be_chosen_again(receive: MakeBatch) -> None:
    batch = choose(receive(reviews(), "reviews.xlsx"), sheet="July")
    assert batch.is_unusable
    others = "it has “Read me”, “May” and “June”."
    assert batch.problem == f"This workbook has no sheet “July”. Choose another one; {others}"
    assert choose(batch, sheet="June").rows == 3


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (gzip.compress(b"id;text\n1;a\n2;b\n"), "rows.csv.gz"),
        (json.dumps([{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]).encode(), "rows.json"),
        (json.dumps({"data": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}).encode(), "r.json"),
        (book(("One", [["id", "text"], ["1", "a"], ["2", "b"]])), "rows.xlsx"),
    ],
    ids=["a packed table", "a list of objects", "an object with a list", "a workbook"],
)
def test_every_kind_of_file_becomes_rows(receive: MakeBatch, content: bytes, name: str) -> None:
    batch = receive(content, name)
    assert (batch.problem, batch.rows, batch.columns) == ("", 2, ("id", "text"))
    cells = [list(row.values()) if isinstance(row, dict) else row for row in batch.first_rows]
    assert [[str(cell) for cell in row] for row in cells] == [["1", "a"], ["2", "b"]]
    with files.open_file(batch.source_file) as stored:
        assert stored.read() == content


def test_a_zip_with_a_workbook_in_it_is_read_like_the_workbook(receive: MakeBatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("reviews.xlsx", reviews())
    batch = receive(packed.getvalue(), "reviews.zip")
    assert (batch.sheet or {})["name"] == "May"


def test_a_file_that_cannot_be_converted_is_a_draft_that_says_why(receive: MakeBatch) -> None:
    batch = receive(reviews()[:4_000], "reviews.xlsx")
    assert batch.is_unusable
    assert "damaged" in batch.problem


def test_answers_come_back_beside_typed_cells(
    sandbox: RunningSandbox, receive: MakeBatch, start: MakeBatch
) -> None:
    template = "{{id}} {{text}} {{day}} {{stars}} {{share}} {{ok}} {{name (2)}}"
    batch = work(start(reviews(), "reviews.xlsx", template=template))
    assert (batch.status, batch.skipped) == (BatchStatus.FINISHED, 1)  # a blank row
    rows = [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]
    assert [row["row"] for row in rows] == [4, 5, 6, 7]
    assert "007 Lovely room 2026-05-01 5 25% TRUE x" in rows[0]["answer"]
    assert rows[1]["columns"]["stars"] == 1.5
    assert rows[1]["columns"]["name (2)"] == "y"
    assert (rows[2]["status"], rows[2]["error"]) == ("skipped", "Row 6: the row is empty.")


def test_run_again_converts_the_file_again(receive: MakeBatch) -> None:
    batch = choose(receive(reviews(), "reviews.xlsx"), sheet="June")
    again = intake.run_again(batch, by=None)
    checking.check_file(again.pk)
    again.refresh_from_db()
    assert (again.rows, again.columns) == (3, ("id", "text"))
    assert again.converted_file != batch.converted_file


def test_a_large_file_is_left_to_a_worker(receive: MakeBatch, team: Any) -> None:
    rows = [["id", "text"], *([str(number), f"{number} " * 40] for number in range(20_000))]
    content = book(("One", rows))
    assert len(content) > long_tasks.SMALL_BYTES
    batch = intake.receive(ContentFile(content, "rows.xlsx"), team=team, by=None)
    assert (batch.status, batch.columns, batch.rows) == (BatchStatus.CHECKING, (), 0)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.rows) == (BatchStatus.DRAFT, 20_000)


@pytest.mark.parametrize(
    ("model", "item"),
    [
        (MODEL, {"prompt": "Hello", "response_format": {"type": "json_object"}}),
        ("@cf/meta/m2m100-1.2b", {"text": "Hello", "target_lang": "fr"}),
        (CHAT_COMPLETIONS, {"messages": [{"role": "user", "content": "Hello"}]}),
    ],
)
def test_the_body_of_a_request_as_the_documents_show_it_is_a_file_of_items(
    sandbox: RunningSandbox, receive: MakeBatch, start: MakeBatch, model: str, item: dict[str, Any]
) -> None:
    items = [{**item, "external_reference": f"r{number}"} for number in range(3)]
    document = json.dumps({"requests": items}).encode()
    batch = receive(document, "payload.json")
    assert (batch.format.items, batch.rows) == (True, 3)
    assert batch.converted == {"kind": "jsonl", "inside": "requests"}
    batch = work(start(document, "payload.json", model=model, as_items=True, template=""))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 3)
    rows = [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]
    assert [row["external_reference"] for row in rows] == ["r0", "r1", "r2"]


def test_items_that_the_model_does_not_take_are_listed_before_anything_is_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    document = json.dumps({"requests": [{"text": "Hello", "target_lang": "fr"}] * 2}).encode()
    batch = start(document, "payload.json", as_items=True, template="")
    assert (batch.status, batch.problem_count) == (BatchStatus.DRAFT, 2)
    assert "which the model needs" in batch.problem_rows[0]["sentence"]


def test_a_converted_file_that_is_damaged_is_said_and_can_be_replaced(receive: MakeBatch) -> None:
    batch = receive(reviews(), "reviews.xlsx")
    files.default_storage.delete(batch.converted_file)
    files.save(batch.converted_file, io.BytesIO(b"damaged"))
    Batch.objects.filter(pk=batch.pk).update(status=BatchStatus.CHECKING)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert batch.is_unusable or batch.problem
    assert batch.problem.endswith("is damaged. Upload the file again; what you wrote is kept.")
