"""The page makes example rows a draft, and keeps what was written where that fails."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import MODEL
from tests.web.visiting import HTMX, html

pytestmark = pytest.mark.django_db

LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"


def test_rows_about_something_become_a_draft_of_ones_own(
    web: Client, ana: User, sandbox: RunningSandbox
) -> None:
    assert reverse("new_examples") in html(web.get(reverse("new")))
    asked = {"about": " Reviews of a\nsmall hotel ", "model": LLAMA}
    answer = web.post(reverse("new_examples"), asked, headers=HTMX)
    batch = Batch.objects.get()
    assert answer["HX-Redirect"] == batch.get_absolute_url()
    assert (batch.name, batch.rows, batch.status, batch.created_by) == (
        "Examples: Reviews of a small hotel",
        10,
        "draft",
        ana,
    )


def test_where_it_fails_the_page_says_why_and_has_what_was_written(
    web: Client, sandbox: RunningSandbox
) -> None:
    sandbox.script({"fault": "error", "code": 3040, "call": "run"})
    asked = {"about": "Hotels & more", "model": MODEL}
    page = web.post(reverse("new_examples"), asked, follow=True)
    assert 'value="Hotels &amp; more"' in html(page)
    assert "room" in html(page)
    for wrong, said in (({"model": MODEL}, "to be about"), ({"about": "x"}, "choose a model")):
        assert said in html(web.post(reverse("new_examples"), wrong, follow=True))
    assert not Batch.objects.exists()
