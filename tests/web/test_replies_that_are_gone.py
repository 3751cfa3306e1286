"""Where raw replies are shown, it is said of one that was removed some days after it came."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import one_row
from batchui.batches.models import Attempt, Batch
from batchui.batches.one_row import ReplyUnread
from batchui.batches.phrases import REPLY_IS_GONE
from batchui.batches.states import AttemptStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import sweep
from tests.batches.conftest import MakeBatch, attempt_on_record, rows, work
from tests.web.visiting import HTMX, said

pytestmark = pytest.mark.django_db

GONE = "The raw reply is not kept any more: one whose answers were stored is kept for 3 days."


@pytest.fixture
def swept(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A batch that was answered days ago, after a sweep."""
    batch = work(start(rows(10)))
    Attempt.objects.update(finished_at=timezone.now() - timedelta(days=4))
    sweep.sweep()
    return batch


def test_every_place_says_that_it_is_not_kept_any_more(web: Client, swept: Batch) -> None:
    part = said(web.get(reverse("part", args=[swept.pk, 1]), headers=HTMX))
    row = said(web.get(reverse("row_reply", args=[swept.pk, 2]), headers=HTMX))
    download = web.get(reverse("raw_reply", args=[swept.pk, 1, 1]))
    assert download.status_code == 404
    for page in (part, row, said(download)):
        assert GONE in page
    assert "The raw reply to all" not in row
    found = one_row.find(swept, 2)
    assert found is not None
    with pytest.raises(ReplyUnread, match=f"^{REPLY_IS_GONE}$"):
        one_row.reply_item(found.part.attempts.get(), found)


def test_of_an_attempt_that_had_none_nothing_of_the_kind_is_said(web: Client, batch: Batch) -> None:
    attempt_on_record(batch.parts.get(number=1), status="lost")
    assert GONE not in said(web.get(reverse("part", args=[batch.pk, 1]), headers=HTMX))
    download = said(web.get(reverse("raw_reply", args=[batch.pk, 1, 1])))
    assert "No reply is kept for this attempt." in download
    assert GONE not in download


def test_the_answers_stay_and_so_does_what_is_downloaded(web: Client, swept: Batch) -> None:
    response: Any = web.get(reverse("download", args=[swept.pk, "json"]))
    answered = json.loads(b"".join(response.streaming_content))
    assert [row["status"] for row in answered] == ["answered"] * 10


def test_it_is_said_until_when_a_clean_reply_is_kept(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(10)))
    attempt = Attempt.objects.get()
    assert attempt.finished_at is not None
    until = attempt.finished_at + timedelta(days=3)
    address = reverse("part", args=[batch.pk, 1])
    assert f"is kept until {until:%-d} {until:%b %Y, %H:%M} UTC." in said(
        web.get(address, headers=HTMX)
    )
    Attempt.objects.update(status=AttemptStatus.QUARANTINED)
    assert "The raw reply" in said(web.get(address, headers=HTMX))
    assert "is kept until" not in said(web.get(address, headers=HTMX))
