"""Asking the rows of a try: what comes back, what goes wrong, and who may die meanwhile."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import tries, trying
from batchui.batches.models import Batch
from batchui.batches.steps import PART_LEASE
from batchui.batches.try_models import TriedRow, TriedStatus, Try
from batchui.prompts.answer_columns import AnswerColumn
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import CHAT_COMPLETIONS, MakeBatch, paused_until, rows
from tests.batches.spans import Span
from tests.batches.trying import ask_all, begun, statuses, tried

pytestmark = pytest.mark.django_db


@pytest.fixture
def one(sandbox: RunningSandbox, receive: MakeBatch) -> Try:
    """A try of five rows that nobody has asked yet."""
    return begun(receive(rows(9)))


def asked(sandbox: RunningSandbox) -> int:
    return len(sandbox.calls("run"))


# -- answers ------------------------------------------------------------------------------------


def test_each_row_gets_a_real_answer_with_its_tokens_and_seconds(
    sandbox: RunningSandbox, one: Try
) -> None:
    assert ask_all() == asked(sandbox) == 5
    for row in tried(one):
        assert row.status == TriedStatus.ANSWERED
        assert f"text number {row.number - 1}" in row.answer
        assert row.prompt_tokens > 0 < row.completion_tokens
        assert row.seconds is not None
        assert 0 < row.seconds < 60
        assert (row.item, row.lease_until, row.error, row.code) == ("", None, "", None)


@pytest.mark.parametrize(
    ("model", "template", "more"),
    [
        (CHAT_COMPLETIONS, "{{text}}", {}),
        ("@cf/openai/gpt-oss-120b", "{{text}}", {"instruction": "Be brief."}),
        ("@cf/meta/m2m100-1.2b", "{{text}}", {"target_lang": "fr"}),
        ("@cf/baai/bge-m3", "{{text}}", {}),
        ("@cf/baai/bge-large-en-v1.5", "{{text}}", {}),
    ],
)
def test_models_of_every_kind_answer(
    sandbox: RunningSandbox, receive: MakeBatch, model: str, template: str, more: dict[str, Any]
) -> None:
    one = begun(receive(rows(1)), model=model, template=template, **more)
    ask_all()
    [row] = tried(one)
    assert (row.status, row.error) == (TriedStatus.ANSWERED, "")
    assert row.answer[0] in '"['


def test_an_empty_answer_says_so(sandbox: RunningSandbox, one: Try) -> None:
    sandbox.script({"fault": "empty", "call": "run", "times": 0})
    ask_all()
    assert statuses(one) == [TriedStatus.EMPTY] * 5
    assert {row.error for row in tried(one)} == {
        "The model's answer is empty. Retry this row, or ask more plainly."
    }


def test_of_a_very_long_answer_the_beginning_is_kept() -> None:
    told = trying.read(b'{"response":"%b"}' % (b"\xc3\xa9" * 30_000))
    assert told.status == TriedStatus.ANSWERED
    assert told.answer == '"' + "é" * 12_500 + ' …"'
    assert len(trying.read(b'{"data":[[%b1]]}' % (b"0.123456789," * 5_000)).answer) < 13_000
    assert trying.read(b'{"response":"short"}').answer == '"short"'


# -- faults -------------------------------------------------------------------------------------


def test_a_reply_that_is_lost_is_unclear_and_never_asked_again(
    sandbox: RunningSandbox, one: Try
) -> None:
    faults = ("cut_before", "cut_after", "truncated", "garbage")
    sandbox.script(*({"fault": fault, "call": "run"} for fault in faults))
    assert ask_all() == 5
    assert statuses(one) == [TriedStatus.UNCLEAR] * 4 + [TriedStatus.ANSWERED]
    assert {row.error for row in tried(one)[:4]} == {trying.NO_ANSWER}
    assert trying.rescue(timezone.now() + timedelta(hours=3)) == 0
    assert ask_all() == 0
    assert asked(sandbox) == 5
    assert paused_until() is None  # batches go on


@pytest.mark.parametrize("status", [500, 503, 408])
def test_a_server_error_is_unclear(sandbox: RunningSandbox, one: Try, status: int) -> None:
    sandbox.script({"fault": "error", "status": status, "call": "run", "times": 0})
    ask_all()
    assert statuses(one) == [TriedStatus.UNCLEAR] * 5


def test_a_server_that_cannot_be_reached_is_not_charged(one: Try, free_tcp_port: int) -> None:
    Connection.objects.update(base_url=f"http://127.0.0.1:{free_tcp_port}/client/v4")
    ask_all()
    assert statuses(one) == [TriedStatus.NOT_ASKED] * 5
    assert "could not be reached" in tried(one)[0].error


def test_what_the_model_refuses_fails_with_its_reason(sandbox: RunningSandbox, one: Try) -> None:
    sandbox.script(
        {"fault": "error", "code": 8007, "message": "too long", "call": "run", "times": 0}
    )
    ask_all()
    assert statuses(one) == [TriedStatus.FAILED] * 5
    assert (tried(one)[0].code, "too long" in tried(one)[0].error) == (8007, True)
    assert paused_until() is None


@pytest.mark.parametrize(
    ("fault", "says", "seconds"),
    [
        ({"code": 3021}, "limit of requests in a minute", 60),
        ({"code": 3040, "retry_after": 30}, "no room", 30),
    ],
)
def test_a_limit_ends_the_try_and_pauses_the_connection(
    sandbox: RunningSandbox, one: Try, fault: dict[str, Any], says: str, seconds: int
) -> None:
    sandbox.script({"fault": "error", "call": "run", **fault})
    with Span() as span:
        assert ask_all() == asked(sandbox) == 1
    assert statuses(one) == [TriedStatus.NOT_ASKED] * 5
    assert all(says in row.error for row in tried(one))
    assert span.sets(paused_until(), seconds)


def test_a_model_without_room_ends_the_try_alone(sandbox: RunningSandbox, one: Try) -> None:
    sandbox.script({"fault": "error", "call": "run", "code": 3040})
    assert ask_all() == 1
    assert statuses(one) == [TriedStatus.NOT_ASKED] * 5
    assert paused_until() is None


def test_a_used_up_allowance_holds_everything_until_midnight(
    sandbox: RunningSandbox, one: Try
) -> None:
    sandbox.script({"fault": "error", "call": "run", "code": 3036})
    assert ask_all() == 1
    assert all("free allowance" in row.error for row in tried(one))
    until = paused_until()
    assert until is not None
    assert (until.hour, until.minute, until > timezone.now()) == (0, 0, True)


def test_a_refused_token_waits_for_a_person(sandbox: RunningSandbox, one: Try) -> None:
    sandbox.script({"fault": "error", "call": "run", "code": 10000})
    with Span() as span:
        assert ask_all() == 1
    assert statuses(one) == [TriedStatus.NOT_ASKED] * 5
    assert span.sets(paused_until(), 300)


def test_a_token_that_cannot_be_read_is_said(one: Try) -> None:
    Connection.objects.update(token_encrypted="nonsense")
    assert ask_all() == 0
    assert statuses(one) == [TriedStatus.NOT_ASKED] * 5
    assert "token" in tried(one)[0].error
    assert paused_until() is not None


def test_nothing_is_asked_once_the_connection_is_paused(sandbox: RunningSandbox, one: Try) -> None:
    Connection.objects.update(
        paused_until=timezone.now() + timedelta(minutes=1), pause_reason="No more today."
    )
    assert ask_all() == asked(sandbox) == 0
    assert {(row.status, row.error) for row in tried(one)} == {
        (TriedStatus.NOT_ASKED, "No more today.")
    }


def test_an_answer_shows_that_the_connection_works_again(one: Try) -> None:
    Connection.objects.update(failures_in_a_row=3)
    ask_all()
    assert Connection.objects.get().failures_in_a_row == 0


def test_a_lost_answer_does_not_show_that_the_connection_works(
    sandbox: RunningSandbox, one: Try
) -> None:
    Connection.objects.update(failures_in_a_row=3)
    sandbox.script({"fault": "cut_after", "call": "run", "times": 0})
    ask_all()
    assert Connection.objects.get().failures_in_a_row == 3


def test_a_mistake_of_ours_is_logged_and_unclear(
    one: Try, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def run(self, model: str, item: bytes) -> bytes:
            raise ZeroDivisionError

    told = trying.post(Broken(), model="", item=b"")  # type: ignore[arg-type]
    assert told == trying.Told(TriedStatus.UNCLEAR, error=trying.OUR_MISTAKE)
    assert "its answer was lost" in caplog.text


# -- two workers, and deaths --------------------------------------------------------------------


def test_a_row_that_two_workers_have_seen_is_asked_once(sandbox: RunningSandbox, one: Try) -> None:
    mine, theirs = trying.waiting(1), trying.waiting(1)
    assert trying.ask(mine[0])
    assert not trying.ask(theirs[0])
    assert asked(sandbox) == 1


def test_a_row_whose_worker_died_is_unclear_after_its_lease(one: Try) -> None:
    [row] = trying.waiting(1)
    now = timezone.now()
    TriedRow.objects.filter(pk=row.pk).update(
        status=TriedStatus.ASKING, epoch=1, lease_until=now + PART_LEASE
    )
    assert trying.rescue(now + PART_LEASE - timedelta(seconds=1)) == 0
    assert trying.rescue(now + PART_LEASE) == 1
    row.refresh_from_db()
    assert (row.status, row.error, row.item) == (TriedStatus.UNCLEAR, trying.CUT_OFF, "")
    assert ask_all() == 4


def test_an_answer_that_comes_after_the_lease_counts(one: Try) -> None:
    class Slow:
        def run(self, model: str, item: bytes) -> bytes:
            assert trying.rescue(timezone.now() + timedelta(minutes=6)) == 1
            return b'{"response":"late"}'

    [row] = trying.waiting(1)
    assert trying.claim(row)
    outcome = trying.post(Slow(), model="", item=b"")  # type: ignore[arg-type]
    trying.apply_outcome(row, outcome, seconds=400)
    row.refresh_from_db()
    assert (row.status, row.answer, row.error) == (TriedStatus.ANSWERED, '"late"', "")


def test_a_row_that_nobody_asks_is_given_up_after_ten_minutes(one: Try) -> None:
    begun_at = one.created_at
    assert trying.rescue(begun_at + timedelta(minutes=10)) == 0
    assert trying.rescue(begun_at + timedelta(minutes=10, seconds=1)) == 5
    assert {(row.status, row.error) for row in tried(one)} == {
        (TriedStatus.NOT_ASKED, trying.NOBODY_ASKED)
    }


def test_rows_of_a_deleted_draft_are_not_asked(sandbox: RunningSandbox, one: Try) -> None:
    Batch.objects.update(deleted_at=timezone.now())
    assert ask_all() == asked(sandbox) == 0


def test_a_row_that_was_stopped_meanwhile_is_not_asked(sandbox: RunningSandbox, one: Try) -> None:
    seen = trying.waiting(5)
    tries.stop(one)
    assert not any(map(trying.ask, seen))
    assert asked(sandbox) == 0


def test_of_a_copy_of_the_database_nothing_is_asked(sandbox: RunningSandbox, one: Try) -> None:
    TriedRow.objects.filter(number=2).update(status=TriedStatus.ASKING)
    TriedRow.objects.filter(number=3).update(status=TriedStatus.ANSWERED)
    assert trying.ask_nothing_more("It was put back.") == 4
    assert statuses(one) == [
        TriedStatus.UNCLEAR,
        TriedStatus.ANSWERED,
        *[TriedStatus.UNCLEAR] * 3,
    ]
    assert tried(one)[0].error == f"It was put back. {trying.MAYBE_CHARGED}"
    assert ask_all() == asked(sandbox) == 0


def test_an_answer_that_does_not_fit_its_columns_says_why() -> None:
    columns = (AnswerColumn("tone", "one_of", ("good", "bad")),)
    told = trying.read(b'{"response":"```json\\n{\\"tone\\":\\"Good\\"}\\n```"}', columns)
    assert (told.status, told.answer) == (TriedStatus.ANSWERED, '{"tone":"Good"}')
    unfit = trying.read(b'{"response":{"tone":"angry"}}', columns)
    assert (unfit.status, unfit.answer) == (TriedStatus.UNFIT, '{"tone":"angry"}')
    assert "is not one of good, bad" in unfit.error


def test_what_comes_back_is_held_against_the_columns_that_are_wanted() -> None:
    class Angry:
        def run(self, model: str, item: bytes) -> bytes:
            return b'{"response":{"tone":"angry"}}'

    columns = (AnswerColumn("tone", "one_of", ("good", "bad")),)
    told = trying.post(Angry(), model="", item=b"", columns=columns)  # type: ignore[arg-type]
    assert isinstance(told, trying.Told)
    assert told.status == TriedStatus.UNFIT
