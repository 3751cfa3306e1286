"""Buttons whose forms go by htmx: the browser follows their redirects itself."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team
from tests.batches.conftest import on_record, rows
from tests.web.visiting import HTMX, drafted

pytestmark = pytest.mark.django_db

PRESSED = HTMX | {"HX-Boosted": "true"}


def test_a_redirect_is_followed_by_the_browser(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.FINISHED)
    answer = web.post(reverse("delete", args=[batch.pk]), headers=PRESSED)
    assert (answer.status_code, answer["HX-Redirect"]) == (200, reverse("batches"))
    assert "Location" not in answer.headers
    assert "HX-Refresh" not in answer.headers


def test_a_page_is_loaded_again_where_only_the_fragment_differs(web: Client, batch: Batch) -> None:
    batch.parts.filter(number=1).update(status="unsure", question="unclear")
    page = f"{batch.get_absolute_url()}?by_part=unclear"
    action = reverse("leave_out", args=[batch.pk, 1])
    here = PRESSED | {"HX-Current-URL": f"http://testserver{page}"}
    answer = web.post(action, headers=here)
    assert answer["HX-Redirect"] == f"{page}#by-part-unclear"
    assert answer["HX-Refresh"] == "true"
    elsewhere = PRESSED | {"HX-Current-URL": f"http://testserver{batch.get_absolute_url()}"}
    assert "HX-Refresh" not in web.post(action, headers=elsewhere).headers


def test_without_a_script_a_redirect_stays_one(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.FINISHED)
    answer = web.post(reverse("delete", args=[batch.pk]))
    assert (answer.status_code, answer["Location"]) == (302, reverse("batches"))


def test_a_refused_start_is_no_redirect(web: Client) -> None:
    draft = drafted(web, rows(3))
    answer = web.post(
        reverse("start", args=[draft.pk]), {"template": "{{nothing}}"}, headers=PRESSED
    )
    assert answer.status_code == 422
    assert "HX-Redirect" not in answer.headers
