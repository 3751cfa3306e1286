"""What a retry pays for a second time is said before, and shown afterwards.

Each story goes over the wire, to the sandbox.
"""

from typing import Any

import pytest

from batchui.batches import costs, decisions
from batchui.batches.models import Attempt, Batch
from batchui.batches.states import AttemptStatus
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, attempt_on_record, on_record, posts, rows, work
from tests.cloudflare.server import ScriptedServer, reply

pytestmark = pytest.mark.django_db

ALWAYS: dict[str, Any] = {"times": 0}


def retried(batch: Batch, sandbox: RunningSandbox) -> list[int]:
    """Retry a batch and let it end. Returns the numbers of its parts that were charged twice."""
    sandbox.script()
    sandbox.sandbox.calls.clear()
    assert decisions.retry(batch, by=None)
    work(batch)
    assert posts(sandbox) > 0
    return list(costs.charged_twice(batch.parts.all()).values_list("number", flat=True))


@pytest.mark.parametrize("code", [5004, 5006, 5007, 3006])
def test_rows_that_were_accepted_and_refused_at_every_poll_may_be_charged_twice(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "poll", **ALWAYS})
    batch = work(start(rows(25)))
    assert (batch.failed, batch.rows_in_doubt) == (25, 25)
    assert retried(batch, sandbox) == [1]
    event = batch.events.get(kind="retry")
    assert event.text.endswith("Up to 25 of these rows may be charged twice.")


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "error", "code": 3030, "call": "poll"},
        {"fault": "batch_failed", "call": "poll"},
        {"fault": "error", "code": 5006, "call": "submit"},
        {"fault": "failed", "every": 1},
    ],
    ids=["found invalid", "failed as a whole", "refused when sent", "each row failed"],
)
def test_rows_of_which_nothing_was_asked_are_not_charged_twice(
    sandbox: RunningSandbox, start: MakeBatch, fault: dict[str, Any]
) -> None:
    sandbox.script({**fault, **ALWAYS})
    batch = work(start(rows(25)), rounds=60)
    assert (batch.failed, batch.rows_in_doubt) == (25, 0)
    assert retried(batch, sandbox) == []


@pytest.mark.parametrize("status", ["missing", "empty"])
def test_rows_of_an_answered_request_that_have_no_answer_are_charged_twice(
    sandbox: RunningSandbox, start: MakeBatch, status: str
) -> None:
    sandbox.script({"fault": status, "items": [3, 7], **ALWAYS}, {"fault": "failed", "items": [9]})
    batch = work(start(rows(25)))
    assert (getattr(batch, status), batch.answered) == (2, 25 - batch.unanswered)
    assert batch.rows_in_doubt == 2
    assert Attempt.objects.get(part__batch=batch).in_vain == 2
    assert retried(batch, sandbox) == [1]


def test_a_row_that_failed_after_it_came_back_empty_was_charged_once(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "empty", "items": [3]})
    batch = work(start(rows(25)))
    sandbox.script({"fault": "failed", "items": [0]})
    assert decisions.retry(batch, by=None)
    work(batch)
    assert (batch.failed, batch.rows_in_doubt) == (1, 1)


def test_a_row_whose_answer_is_broken_was_charged(api: ScriptedServer, start: MakeBatch) -> None:
    batch = start(rows(3))
    deep = "[" * 200 + "]" * 200
    first = '{"id": 0, "result": {"response": "one"}, "success": true}'
    broken = f'{{"id": 1, "result": {{"response": {deep}}}, "success": true}}'
    last = '{"id": 2, "result": {"response": ""}, "success": true}'
    answers = f'{{"result": {{"responses": [{first}, {broken}, {last}]}}, "success": true}}'
    api.script(
        reply(200, {"result": {"status": "queued", "request_id": "r"}, "success": True}),
        *[reply(200, answers.encode())] * 3,
    )
    work(batch)
    assert (batch.answered, batch.failed, batch.empty) == (1, 1, 1)
    assert Attempt.objects.get().in_vain == batch.rows_in_doubt == 2


@pytest.mark.parametrize(
    ("of_first", "retried_after", "twice"),
    [
        ({"status": "refused", "code": 5004, "request_id": "r"}, 1, True),
        ({"status": "refused", "code": 5004, "request_id": "r"}, 0, False),
        ({"status": "refused", "code": 5004}, 1, False),
        ({"status": "refused", "code": 3030, "request_id": "r"}, 1, False),
        ({"status": "refused", "code": None, "request_id": "r"}, 1, False),
        ({"status": "answered", "in_vain": 1, "request_id": "r"}, 1, True),
        ({"status": "answered", "in_vain": 1, "request_id": "r"}, 0, False),
        ({"status": "answered", "in_vain": 0, "request_id": "r"}, 1, False),
    ],
)
@pytest.mark.parametrize("then", ["answered", "accepted", "unsure", "refused"])
def test_rows_are_charged_twice_if_a_retry_sends_what_was_charged_in_vain(
    team: Any, of_first: dict[str, Any], retried_after: int, twice: bool, then: str
) -> None:
    batch = on_record(team)
    batch.parts.update(attempts_before=retried_after)
    attempt_on_record(batch.parts.get(), **of_first)
    later: dict[str, Any] = {"code": 5004, "request_id": "s"} if then == "refused" else {}
    attempt_on_record(batch.parts.get(), status=then, **later)
    assert costs.charged_twice(batch.parts.all()).exists() == twice


def test_nothing_is_charged_twice_by_a_retry_that_was_not_taken(team: Any) -> None:
    batch = on_record(team)
    batch.parts.update(attempts_before=1)
    attempt_on_record(batch.parts.get(), status=AttemptStatus.ANSWERED, in_vain=1)
    attempt_on_record(batch.parts.get(), status=AttemptStatus.REFUSED, code=5006)
    assert not costs.charged_twice(batch.parts.all()).exists()
