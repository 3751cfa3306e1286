"""Downloads that are chosen, and those that are made as a whole."""

import io
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import files, making
from batchui.batches.compressed import DamagedFile
from batchui.batches.export_models import Export, ExportStatus
from batchui.batches.exporting import Kind, streamed
from batchui.batches.models import Batch
from batchui.batches.pointers import files_of_batch
from batchui.batches.whole_files import KINDS, file_name, kinds_for, whole
from batchui.exports.rows import ExportRow
from batchui.exports.table import Layout, Selection, Table
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


def values_of(workbook: io.BytesIO) -> list[tuple[Any, ...]]:
    """The rows of its first sheet."""
    return list(openpyxl.load_workbook(workbook).worksheets[0].values)


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
    assert (sheet["J4"].value, sheet["J6"].value) == ("answered", "skipped")
    assert sheet["K6"].value.startswith("Row 6: the row is empty.")
    assert book["June"]["B2"].value == "June 0"


def test_a_workbook_with_macros_keeps_its_ending_in_every_browser(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(reviews(), "reviews.XLSM", template="{{id}}", skip_invalid=True))
    response = file_of(web, made(web, batch, "workbook"))
    response.close()
    assert response["Content-Disposition"].endswith('.xlsm"')
    assert response["Content-Type"] == "application/octet-stream"


def test_a_new_workbook_has_every_row_where_it_was(web: Client, answered: Batch) -> None:
    sheet = openpyxl.load_workbook(content_of(web, made(web, answered, "xlsx"))).active
    assert sheet is not None
    assert sheet["A1"].value == "Reviews of May"
    assert [cell.value for cell in sheet[3]][6:] == ["name", "name", "answer", "status", "error"]
    assert (sheet["A4"].value, sheet["D5"].value, sheet["F4"].value) == ("007", 1.5, True)
    assert sheet["J6"].value == "skipped"


def test_parquet_has_types(web: Client, answered: Batch) -> None:
    table = pyarrow.parquet.read_table(content_of(web, made(web, answered, "parquet")))
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["id"], types["day"], types["stars"]) == ("string", "date32[day]", "double")
    assert (types["ok"], types["share"], types["name (2)"]) == ("bool", "double", "string")
    assert table.column("status").to_pylist() == ["answered", "answered", "skipped", "answered"]


@pytest.mark.parametrize(
    ("kind", "ending"), [("workbook", "xlsx"), ("xlsx", "new.xlsx"), ("ods", "ods")]
)
def test_the_file_is_named_after_the_batch_and_the_day(
    web: Client, answered: Batch, kind: str, ending: str
) -> None:
    response = file_of(web, made(web, answered, kind))
    response.close()
    day = timezone.localdate().isoformat()
    assert response["Content-Disposition"] == f'attachment; filename="reviews {day}.{ending}"'
    assert response["Cache-Control"] == "no-store"
    assert "sandbox" in response["Content-Security-Policy"]


