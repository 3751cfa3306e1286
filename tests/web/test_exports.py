"""Downloads that are chosen, and those that are made as a whole."""

import csv
import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import files, making
from batchui.batches.export_models import Export, ExportStatus
from batchui.batches.models import Batch
from batchui.batches.pointers import files_of_batch
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import reading
from batchui.worker.sweep import sweep
from tests.batches.books import reviews
from tests.batches.conftest import MakeBatch, rows, work
from tests.teams.people import outsider
from tests.web.visiting import HTMX, html, said, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A workbook with answers; its row 6 is blank and was skipped."""
    return work(start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True))


def made(web: Client, batch: Batch, kind: str) -> Export:
    response = web.post(reverse("make_export", args=[batch.pk, kind]))
    export = Export.objects.get()
    assert response["Location"] == reverse("export", args=[batch.pk, export.pk])
    return export


def file_of(web: Client, export: Export) -> Any:
    return web.get(reverse("export_file", args=[export.batch_id, export.pk]))


def content_of(web: Client, export: Export) -> io.BytesIO:
    return io.BytesIO(b"".join(file_of(web, export).streaming_content))


def test_her_workbook_comes_back_with_the_answers_in_it(web: Client, answered: Batch) -> None:
    export = made(web, answered, "workbook")
    page = said(web.get(reverse("export", args=[answered.pk, export.pk])))
    assert "is ready" in page
    assert "The answers are in the columns I to K of the sheet “May”." in page
    book = openpyxl.load_workbook(content_of(web, export))
    assert book.sheetnames == ["Read me", "May", "June"]
    sheet = book["May"]
    assert [cell.value for cell in sheet[3]][6:] == ["name", "name", "answer", "status", "error"]
    assert sheet["I4"].value.startswith("[sandbox]")
    assert (sheet["J4"].value, sheet["J6"].value) == ("answered", "invalid")
    assert sheet["K6"].value.startswith("Row 6: the row is empty.")
    assert book["June"]["B2"].value == "June 0"


def test_a_new_workbook_has_every_row_where_it_was(web: Client, answered: Batch) -> None:
    sheet = openpyxl.load_workbook(content_of(web, made(web, answered, "xlsx"))).active
    assert sheet is not None
    assert sheet["A1"].value == "Reviews of May"
    assert [cell.value for cell in sheet[3]][6:] == ["name", "name", "answer", "status", "error"]
    assert (sheet["A4"].value, sheet["D5"].value, sheet["F4"].value) == ("007", 1.5, True)
    assert sheet["J6"].value == "invalid"


def test_parquet_has_types(web: Client, answered: Batch) -> None:
    table = pyarrow.parquet.read_table(content_of(web, made(web, answered, "parquet")))
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["id"], types["day"], types["stars"]) == ("string", "date32[day]", "double")
    assert (types["ok"], types["share"], types["name (2)"]) == ("bool", "double", "string")
    assert table.column("status").to_pylist() == ["answered", "answered", "invalid", "answered"]


def test_the_file_is_named_after_the_batch_and_the_day(web: Client, answered: Batch) -> None:
    response = file_of(web, made(web, answered, "xlsx"))
    response.close()
    day = timezone.localdate().isoformat()
    assert response["Content-Disposition"] == f'attachment; filename="reviews {day}.xlsx"'
    assert response["Cache-Control"] == "no-store"
    assert "sandbox" in response["Content-Security-Policy"]


def test_a_large_one_is_made_by_a_worker_with_progress(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SMALL_ROWS", 0)
    export = made(web, answered, "xlsx")
    address = reverse("export", args=[answered.pk, export.pk])
    page = web.get(address)
    assert "Making the file: 0 of 4 rows" in said(page)
    assert f'hx-get="{address}?seen=0"' in html(page)
    assert web.get(f"{address}?seen=0", headers=HTMX).status_code == 204
    assert file_of(web, export).status_code == 404
    making.make(export.pk)
    polled = web.get(f"{address}?seen=0", headers=HTMX)
    assert "data-saves-itself" in html(polled)
    assert "hx-get" not in html(polled)


def test_the_worker_takes_what_has_waited_longest(
    answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SMALL_ROWS", 0)
    export = making.ask_for(answered, "xlsx", making.Choice(), by=None)
    assert making.next_unclaimed() == export
    making.make(export.pk)
    export.refresh_from_db()
    assert export.status == ExportStatus.READY
    assert making.next_unclaimed() is None
    assert reading._is_something_there() is False


def test_the_same_is_not_made_twice_until_something_changes(web: Client, answered: Batch) -> None:
    first = made(web, answered, "xlsx")
    assert made(web, answered, "xlsx") == first
    Batch.objects.filter(pk=answered.pk).update(version=answered.version + 100)
    web.post(reverse("make_export", args=[answered.pk, "xlsx"]))
    assert Export.objects.count() == 2


def test_a_workbook_that_cannot_take_answers_says_so_and_a_new_one_is_offered(
    web: Client, answered: Batch
) -> None:
    with files.open_file(answered.source_file) as stored:
        content = stored.read().replace(b"xl/worksheets/sheet2.xml", b"xl/worksheets/sheetX.xml")
    files.default_storage.delete(answered.source_file)
    files.save(answered.source_file, io.BytesIO(content))
    export = made(web, answered, "workbook")
    assert export.status == ExportStatus.FAILED
    page = said(web.get(reverse("export", args=[answered.pk, export.pk])))
    assert "The file could not be made." in page
    assert "Make a new workbook instead" in page


def test_a_worker_that_died_leaves_the_export_to_another(
    answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SMALL_ROWS", 0)
    export = making.ask_for(answered, "xlsx", making.Choice(), by=None)
    hour = timezone.now() - timedelta(minutes=3)
    Export.objects.filter(pk=export.pk).update(epoch=4, begun=1, lease_until=hour)
    making.make(export.pk)
    export.refresh_from_db()
    assert (export.status, export.epoch, export.begun) == (ExportStatus.READY, 5, 2)


def test_one_that_never_ends_is_given_up(answered: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "SMALL_ROWS", 0)
    export = making.ask_for(answered, "xlsx", making.Choice(), by=None)
    Export.objects.filter(pk=export.pk).update(begun=3)
    making.make(export.pk)
    export.refresh_from_db()
    assert export.status == ExportStatus.FAILED
    assert export.problem.startswith("batchui began to make this file 3 times")


def test_a_day_later_the_file_is_gone(web: Client, answered: Batch) -> None:
    export = made(web, answered, "xlsx")
    assert export.file in set(files_of_batch(answered.pk))
    sweep()
    assert files.default_storage.exists(export.file)
    Export.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    sweep()
    assert not files.default_storage.exists(export.file)
    response = web.get(reverse("export", args=[answered.pk, export.pk]))
    assert "This file is not kept any more." in said(response)


def test_rows_columns_and_the_name_of_the_answers_are_chosen_and_kept(
    web: Client, answered: Batch
) -> None:
    address = reverse("choose_download", args=[answered.pk])
    chosen = {"kind": "csv", "only": "answered", "columns": ["id", "day"], "answer": "tone"}
    response = web.post(address, chosen)
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    table = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert table[2] == ["id", "day", "tone", "status", "error"]
    assert [row[:2] for row in table[3:]] == [
        ["007", "2026-05-01"],
        ["008", "2026-05-02"],
        ["009", "2026-05-04"],
    ]
    page = html(web.get(address))
    assert 'value="tone"' in page
    answered.refresh_from_db()
    assert answered.download_choice == {
        "only": "answered",
        "columns": ["id", "day"],
        "answer": "tone",
    }


def test_any_of_the_most_columns_can_be_chosen(web: Client, start: MakeBatch) -> None:
    names = [f"{number:04}{'x' * 90}" for number in range(2_000)]
    batch = start(f"{','.join(names)}\n{'a,' * 1999}b\n".encode(), template=f"{{{{{names[0]}}}}}")
    chosen = {"kind": "csv", "only": "all", "columns": names[1:], "answer": "tone"}
    response = web.post(reverse("choose_download", args=[batch.pk]), chosen)
    content = b"".join(response.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    header, *rows_found = csv.reader(io.StringIO(content))
    assert header == [*names[1:], "tone", "status", "error"]
    assert [row[:1999] for row in rows_found] == [["a"] * 1998 + ["b"]]


def test_only_rows_without_an_answer_go_out_on_request(web: Client, answered: Batch) -> None:
    address = reverse("download", args=[answered.pk, "json"])
    response = web.get(f"{address}?only=attention")
    [row] = json.loads(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    assert (row["row"], row["status"]) == (6, "invalid")


@pytest.mark.parametrize("query", ["only=odd", "columns=nothing", f"answer={'x' * 101}"])
def test_a_choice_that_is_not_there_is_said(web: Client, answered: Batch, query: str) -> None:
    address = reverse("download", args=[answered.pk, "csv"])
    response = web.get(f"{address}?{query}")
    assert response.status_code == 404
    assert "This batch has no such rows or columns." in said(response)


def test_a_csv_has_no_workbook_of_its_own(web: Client, start: MakeBatch) -> None:
    batch = start(rows(10))
    assert "My workbook" not in html(web.get(batch.get_absolute_url()))
    assert web.post(reverse("make_export", args=[batch.pk, "workbook"])).status_code == 404


def test_another_team_gets_nothing(web: Client, answered: Batch) -> None:
    export = made(web, answered, "xlsx")
    other = signed_in(outsider())
    for name in ("export", "export_file"):
        assert other.get(reverse(name, args=[answered.pk, export.pk])).status_code == 404
    assert other.get(reverse("choose_download", args=[answered.pk])).status_code == 404
    assert other.post(reverse("make_export", args=[answered.pk, "xlsx"])).status_code == 404


def test_a_large_download_can_be_packed(web: Client, answered: Batch) -> None:
    chosen = {"kind": "jsonl", "only": "all", "answer": "answer", "packed": "on"}
    packed = web.post(reverse("choose_download", args=[answered.pk]), chosen)
    day = timezone.localdate().isoformat()
    name = f"reviews {day}.jsonl"
    assert packed["Content-Disposition"] == f'attachment; filename="{name}.zip"'
    assert packed["Content-Type"] == "application/zip"
    content = b"".join(packed.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [name]
        assert len(archive.read(name).splitlines()) == 4


@pytest.mark.parametrize(
    ("cells", "said_then"),
    [
        (b"1,x\n", "every cell is as it was: none would run as a formula."),
        (b"=1,x\n", "1 cell would run as a formula and has an apostrophe before it."),
        (b"=1,+x\n", "2 cells would run as formulas and have an apostrophe before it."),
    ],
)
def test_the_page_says_how_many_cells_the_csv_has_changed(
    web: Client, start: MakeBatch, cells: bytes, said_then: str
) -> None:
    batch = start(b"id,text\n" + cells + b"3,y\n", template="{{text}}")
    page = said(web.get(batch.get_absolute_url()))
    assert "a cell that would run as a formula gets an apostrophe before it." in page
    list(web.get(reverse("download", args=[batch.pk, "csv"])).streaming_content)  # type: ignore[attr-defined]
    assert said_then in said(web.get(batch.get_absolute_url()))
