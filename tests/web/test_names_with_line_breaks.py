"""A column's name may have line breaks, each of which a browser sends as CRLF."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from tests.batches.conftest import MakeBatch
from tests.web.visiting import drafted, html, press_start, said

pytestmark = pytest.mark.django_db

SENT = "unit\r\nprice"
NAMES = pytest.mark.parametrize("name", ["unit\nprice", "unit\r\nprice", "unit\rprice"])


def table(name: str) -> bytes:
    return f'id,"{name}",text\n1,2,x\n2,3,y\n'.encode()


@NAMES
def test_it_can_be_asked_about_and_be_the_reference(web: Client, name: str) -> None:
    batch = drafted(web, table(name))
    typed = {"template": f"Is {{{{{SENT}}}}} much?", "reference_column": SENT}
    assert press_start(web, batch, **typed).status_code == 302
    batch.refresh_from_db()
    assert batch.reference_column == name


@NAMES
def test_it_stays_chosen_beside_another_mistake(web: Client, name: str) -> None:
    batch = drafted(web, table(name))
    page = press_start(web, batch, template="{{nothing}}", reference_column=SENT)
    assert page.status_code == 422
    assert f'<option value="{name}" selected>' in html(page)


@NAMES
def test_it_can_go_out(web: Client, start: MakeBatch, name: str) -> None:
    batch: Batch = start(table(name), template="{{text}}")
    chosen = {"kind": "csv-plain", "only": "all", "columns": [SENT], "answer": "answer"}
    response = web.post(reverse("choose_download", args=[batch.pk]), chosen)
    content = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    lines = list(csv.reader(io.StringIO(content, newline="")))
    assert [line[:2] for line in lines] == [[name, "answer"], ["2", ""], ["3", ""]]


def test_a_name_that_no_column_has_is_said(web: Client, start: MakeBatch) -> None:
    batch = start(table("unit\nprice"), template="{{text}}")
    chosen = {"kind": "csv", "only": "all", "columns": ["id", "prize"], "answer": "answer"}
    page = web.post(reverse("choose_download", args=[batch.pk]), chosen)
    assert page.status_code == 422
    assert "The file has no column “prize”. Choose another." in said(page)
