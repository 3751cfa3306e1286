"""The title of a batch is edited where it stands, at any time."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import LONGEST_NAME, Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import User
from tests.batches.conftest import rows
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, drafted, html, signed_in

pytestmark = pytest.mark.django_db


def rename(web: Client, batch: Batch, name: str) -> str:
    """Save a name; returns the answer. Afterwards the batch is as the database has it."""
    answer = html(web.post(reverse("name", args=[batch.pk]), {"name": name}, headers=HTMX))
    batch.refresh_from_db()
    return answer


def test_a_draft_and_a_started_batch_get_another_name(web: Client, batch: Batch) -> None:
    for one in (batch, drafted(web, rows(3))):
        version = one.version
        shown = rename(web, one, "  Reviews\n of   May ")
        assert one.name == "Reviews of May"
        assert 'id="title"' in shown
        assert "Reviews of May" in shown
        assert one.version == version + 1


def test_the_field_comes_where_the_title_was_and_can_be_left(web: Client, batch: Batch) -> None:
    address = reverse("name", args=[batch.pk])
    assert f"{address}?edit" in html(web.get(batch.get_absolute_url()))
    field = html(web.get(f"{address}?edit", headers=HTMX))
    assert f'value="{batch.name}"' in field
    assert 'data-cancels="cancel-title"' in field
    assert 'id="rename"' in html(web.get(address, headers=HTMX))
    assert web.get(address)["Location"] == batch.get_absolute_url()


@pytest.mark.parametrize(
    ("name", "problem"),
    [("  ", "Give it a name."), ("x" * (LONGEST_NAME + 1), "Use 200 characters at most.")],
)
def test_a_name_that_cannot_be_is_said_in_place(
    web: Client, batch: Batch, name: str, problem: str
) -> None:
    answer = web.post(reverse("name", args=[batch.pk]), {"name": name}, headers=HTMX)
    assert answer.status_code == 422
    assert problem in html(answer)
    batch.refresh_from_db()
    assert batch.name == "texts"


def test_colleagues_see_the_new_name_by_themselves(web: Client, batch: Batch, ana: User) -> None:
    colleague = signed_in(join(ana))
    address = reverse("live", args=[batch.pk])
    rename(web, batch, "Reviews of May")
    seen = colleague.get(address, {"seen": "1"}, headers=HTMX)
    assert 'id="title" hx-swap-oob="true"' in html(seen)
    assert "Reviews of May" in html(seen)


def test_a_colleague_names_a_started_batch_but_no_draft_of_somebody_else(
    web: Client, batch: Batch, ana: User
) -> None:
    colleague = signed_in(join(ana))
    rename(colleague, batch, "Reviews")
    assert batch.name == "Reviews"
    draft = drafted(web, rows(3), "mine.csv")
    rename(colleague, draft, "Reviews")
    assert draft.name == "mine"


def test_nobody_names_what_is_deleted_or_another_teams(web: Client, batch: Batch) -> None:
    rename(signed_in(outsider()), batch, "Theirs")
    assert batch.name == "texts"
    Batch.objects.update(status=BatchStatus.FINISHED)
    web.post(reverse("delete", args=[batch.pk]))
    rename(web, batch, "Gone")
    assert batch.name == "texts"
