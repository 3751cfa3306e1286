"""What a person may do with a batch on its page, and what nobody else may."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import checking, due
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from batchui.worker.sweep import sweep
from tests.batches.conftest import MakeBatch, accepted, another_account, rows, work
from tests.teams.people import join, outsider
from tests.web.deciding import recorded
from tests.web.visiting import HTMX, drafted, html, page, press, said, signed_in

pytestmark = pytest.mark.django_db


def test_stop_sends_nothing_more(web: Client, batch: Batch) -> None:
    shown = page(web, batch, "confirm_stop")
    assert "Not sent yet: 60 rows. They are marked as unsent." in shown
    assert "Sent already" not in shown
    assert "Stopped." in press(web, batch, "stop")
    batch.refresh_from_db()
    assert (batch.status, batch.unsent) == (BatchStatus.STOPPED, 60)
    assert due.ready_parts(10) == []


def test_who_pressed_stop_stands_beside_the_status(
    web: Client, ana: User, batch: Batch, sandbox: RunningSandbox
) -> None:
    assert "stopped by" not in page(web, batch)
    press(signed_in(join(ana)), batch, "stop")
    assert "stopped by Ben" in page(web, batch)
    press(web, batch, "retry")
    assert "stopped by" not in page(web, batch)


def test_stop_says_before_and_after_what_becomes_of_the_rows(
    web: Client, team: Team, settings: Any
) -> None:
    another_account(settings)
    tokens = {"answered": 10, "prompt_tokens": 740_741}  # 2 cents a row
    batch = recorded(team, parts=4, status=BatchStatus.ATTENTION, **tokens)
    for number, status in ((2, PartStatus.QUEUED), (3, PartStatus.UNSURE), (4, PartStatus.UNSURE)):
        batch.parts.filter(number=number).update(status=status)
    shown = page(web, batch, "confirm_stop")
    assert "Not sent yet: 10 rows. They are marked as unsent." in shown
    assert "Sent already: 10 rows (about $0.20). They cannot be called back" in shown
    assert "and they may still be charged." in shown
    assert "Undecided: 20 rows. They are left out, and marked as missing." in shown
    told = press(web, batch, "stop")
    assert "Stopping. Answers to rows that were already sent still come in. 20 rows are" in told
    assert "Stopped." not in told
    assert "Nothing more is sent. Undecided: 20 rows are left out." in page(web, batch, "timeline")
    assert "Nothing left to decide" in page(web, batch, "confirm_stop")


def test_stop_of_a_batch_that_was_sent_whole_does_not_call_it_stopped(
    web: Client, team: Team
) -> None:
    batch = recorded(team, status=BatchStatus.ATTENTION)
    batch.parts.update(status=PartStatus.UNSURE)
    assert "charged" not in page(web, batch, "confirm_stop")
    told = press(web, batch, "stop")
    assert "Nothing more is sent. 10 rows are left out." in told
    assert "Stopped." not in told


def test_a_stale_stop_says_that_a_colleague_was_quicker(
    web: Client, ana: User, batch: Batch
) -> None:
    press(signed_in(join(ana)), batch, "stop")
    assert "There was nothing to stop. A colleague may have been quicker." in press(
        web, batch, "stop"
    )
    assert batch.events.filter(text__startswith="Stop was pressed").count() == 1


def test_retry_sends_only_rows_without_an_answer(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "failed", "items": [4]})
    batch = work(batch)
    assert "Retry 1 row without an answer" in page(web, batch)
    assert "1 row is sent again." in press(web, batch, "retry")
    batch = work(Batch.objects.get(pk=batch.pk))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 60)
    assert [a.items for p in batch.parts.all() for a in p.attempts.all()] == [25, 1, 25, 10]
    assert "There was nothing to retry" in press(web, batch, "retry")


def test_run_again_makes_a_draft_that_can_be_changed(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    batch = work(batch)
    shown = press(web, batch, "run_again")
    assert "This is a new draft with the same file and settings." in shown
    copy = Batch.objects.exclude(pk=batch.pk).get()
    assert (copy.name, copy.template, copy.model) == ("texts (2)", batch.template, batch.model)
    checking.check_file(copy.pk)
    assert "Start: 60 rows" in page(web, copy)


def test_delete_asks_first_and_then_says_who_did_it(
    web: Client, ana: User, sandbox: RunningSandbox, batch: Batch
) -> None:
    assert "This batch has not ended yet. Stop it first, then delete it." in press(
        web, batch, "delete"
    )
    batch = work(batch)
    Batch.objects.update(created_by=ana)
    assert "Delete “texts”?" in page(web, batch, "confirm_delete")
    assert "Only who made this batch" in press(signed_in(join(ana)), batch, "delete")
    assert "“texts” was deleted." in press(web, batch, "delete")
    gone = web.get(batch.get_absolute_url())
    assert gone.status_code == 410
    assert "Ana deleted “texts” on" in said(gone)
    for address in ("attention", "live", "source"):
        assert web.get(reverse(address, args=[batch.pk])).status_code == 410
    assert web.post(reverse("retry", args=[batch.pk])).status_code == 410
    assert web.get(reverse("live", args=[batch.pk]), headers=HTMX)["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    "name",
    [
        *("batch", "live", "attention", "parts", "timeline", "asked"),
        *("checking", "source"),
    ],
)
def test_another_teams_batch_is_not_found(batch: Batch, name: str) -> None:
    stranger = signed_in(outsider())
    response = stranger.get(reverse(name, args=[batch.pk]))
    assert response.status_code == 404
    assert "There is no such batch in your team." in said(response)


@pytest.mark.parametrize(
    "name", ["stop", "retry", "run_again", "ask_further", "delete", "try_now", "start", "discard"]
)
def test_another_team_changes_nothing(batch: Batch, name: str) -> None:
    stranger = signed_in(outsider())
    assert stranger.post(reverse(name, args=[batch.pk])).status_code == 404
    assert stranger.get(reverse(name, args=[batch.pk]), follow=True).status_code == 404
    batch.refresh_from_db()
    assert (batch.status, Batch.objects.count()) == (BatchStatus.QUEUED, 1)


def test_discard_deletes_a_draft_and_nothing_that_was_started(
    web: Client,
) -> None:
    draft = drafted(web, rows(3))
    shown = html(web.get(draft.get_absolute_url()))
    assert f'action="{reverse("discard", args=[draft.pk])}"' in shown
    Batch.objects.update(status=BatchStatus.FINISHED)  # a colleague was quicker
    refused = web.post(reverse("discard", args=[draft.pk]))
    assert refused["Location"] == draft.get_absolute_url()
    assert [str(said) for said in get_messages(refused.wsgi_request)] == [
        "This batch was started already, by you or a colleague."
    ]
    draft.refresh_from_db()
    assert draft.deleted_at is None
    Batch.objects.update(status=BatchStatus.DRAFT)
    assert f"“{draft.name}” was deleted." in press(web, draft, "discard")


def test_files_of_a_deleted_batch_are_not_needed_for_its_page(
    web: Client, sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    batch = work(batch)
    press(web, batch, "delete")
    two_hours_ago = timezone.now() - timedelta(hours=2)
    Batch.objects.update(deleted_at=two_hours_ago, kept_until=two_hours_ago)
    sweep()
    assert list(files_in.rglob("*.zst")) == []
    assert web.get(batch.get_absolute_url()).status_code == 410


def test_empty_answers_count_as_answered_at_the_press_of_a_button(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "empty", "items": [1, 4]})
    batch = work(accepted(start))
    page = said(web.get(batch.get_absolute_url()))
    assert "Count 2 empty answers as answered" in page
    assert "2 empty answers count as answered now." in press(web, batch, "count_empty")
    batch.refresh_from_db()
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 10)
    assert "There was nothing to count." in press(web, batch, "count_empty")
    assert "as answered" not in said(web.get(batch.get_absolute_url()))


def test_empty_answers_that_count_as_answered_can_be_empty_again(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "empty", "items": [1, 4]})
    batch = work(accepted(start))
    there = reverse("count_as_empty", args=[batch.pk])
    assert there not in html(web.get(batch.get_absolute_url()))
    # Beside the message, and in the menu for later.
    assert press(web, batch, "count_empty").count(f'action="{there}"') == 2
    assert html(web.get(batch.get_absolute_url())).count(f'action="{there}"') == 1
    assert "2 answers count as empty again." in press(web, batch, "count_as_empty")
    batch.refresh_from_db()
    assert (batch.status, batch.empty) == (BatchStatus.PROBLEMS, 2)
    assert "There was nothing to take back." in press(web, batch, "count_as_empty")