def test_a_large_one_is_made_by_a_worker_with_progress(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
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


def test_how_many_sheets_the_rows_take_is_said_before_the_file_is_made(
    web: Client, answered: Batch
) -> None:
    page = reverse("choose_download", args=[answered.pk])
    assert "sheets" not in said(web.get(page))
    Batch.objects.update(rows=1_048_576)
    sentence = "In a new spreadsheet, the 1,048,576 rows take 2 sheets: one has room for 1,048,576."
    assert sentence in said(web.get(page))


def _lists(rows: Iterable[ExportRow], table: Table, selection: Selection) -> Iterator[bytes]:
    layout = Layout(table, selection)
    yield f"# {layout.answer}\n".encode()
    for row in layout.rows(rows):
        yield f"- {row.row}: {row.status}\n".encode()


def _written(
    rows: Iterable[ExportRow], table: Table, selection: Selection, *, target: Path, **_: object
) -> None:
    target.write_bytes(b"".join(_lists(rows, table, selection)))


@pytest.mark.parametrize("is_whole", [False, True])
def test_the_next_format_is_a_function_and_a_line_in_a_table(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    how: Any = {"write": whole(_written)} if is_whole else {"chunks": streamed(_lists)}
    monkeypatch.setitem(KINDS, "md", Kind("Markdown list", "text/markdown", "md", **how))
    assert "Markdown list" in said(web.get(reverse("batch", args=[answered.pk])))
    choice = {"kind": "md", "only": "answered", "answer": "reply"}
    response: Any = web.post(reverse("choose_download", args=[answered.pk]), choice)
    if is_whole:
        response = web.get(f"{response['Location']}file/")
    assert response["Content-Type"] == "text/markdown"
    assert response["Content-Disposition"].endswith('.md"')
    listed = b"".join(b"- %d: answered\n" % row for row in (4, 5, 7))
    assert b"".join(response.streaming_content) == b"# reply\n" + listed


def test_without_pyarrow_there_is_all_but_parquet(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert set(KINDS) - set(kinds_for(answered)) == {"parquet"}
    assert "Parquet" not in said(web.get(reverse("choose_download", args=[answered.pk])))
    assert web.post(reverse("make_export", args=[answered.pk, "parquet"])).status_code == 404


def test_the_page_for_downloads_leads_to_what_was_made_within_a_day(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
    page = reverse("choose_download", args=[answered.pk])
    assert "Made within the last day" not in said(web.get(page))
    export = made(web, answered, "ods")
    assert "OpenDocument spreadsheet All rows, being made," in said(web.get(page))
    making.make(export.pk)
    Export.objects.update(size=1_800)
    assert "OpenDocument spreadsheet All rows, 2 KB," in said(web.get(page))
    assert f'href="{reverse("export", args=[answered.pk, export.pk])}"' in html(web.get(page))
    Export.objects.update(status=ExportStatus.FAILED)
    assert "Made within the last day" not in said(web.get(page))
    long_ago = timezone.now() - timedelta(days=1)
    Export.objects.update(status=ExportStatus.READY, created_at=long_ago)
    assert "Made within the last day" not in said(web.get(page))


def test_the_worker_takes_what_has_waited_longest(
    answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
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


def test_a_new_workbook_is_made_though_what_was_made_of_the_upload_is_damaged(
    web: Client, answered: Batch
) -> None:
    whole_one = values_of(content_of(web, made(web, answered, "xlsx")))
    Export.objects.all().delete()
    files.default_storage.delete(answered.converted_file)
    files.save(answered.converted_file, io.BytesIO(b"no zstd"))
    assert values_of(content_of(web, made(web, answered, "xlsx"))) == whole_one


def test_of_a_stored_file_that_is_damaged_the_page_says_who_can_help(
    web: Client, answered: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[str]:
        raise DamagedFile("The stored file batches/1/parts/1/rows-1.jsonl.zst is damaged.")

    monkeypatch.setitem(KINDS, "xlsx", KINDS["xlsx"]._replace(write=fails))
    export = made(web, answered, "xlsx")
    page = said(web.get(reverse("export", args=[answered.pk, export.pk])))
    advice = "Tell the person who runs batchui: a backup may have it whole."
    assert f"The file could not be made. A stored file is damaged. {advice}" in page


def test_no_download_fills_the_disk(web: Client, answered: Batch, settings: Any) -> None:
    settings.KEEP_FREE_BYTES = shutil.disk_usage(settings.DATA).free + 10**12
    export = made(web, answered, "xlsx")
    assert export.status == ExportStatus.FAILED
    assert export.problem == (
        "The disk of this server is nearly full, so nothing was made. Tell the person who runs "
        "batchui. To make room, delete batches that nobody needs any more."
    )
    # What is made while it is sent takes no room.
    assert web.get(reverse("download", args=[answered.pk, "csv"])).status_code == 200


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


def test_a_file_that_goes_at_this_moment_is_not_kept_any_more(web: Client, answered: Batch) -> None:
    export = made(web, answered, "xlsx")
    files.default_storage.delete(export.file)
    response = web.get(reverse("export_file", args=[answered.pk, export.pk]))
    assert response.status_code == 404
    assert "This file is not kept any more." in said(response)


def test_a_workbook_of_a_csv_is_the_only_one_and_named_so(start: MakeBatch) -> None:
    batch = start(rows(1), "texts.csv")
    assert file_name(batch, "xlsx", date(2026, 11, 22)) == "texts 2026-11-22.xlsx"


def test_a_csv_has_no_workbook_of_its_own(web: Client, start: MakeBatch) -> None:
    batch = start(rows(10))
    assert "My workbook" not in html(web.get(batch.get_absolute_url()))
    assert web.post(reverse("make_export", args=[batch.pk, "workbook"])).status_code == 404


@pytest.mark.parametrize("kind", ["csv", "jsonl", "docx"])
def test_only_what_has_to_be_whole_is_made_before_it_is_sent(
    web: Client, answered: Batch, kind: str
) -> None:
    response = web.post(reverse("make_export", args=[answered.pk, kind]))
    assert response.status_code == 404
    assert "There is no such kind of download." in said(response)
    assert not Export.objects.exists()


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


@pytest.mark.parametrize("query", ["only=attention", "columns=id"])
def test_a_csv_of_a_part_says_nothing_about_the_cells_of_the_whole(
    web: Client, start: MakeBatch, query: str
) -> None:
    batch = start(b"id,text\n1,=1\n2,y\n", template="{{text}}")
    address = reverse("download", args=[batch.pk, "csv"])
    counts = []
    for asked in (query, "answer=tone", query):
        list(web.get(f"{address}?{asked}").streaming_content)  # type: ignore[attr-defined]
        batch.refresh_from_db()
        counts.append(batch.cells_made_inert)
    assert counts == [None, 1, 1]
