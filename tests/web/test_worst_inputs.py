"""Forms that are made to be expensive: the pages stay quick, and the draft stays as it was."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.prompts.template import LONGEST_TEXT, MOST_USES
from batchui.sandbox.testing import RunningSandbox
from batchui.web.rows import LONGEST_TEXT_SHOWN
from tests.batches.conftest import TEMPLATE, MakeBatch, work
from tests.web.visiting import answers, drafted, html, press_start, said
from tests.worst import assert_cheap

pytestmark = pytest.mark.django_db
BRACES = "{" * 2_000_000
MANY_OBJECTS = '{"a":[' + "{}," * 820_000 + "{}]}"


def test_a_long_text_of_braces_holds_up_nobody_and_is_not_kept(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    preview = reverse("preview", args=[batch.pk])
    web.post(preview, answers(batch, name="Mine"))
    batch.refresh_from_db()
    assert_cheap(lambda: web.post(preview, answers(batch, template=BRACES)))
    assert_cheap(lambda: press_start(web, batch, template=BRACES))
    refused = press_start(web, batch, template="x" * (LONGEST_TEXT + 1))
    assert refused.status_code == 422
    assert "At most 100000 characters are possible, and this has 100001." in said(refused)
    batch.refresh_from_db()
    assert (batch.template, batch.name) == (TEMPLATE, "Mine")


def test_many_options_hold_up_nobody_and_are_not_kept(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5})
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, options=MANY_OBJECTS)))
    assert_cheap(lambda: press_start(web, batch, options=MANY_OBJECTS))
    refused = press_start(web, batch, options=" " + "[" * (LONGEST_TEXT + 1))
    assert refused.status_code == 422
    assert "At most 100000 characters are possible, and this has 100001." in said(refused)
    batch.refresh_from_db()
    assert batch.options == {"top_p": 0.5}


def test_options_as_long_as_allowed_are_kept_and_cost_little(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n")
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5})
    options = '{"a":[' + "{}," * ((LONGEST_TEXT - 10) // 3) + "{}]}"
    assert len(options) == LONGEST_TEXT
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, options=options)))
    batch.refresh_from_db()
    assert list(batch.options) == ["a"]


def test_long_cells_named_often_cost_little_in_the_preview(web: Client) -> None:
    batch = drafted(web, b"a,b\n" + b"x" * 990_000 + b",1\n")
    preview = reverse("preview", args=[batch.pk])
    assert_cheap(lambda: web.post(preview, answers(batch, template="{{a}}" * MOST_USES)))


def test_a_row_is_shown_as_far_as_a_page_can_show_it(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    short, long = b"x" * LONGEST_TEXT_SHOWN, b"y" * 1_000_000
    batch = work(start(b"id,text\n1,%b\n2,%b\n" % (short, long), template="{{text}}"))
    first, second = (html(web.get(reverse("row", args=[batch.pk, row]))) for row in (1, 2))
    assert "x" * LONGEST_TEXT_SHOWN in first
    assert "longer than a page can show" not in first
    assert "longer than a page can show" in second
    assert len(second) < 4 * LONGEST_TEXT_SHOWN
