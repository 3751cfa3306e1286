"""Batches with questions, and the buttons that answer them."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.states import PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import on_record, send_all
from tests.batches.test_questions import STANDS
from tests.web.visiting import HTMX, html

SEND_AGAIN = ("unclear", "send-again")


def recorded(team: Team, **fields: Any) -> Batch:
    """A batch on record alone, which pages can show."""
    form = {"kind": "txt", "encoding": "utf-8", "delimiter": None, "columns": ["text"]}
    return on_record(team, source_format=form, template="{{text}}", **fields)


def asked(team: Team, question: Question, *, parts: int = 1) -> Batch:
    """The same, and this is asked about all of its parts."""
    stopped = timezone.now() if question == Question.STOPPING else None
    batch = recorded(team, parts=parts, stop_requested_at=stopped)
    batch.parts.update(message="Error 500.", **STANDS[question])
    return batch


def storm(batch: Batch, sandbox: RunningSandbox) -> None:
    """Cloudflare answers every part of a batch with an error, and people have waited it out."""
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 0})
    for _ in range(batch.part_count):
        Connection.objects.update(paused_until=None)
        send_all()
    sandbox.script()
    sandbox.sandbox.calls.clear()
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    assert batch.parts.filter(status=PartStatus.UNSURE).count() == batch.part_count


def confirmed(web: Client, opened: str) -> Any:
    """Press the second button of a dialog; the page it leads to."""
    dialog = html(web.get(opened, headers=HTMX))
    action = re.search(r'action="([^"]*)"', dialog)
    parts = re.search(r'name="parts" value="([^"]*)"', dialog)
    assert action, dialog
    assert parts, dialog
    return web.post(action[1], {"parts": parts[1]}, follow=True)


def opens(batch: Batch, question: str, choice: str) -> str:
    return reverse("confirm_all", args=[batch.pk, question, choice])
