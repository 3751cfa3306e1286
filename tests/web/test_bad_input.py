"""What bad input gets: a sentence that names the place and says what to do, nothing left over."""

import io
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from batchui.batches import preparing
from batchui.batches.models import Attempt, Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import rows, work
from tests.teams.people import join, outsider
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    element,
    html,
    nothing_is_left,
    press_start,
    roots,
    said,
    signed_in,
    upload,
)

pytestmark = pytest.mark.django_db


def workbook() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return out.getvalue()


RUBBISH = b"\x07" + random.Random(4).randbytes(5000)

REFUSED = {
    "an empty file": (b"", "The file is empty. Choose a file with at least one row."),
    "blank lines": (b"\r\n\r\n  \r\n", "The file is empty. Choose a file with at least one row."),
    "header only": (
        b"id,text\r\n",
        "The file has a line with column names (“id” and “text”) but no rows under it. Add the "
        "rows, or, if that line is already a row, put column names above it.",
    ),
    "binary rubbish": (RUBBISH, "This file is not text"),
    "an unclosed quotation mark": (
        b'id,text\n1,one\n2,"two\n3,three\n',
        "Row 3, column “text”: a quotation mark opens the cell here and nothing closes "
        "it. Close the cell where it ends",
    ),
    "NUL bytes": (b"id,text\n1,o\0ne\n2,two\n", "Line 2: there is a NUL byte"),
    "a line of 50 MB": (
        b"id,text\n1," + b"x" * 50_000_000 + b"\n",
        "Line 2: what begins here is longer than 8 MB, too long for one row.",
    ),
    "a header of 50 MB": (
        b"x" * 50_000_000,
        "The first line of the file is longer than 256 KB",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_at_once(
    web: Client, files_in: Path, what: str
) -> None:
    content, sentence = REFUSED[what]
    response = upload(web, content, "data.csv")
    assert response.status_code == 422
    assert "“data.csv” cannot be used." in said(response)
    assert sentence in said(response)
    field = element(html(response), "id_file")
    assert 'aria-invalid="true"' in field
    assert 'aria-describedby="upload-problem ' in field
    assert 'role="alert"' in element(html(response), "upload-problem")
    assert nothing_is_left(files_in)


def test_names_that_are_missing_or_repeated_are_made_and_told(web: Client) -> None:
    batch = drafted(web, b"id,,text,text\n1,a,b,c\n2,d,e,f\n")
    assert (batch.rows, batch.problem) == (2, "")
    assert batch.columns == ("id", "Column 2", "text", "text (2)")
    page = said(web.get(batch.get_absolute_url()))
    assert "One column has no name in the file. Here it is called “Column 2”." in page
    assert "2 columns have the name “text”. Here they are called “text” and “text (2)”." in page
    assert "Row id Column 2 text text (2) 1 id text text 2 1 a b c 3 2 d e f" in page


def test_with_htmx_the_sentence_comes_into_the_form(web: Client) -> None:
    response = upload(web, b"", headers=HTMX)
    assert response.status_code == 422
    assert [found["id"] for found in roots(html(response))] == ["upload"]
    assert "The file is empty." in said(response)


def test_no_file_at_all(web: Client) -> None:
    response = web.post(reverse("new"))
    assert response.status_code == 422
    assert "No file was chosen. Choose one, or drop it here." in said(response)


def test_names_from_outside_are_shown_as_text(web: Client) -> None:
    response = upload(web, b"", "<img src=x>.csv")
    assert "<img src=x>" not in html(response)
    assert "“<img src=x>.csv” cannot be used." in said(response)


# -- found when the whole file is read ----------------------------------------------------------

FAR = 40_000  # rows before the fault: far behind what is looked at during the upload
FOUND_LATER = {
    "an unclosed quotation mark": (
        b'0,"open\n0,x\n',
        f"Row {FAR + 2:,}, column “text”: a quotation mark opens the cell here",
    ),
    "a cell of 2 MB": (
        b"0," + b"x" * 2_000_000 + b"\n",
        f"Row {FAR + 2:,}, column “text”: this cell is longer than 1,000,000",
    ),
    "a NUL byte": (b"0,x\0\n", f"Line {FAR + 2:,}: there is a NUL byte"),
    "a long line": (
        b"0," + b"x" * 50_000_000 + b"\n",
        f"Line {FAR + 2:,}: what begins here is longer than 8 MB, too long for one row.",
    ),
}


def test_a_damaged_workbook_leads_to_a_draft_that_says_so(web: Client) -> None:
    batch = drafted(web, workbook(), "data.csv")
    page = web.get(batch.get_absolute_url())
    assert batch.problem.startswith("This workbook is damaged or was not copied whole.")
    assert f"This file cannot be used. {batch.problem}" in said(page)
    assert 'id="ask"' not in html(page)


@pytest.mark.parametrize("what", FOUND_LATER)
def test_a_fault_far_down_is_named_and_the_file_can_be_replaced(web: Client, what: str) -> None:
    fault, sentence = FOUND_LATER[what]
    good = b"id,text\n" + b"1,some text\n" * FAR
    batch = drafted(web, good + fault, "data.csv")
    web.post(reverse("preview", args=[batch.pk]), answers(batch, template="{{text}}!"))
    web.post(reverse("name", args=[batch.pk]), {"name": "Mine"})
    page = web.get(batch.get_absolute_url())
    assert "This file cannot be used." in said(page)
    assert sentence in said(page)
    assert 'id="ask"' not in html(page)
    refused = press_start(web, batch)
    assert refused.status_code == 422
    assert sentence in said(refused)
    # The corrected file takes its place, with what was typed.
    address = f"{reverse('new')}?instead={batch.pk}"
    assert address in html(page)
    assert "The corrected file replaces “data.csv”." in said(web.get(address))
    web.post(address, {"file": SimpleUploadedFile("data.csv", good)})
    corrected = Batch.objects.get(deleted_at=None)
    assert (corrected.name, corrected.template) == ("Mine", "{{text}}!")
    assert web.get(batch.get_absolute_url()).status_code == 410


def test_a_page_that_watches_the_reading_is_told_that_the_file_is_unusable(web: Client) -> None:
    batch = drafted(web, b"id,text\n" + b"1,some text\n" * FAR + b'0,"open\n')
    checking = f"{reverse('checking', args=[batch.pk])}?phase=checking&seen=1"
    assert web.get(checking, headers=HTMX)["HX-Refresh"] == "true"


def test_a_name_that_was_the_files_follows_the_new_file(web: Client) -> None:
    for old, new, name in (("may.csv", "june.csv", "june"), ("june.csv", "june.csv", "june")):
        Batch.objects.all().delete()
        batch = drafted(web, rows(3), old)
        web.post(f"{reverse('new')}?instead={batch.pk}", {"file": SimpleUploadedFile(new, rows(4))})
        assert Batch.objects.get(deleted_at=None).name == name


def test_only_a_draft_of_the_own_team_is_replaced(
    web: Client, sandbox: RunningSandbox, ana: User
) -> None:
    theirs = drafted(signed_in(outsider()), rows(3))
    started = drafted(web, rows(3))
    press_start(web, started)
    finished = drafted(web, rows(3))
    Batch.objects.filter(pk=finished.pk).update(status=BatchStatus.FINISHED)
    for instead in (theirs.pk, started.pk, finished.pk, "nonsense", "0" * 40):
        upload_to = f"{reverse('new')}?instead={instead}"
        response = web.post(upload_to, {"file": SimpleUploadedFile("a.csv", rows(3))})
        assert response.status_code == 302
    assert not Batch.objects.exclude(deleted_at=None).exists()


def test_a_draft_that_is_read_anew_is_replaced_too(web: Client) -> None:
    batch = drafted(web, rows(3), "a.csv")
    web.post(reverse("preview", args=[batch.pk]), answers(batch, template="{{text}}!"))
    web.post(reverse("name", args=[batch.pk]), {"name": "Mine"})
    Batch.objects.update(status=BatchStatus.CHECKING)  # a colleague chose another encoding
    address = f"{reverse('new')}?instead={batch.pk}"
    assert "The corrected file replaces “a.csv”." in said(web.get(address))
    web.post(address, {"file": SimpleUploadedFile("b.csv", rows(4))})
    corrected = Batch.objects.get(deleted_at=None)
    assert (corrected.name, corrected.template) == ("Mine", "{{text}}!")


# -- rows that cannot be asked ------------------------------------------------------------------

UNEVEN = b"id,text\n1,a\n2\n3,c,d\n4,e\n"
TOO_FEW = (
    "Row 3, column “text”: the cell is missing. The row has 1 cell where the header has 2 columns. "
    "Add what is missing, or skip the row."
)
TOO_MANY = (
    "Row 4: 3 cells where the header has 2 columns. If the text of a cell contains a comma, "
    "put the cell in quotation marks, or skip the row."
)


def test_rows_with_too_many_or_too_few_cells_can_be_skipped(
    web: Client, sandbox: RunningSandbox
) -> None:
    batch = drafted(web, UNEVEN)
    page = said(web.get(batch.get_absolute_url()))
    assert "2 rows cannot be asked. Correct them in the file, or skip them." in page
    assert TOO_FEW in page
    assert TOO_MANY in page
    assert "Start: 2 rows" in page
    # 1. Without the choice nothing starts, and the choice is where the page opens.
    refused = press_start(web, batch)
    assert refused.status_code == 422
    choice = element(html(refused), "id_skip_invalid")
    assert 'aria-invalid="true"' in choice
    assert "autofocus" in choice
    assert "2 rows of the file cannot be asked." in said(refused)
    # 2. With it, they stay in the file, marked.
    assert press_start(web, batch, skip_invalid="on").status_code == 302
    preparing.prepare(batch.pk)
    batch = work(Batch.objects.get(pk=batch.pk))
    assert (batch.answered, batch.invalid, batch.rows) == (2, 2, 4)
    download: Any = web.get(reverse("download", args=[batch.pk, "csv-plain"]))
    lines = b"".join(download.streaming_content).decode().splitlines()
    skipped = TOO_FEW.replace(", or skip the row.", ".")
    assert lines[2] == f'2,,,invalid,"{skipped}"'
    assert lines[3].startswith("3,c,,invalid,")
    assert lines[3].endswith(",d")


def test_a_blank_prompt_brings_start_back_to_the_draft_where_that_is_wanted(
    web: Client, sandbox: RunningSandbox
) -> None:
    batch = drafted(web, b"id,text\n1,a\n2,  \n3,\n4,d\n")
    press_start(web, batch, stop_at_blank="on")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT
    page = said(web.get(batch.get_absolute_url()))
    assert "2 rows have nothing to ask about. Fill them in, or skip them." in page
    for row in (3, 4):
        assert (
            f"Row {row}, column “text”: the cell is blank, so there is nothing to ask. Fill it in, "
            "or skip the row."
        ) in page
    assert "Skip rows that cannot be asked." in page
    assert "Summarise: {{text}}" in html(web.get(batch.get_absolute_url()))
    assert not batch.parts.exists()
    assert not Attempt.objects.exists()
    assert sandbox.sandbox.calls.shown() == []
    press_start(web, batch)
    preparing.prepare(batch.pk)
    batch = work(Batch.objects.get(pk=batch.pk))
    assert (batch.answered, batch.invalid, batch.skipped) == (2, 0, 2)


def test_when_every_prompt_is_blank_nothing_starts(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,\n2, \n")
    press_start(web, batch, skip_invalid="on")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.part_count) == (BatchStatus.DRAFT, 0)
    shown = said(web.get(batch.get_absolute_url()))
    assert "No row of the file can be asked." in shown
    assert "Row 2, column “text”: the cell is blank" in shown


# -- addresses and forms that are out of date ---------------------------------------------------


def test_the_address_of_anothers_deleted_batch_tells_nothing(web: Client) -> None:
    stranger = signed_in(outsider())
    batch = drafted(stranger, rows(3), "secret.csv")
    stranger.post(reverse("delete", args=[batch.pk]))
    assert stranger.get(batch.get_absolute_url()).status_code == 410
    response = web.get(batch.get_absolute_url())
    assert response.status_code == 404
    assert "secret" not in html(response)
    assert "Zoe" not in html(response)


def test_forms_that_are_out_of_date_change_nothing_and_say_so(
    web: Client, ana: User, sandbox: RunningSandbox
) -> None:
    batch = drafted(web, rows(60))
    press_start(signed_in(ana), batch)  # on another device
    preparing.prepare(batch.pk)
    colleague = signed_in(join(ana))
    colleague.post(reverse("stop", args=[batch.pk]))
    batch.refresh_from_db()
    before = batch.version
    late = {
        "stop": "There was nothing to stop. A colleague may have been quicker.",
        "start": "This batch was started already, by you or a colleague.",
        "try_now": "Nothing is on hold any more.",
    }
    for name, sentence in late.items():
        response = web.post(reverse(name, args=[batch.pk]), answers(batch), follow=True)
        assert response.status_code == 200
        assert sentence in html(response)
    web.post(reverse("preview", args=[batch.pk]), answers(batch, template="{{id}}"), headers=HTMX)
    batch.refresh_from_db()
    assert (batch.version, batch.template) == (before, "Summarise: {{text}}")


@pytest.mark.parametrize(
    "address", ["/batches/nonsense/", "/batches/00000000-0000-0000-0000-000000000000/"]
)
def test_an_address_that_leads_nowhere(web: Client, address: str) -> None:
    response = web.get(address)
    assert response.status_code == 404
    assert "Traceback" not in html(response)
