"""What holds a batch: its page says it, and when it goes on."""

from typing import Any

import pytest
from django.test import Client

from batchui.batches import call_limit, due, sending
from batchui.batches.models import WAITS_FOR_COPIES, Batch
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from batchui.web.holds import what_holds
from tests.batches.conftest import send_all
from tests.web.deciding import recorded
from tests.web.visiting import page, press, watch

pytestmark = pytest.mark.django_db


def test_the_limit_of_requests_under_way_shows_when_another_batch_reaches_it_and_goes(
    web: Client, team: Team
) -> None:
    batch = recorded(team)
    changed = watch(web, batch)
    other = recorded(team, parts=due.MOST_UNDER_WAY)
    other.parts.update(status=PartStatus.QUEUED)
    told = changed()
    assert "On hold. 50 requests are under way at the sandbox, the most at one time." in told
    assert "Try now" not in told
    assert not changed()
    other.parts.filter(number=1).update(status=PartStatus.DONE)
    assert "requests are under way" not in changed()


@pytest.mark.parametrize(
    ("kind", "who"),
    [("rest", "Cloudflare"), ("worker", "Cloudflare"), ("local", "the model server")],
)
def test_limits_name_who_is_at_the_other_side(
    team: Team, settings: Any, kind: str, who: str
) -> None:
    batch = recorded(team)
    theirs = Connection.objects.create(team=team, kind=kind, name="x", account_id="x")
    Batch.objects.update(connection=theirs)
    batch.refresh_from_db()
    settings.CALLS_PER_5_MINUTES = 2
    call_limit.take(theirs, 1)
    told = what_holds(batch)
    assert told is not None
    assert f"2 calls to {who} in five minutes" in told.message


def test_a_pause_after_errors_says_what_went_wrong_when_the_next_try_is_and_what_it_is(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "status": 503, "retry_after": 600, "call": "submit"})
    sending.send(due.ready_parts(10)[0])
    until = Connection.objects.get().paused_until
    assert until is not None
    shown = page(web, batch)
    when = f"{until:%-d %b %Y, %H:%M} UTC"
    assert (
        f"Cloudflare did not confirm the last request. batchui sends one part {when}. If "
        "it is accepted, the others follow. Try one part now"
    ) in shown
    assert "batchui sends one part now." in press(web, batch, "try_now")
    assert len(due.ready_parts(10)) == 1


def test_parts_that_wait_for_a_token_say_when_it_is_tried_again(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 0})
    send_all()
    until = Connection.objects.get().paused_until
    assert until is not None
    assert f"batchui sends one part {until:%-d %b %Y, %H:%M} UTC." in page(web, batch)


def test_rows_that_wait_for_another_rows_answer_are_not_on_hold(web: Client, team: Team) -> None:
    batch = recorded(team, parts=2)
    batch.parts.filter(number=1).update(status=PartStatus.QUEUED)
    batch.parts.filter(number=2).update(status=PartStatus.HELD, message=WAITS_FOR_COPIES)
    shown = page(web, batch)
    assert "On hold" not in shown
    assert "Try now" not in shown
    parts = page(web, batch, "parts")
    assert "2 of 2 Queued" in parts
    assert WAITS_FOR_COPIES in parts
    batch.parts.filter(number=2).update(message="It is too late today.")
    assert "On hold. It is too late today." in page(web, batch)  # the other part is under way
    batch.parts.filter(number=1).update(status=PartStatus.DONE)
    paused = page(web, batch)
    assert "It is too late today." in paused
    assert "On hold" not in paused  # it is the headline: Paused
