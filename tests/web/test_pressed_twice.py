"""A button that makes something is pressed twice: both clicks lead to the same thing.

As `tests/postgres` runs this file again, on PostgreSQL, too.
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches.models import Batch, asked_fields
from batchui.batches.pressed_twice import TWICE_WITHIN
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.at_once import at_once
from tests.batches.conftest import MakeBatch, rows, work
from tests.teams.people import join
from tests.web.visiting import signed_in

pytestmark = pytest.mark.django_db(transaction=True)

BUTTONS = pytest.mark.parametrize("button", ["run_again", "ask_further"])


@pytest.fixture
def ended(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Sixty rows in three parts, all answered."""
    return work(batch)


def leads_to(web: Client, batch: Batch, button: str, *about: str) -> str:
    """Where a press leads."""
    response = web.post(reverse(button, args=[batch.pk, *about]))
    assert response.status_code == 302
    address: str = response["Location"]
    return address


@BUTTONS
def test_two_clicks_at_the_same_moment_make_one_draft(
    ana: User, ended: Batch, button: str, files_in: Path
) -> None:
    clicks = [partial(leads_to, signed_in(ana), ended, button) for _ in range(4)]
    found = set(at_once(clicks))
    draft = Batch.objects.exclude(pk=ended.pk).get()
    assert found == {draft.get_absolute_url()}
    assert draft.events.count() == 1
    with_files = {path.parts[-3] for path in files_in.glob("batches/*/source/*")}
    assert with_files <= {str(ended.pk), str(draft.pk)}


def test_two_clicks_at_the_same_moment_make_one_download(ana: User, ended: Batch) -> None:
    clicks = [partial(leads_to, signed_in(ana), ended, "make_export", "xlsx") for _ in range(4)]
    assert len(set(at_once(clicks))) == ended.exports.count() == 1


def test_a_second_click_stores_no_file_again_so_it_needs_no_room(
    web: Client, ended: Batch, files_in: Path, settings: Any
) -> None:
    first = leads_to(web, ended, "run_again")
    stored = sorted(files_in.rglob("*"))
    settings.KEEP_FREE_BYTES = 10**18
    assert leads_to(web, ended, "run_again") == first
    assert sorted(files_in.rglob("*")) == stored


@BUTTONS
def test_a_click_after_a_while_makes_another_draft(web: Client, ended: Batch, button: str) -> None:
    first = leads_to(web, ended, button)
    drafts = Batch.objects.exclude(pk=ended.pk)
    drafts.update(created_at=timezone.now() - TWICE_WITHIN)
    assert leads_to(web, ended, button) != first
    assert drafts.count() == 2


@BUTTONS
def test_a_colleague_gets_a_draft_of_her_own(
    web: Client, ana: User, ended: Batch, button: str
) -> None:
    assert leads_to(web, ended, button) != leads_to(signed_in(join(ana)), ended, button)


@BUTTONS
@pytest.mark.parametrize(
    "changes",
    [
        {"template": "Something else: {{text}}"},
        {"temperature": 0.5},
        {"status": BatchStatus.PREPARING},
        {"deleted_at": datetime(2026, 11, 22, tzinfo=UTC)},
    ],
)
def test_a_draft_that_was_changed_started_or_deleted_is_left_alone(
    web: Client, ended: Batch, button: str, changes: dict[str, Any]
) -> None:
    first = leads_to(web, ended, button)
    Batch.objects.exclude(pk=ended.pk).update(**changes)
    assert leads_to(web, ended, button) != first


def test_a_draft_that_is_read_in_another_way_is_left_alone(web: Client, ended: Batch) -> None:
    first = leads_to(web, ended, "run_again")
    Batch.objects.exclude(pk=ended.pk).update(source_choices={"header_row": 0})
    assert leads_to(web, ended, "run_again") != first


def test_another_file_is_not_the_same_draft(
    web: Client, ana: User, ended: Batch, receive: MakeBatch
) -> None:
    other = receive(rows(3))
    asked = asked_fields(ended.ask)
    Batch.objects.filter(pk=other.pk).update(created_by=ana, **asked)
    assert leads_to(web, ended, "run_again") != other.get_absolute_url()


def test_a_draft_made_before_a_retry_has_old_answers(web: Client, ended: Batch) -> None:
    first = leads_to(web, ended, "ask_further")
    Batch.objects.filter(pk=ended.pk).update(finished_at=timezone.now())
    assert leads_to(web, ended, "ask_further") != first


def test_a_draft_that_is_run_again_is_not_its_own_copy(
    web: Client, ana: User, ended: Batch
) -> None:
    draft = Batch.objects.get(pk=leads_to(web, ended, "run_again").split("/")[-2])
    assert leads_to(web, draft, "run_again") != draft.get_absolute_url()
