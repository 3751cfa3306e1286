"""The page of a batch with parts that are undecided or on hold."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import call_limit, due, lifecycle, sending
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, rows, send_all, work
from tests.web.visiting import page, press, watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def undecided(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Part 1 was sent, and no receipt came."""
    sandbox.script({"fault": "cut_after"})
    part = next(part for part in due.ready_parts(10) if part.number == 1)
    sending.send(part)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    return batch


def test_an_undecided_part_says_what_it_may_cost(web: Client, undecided: Batch) -> None:
    shown = page(web, undecided)
    assert "It is unclear whether part 1 (rows 2 to 26) was sent." in shown
    assert "Sends 25 rows again. Leave out" in shown
    assert "charged" not in shown  # it is the sandbox
    assert "It is unclear whether the sandbox accepted these rows" in shown


def test_send_again_and_leave_out_are_decided_once(web: Client, undecided: Batch) -> None:
    press(web, undecided, "leave_out", 1)
    part = undecided.parts.get(number=1)
    assert (part.status, part.missing) == (PartStatus.DONE, 25)
    late = press(web, undecided, "send_again", 1)
    assert "Part 1 no longer needs this decision." in late
    part.refresh_from_db()
    assert part.status == PartStatus.DONE


def test_send_again_sends_the_part_and_says_so(web: Client, undecided: Batch) -> None:
    press(web, undecided, "send_again", 1)
    shown = page(web, undecided, "timeline")
    assert "Part 1 is sent again. Its rows may be charged twice." in shown
    assert undecided.parts.get(number=1).status == PartStatus.READY
    assert web.post(reverse("leave_out", args=[undecided.pk, 99])).status_code == 404


def test_a_pause_of_the_connection_shows_and_ends_on_the_pages_of_its_other_batches(
    web: Client, batch: Batch, start: MakeBatch
) -> None:
    other = start(rows(3))
    changed = watch(web, other)
    assert not changed()
    until = timezone.now() + timedelta(hours=2)
    call_limit.pause(batch.connection, until=until, reason="The free allocation is used up.")
    assert "The free allocation is used up. Next try" in changed()
    assert not changed()
    press(web, batch, "try_now")
    assert "used up" not in changed()
    assert not changed()
    Connection.objects.update(calls_left=0, calls_counted_at=timezone.now())
    reached = "The limit of 600 calls to the sandbox in five minutes is reached."
    shown = changed()
    assert reached in shown
    assert "Try now" not in shown  # nobody can end it
    assert "Next try" not in shown  # README: a time is named only where it is known
    assert not changed()
    pressed = press(web, other, "try_now")
    assert reached in pressed
    assert "batchui tries again now." not in pressed
    Connection.objects.update(calls_left=15)
    assert "is reached" not in changed()


def test_what_a_refused_token_held_goes_on_by_itself_once_cloudflare_takes_a_part(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 3})
    send_all()
    assert set(batch.parts.values_list("status", flat=True)) == {PartStatus.HELD}
    assert "Cloudflare does not accept" in page(web, batch)
    Connection.objects.update(paused_until=timezone.now())  # five minutes later
    assert due.release_held() == 1
    sending.send(due.ready_parts(10)[0])
    assert not batch.parts.filter(status=PartStatus.HELD).exists()
    assert "Cloudflare does not accept" not in page(web, batch)
    assert work(batch).status == BatchStatus.FINISHED
    assert not batch.events.filter(kind="try now").exists()


def test_a_part_on_hold_says_why_until_when_and_can_be_tried_now(web: Client, batch: Batch) -> None:
    part = batch.parts.get(number=1)
    lifecycle.move_part(part, PartStatus.SENDING)
    until = timezone.now() + timedelta(hours=2)
    why = "The free allocation of today is used up."
    lifecycle.move_part(part, PartStatus.HELD, resume_at=until, message=why)
    shown = page(web, batch)
    assert f"{why} Next try: {until:%-d %b %Y, %H:%M} UTC." in shown
    assert "batchui tries again now." in press(web, batch, "try_now")
    part.refresh_from_db()
    assert part.status == PartStatus.READY
    assert "Nothing is on hold any more." in press(web, batch, "try_now")
