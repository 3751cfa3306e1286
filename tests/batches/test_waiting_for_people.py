"""What waits for a person goes on by itself when its cause is gone: now and then a part is sent."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.utils import timezone

from batchui.batches import clients, due, outcomes, pauses, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Accepted, OnHold
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    let_the_pause_end,
    on_record,
    paused_until,
    poll_all,
    posts,
    rows,
    send_all,
    work,
    written,
)
from tests.batches.spans import Span

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
OTHER_MODEL = "@cf/moonshotai/kimi-k2.6"


def held(batch: Batch) -> list[int]:
    """The numbers of the parts on hold."""
    found = batch.parts.filter(status=PartStatus.HELD).order_by("number")
    return list(found.values_list("number", flat=True))


def hold(batch: Batch, *, code: int | None = None, finished: datetime | None = None) -> None:
    """Let the parts of a batch wait for a person, after one refusal each."""
    batch.parts.update(status=PartStatus.HELD, failures_in_a_row=1)
    for part in batch.parts.all():
        attempt_on_record(
            part, status=AttemptStatus.BUSY, code=code, finished_at=finished or timezone.now()
        )


# -- as it happens ------------------------------------------------------------------------------


def test_a_page_of_a_proxy_that_came_once_is_got_over_without_anybody(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "status": 403, "call": "submit"})
    with Span() as span:
        sending.send(due.ready_parts(1)[0])
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    assert held(batch) == [1]
    assert span.sets(paused_until(), 300)
    assert (due.ready_parts(5), due.release_held()) == ([], 0)
    let_the_pause_end()
    send_all()  # one other part, which is accepted
    assert posts(sandbox) == 2
    assert held(batch) == []
    assert work(batch).status == BatchStatus.FINISHED


def test_a_token_that_is_refused_is_tried_with_one_part_at_longer_and_longer_pauses(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 0})
    with Span() as span:
        send_all()
    assert held(batch) == [1, 2, 3]
    for sent, seconds in enumerate((300, 600, 1200, 2400, 3600, 3600), 3):
        assert posts(sandbox) == sent
        assert span.sets(paused_until(), seconds)
        let_the_pause_end()
        assert due.release_held() == 1
        assert held(batch) == [2, 3]
        assert due.release_held() == 0  # one at a time
        with Span() as span:
            send_all()
    told = batch.events.filter(text__contains="is on hold").count()
    assert told == 3  # once for each part, however often it is tried


def test_a_token_that_is_replaced_is_used_at_once_for_all_that_waited(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "account", "old-token"
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    batches = [start(rows(30)) for _ in range(2)]
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 0})
    send_all()
    assert [held(batch) for batch in batches] == [[1, 2], [1, 2]]
    sandbox.script()
    settings.CLOUDFLARE_API_TOKEN = "new-token"
    ensure_connection(batches[0].team)  # as each worker does when it starts
    assert due.release_held() == 1
    send_all()
    assert [held(batch) for batch in batches] == [[], []]
    assert [work(batch).status for batch in batches] == [BatchStatus.FINISHED] * 2


def test_a_token_that_cannot_be_read_is_tried_again_when_it_can_be(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    keys = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    clients._clients.clear()
    with Span() as span:
        send_all()
    assert held(batch) == [1, 2, 3]
    assert span.sets(paused_until(), 300)
    assert Connection.objects.get().pause_reason == batch.parts.get(number=1).message != ""
    let_the_pause_end()
    assert due.release_held() == 1
    send_all()
    assert held(batch) == [1, 2, 3]
    assert batch.events.filter(part_number=1).count() == 1
    failures = batch.parts.order_by("number").values_list("failures_in_a_row", flat=True)
    assert list(failures) == [2, 1, 1]
    settings.ENCRYPTION_KEYS = keys
    let_the_pause_end()
    assert due.release_held() == 1
    assert work(batch).status == BatchStatus.FINISHED
    assert posts(sandbox) == 3


# -- what was sent ------------------------------------------------------------------------------


@pytest.fixture
def sent(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A batch of one part, which Cloudflare has."""
    batch = start(rows(20))
    send_all()
    return batch


def refused_for_hours(batch: Batch, *, polls: int = 12, hours: float = 7) -> Part:
    """The only part of a batch after so many polls over so many hours."""
    for _ in range(polls):
        poll_all()
    Part.objects.update(failing_since=timezone.now() - hours * 60 * MINUTE)
    with Span() as span:
        poll_all()
    part = batch.parts.get()
    assert (part.status, part.question) == (PartStatus.QUEUED, "")
    assert part.is_in_trouble  # the page says so, and lets people give it up
    assert span.sets(part.next_poll_at, pauses.PROBE_SECONDS)
    return part


@pytest.mark.parametrize(
    "refusal",
    [{"code": 10000}, {"code": 3023}, {"status": 403}, {"status": 302}],
    ids=["token", "account", "the page of a proxy", "redirected"],
)
def test_answers_that_wait_for_a_person_come_by_themselves_when_the_cause_is_gone(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any, refusal: dict[str, Any]
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "account", "old-token"
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    batch = start(rows(20))
    send_all()
    sandbox.script({"fault": "error", "call": "poll", "times": 0, **refusal})
    part = refused_for_hours(batch)
    assert part.attempts.get().reply_file == ""
    sandbox.script()
    settings.CLOUDFLARE_API_TOKEN = "new-token"
    clients.close_all()
    ensure_connection(batch.team)  # as each worker does when it starts
    assert work(batch).status == BatchStatus.FINISHED
    assert posts(sandbox) == 1


def test_answers_come_by_themselves_when_the_token_can_be_read_again(
    sandbox: RunningSandbox, sent: Batch, settings: Any
) -> None:
    keys = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    clients.close_all()
    refused_for_hours(sent)
    settings.ENCRYPTION_KEYS = keys
    assert work(sent).status == BatchStatus.FINISHED
    assert posts(sandbox) == 1


def test_one_odd_reply_after_hours_with_a_wrong_token_asks_nobody(
    sandbox: RunningSandbox, sent: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "poll", "times": 0})
    refused_for_hours(sent)
    sandbox.script({"fault": "garbage", "call": "poll"})
    poll_all()
    assert sent.parts.get().status == PartStatus.QUEUED
    assert work(sent).status == BatchStatus.FINISHED


def test_a_token_that_is_refused_once_costs_an_answer_seconds(
    sandbox: RunningSandbox, sent: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "poll", "times": 2})
    for longest in (12.5, 25):
        poll_all()
        part = sent.parts.get()
        assert part.next_poll_at is not None
        assert part.next_poll_at <= timezone.now() + timedelta(seconds=longest)


# -- one model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(outcomes.OF_ONE_MODEL))
def test_a_model_that_an_account_may_not_use_does_not_hold_up_the_others(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    refused = {"fault": "error", "code": code, "call": "submit", "times": 0}
    sandbox.script(refused | {"model": OTHER_MODEL})
    forbidden, allowed = start(rows(30), model=OTHER_MODEL), start(rows(30))
    send_all()
    connection = Connection.objects.get()
    assert (connection.paused_until, connection.failures_in_a_row) == (None, 0)
    assert work(allowed).status == BatchStatus.FINISHED
    forbidden.refresh_from_db()
    assert forbidden.status == BatchStatus.ATTENTION
    assert held(forbidden) == [1, 2]
    sent = posts(sandbox)
    assert due.release_held() == 0
    Attempt.objects.update(finished_at=timezone.now() - 6 * MINUTE)
    sandbox.script()
    assert due.release_held() == 1
    assert work(forbidden).status == BatchStatus.FINISHED
    assert posts(sandbox) == sent + 2


@pytest.mark.parametrize("code", [10000, 3023, None])
def test_what_concerns_the_whole_account_pauses_the_connection(
    sandbox: RunningSandbox, part: Part, code: int | None
) -> None:
    on_hold = sending.on_hold(sending.errors.Busy("No.", needs_person=True, code=code))
    assert on_hold == OnHold("No.", code, None, everywhere=True)
    with Span() as span:
        sending.apply_outcome(part, written(part), on_hold)
    assert span.sets(paused_until(), 300)


# -- which part is tried ------------------------------------------------------------------------


def test_of_all_that_waits_for_a_person_the_oldest_is_tried(team: Team) -> None:
    now = timezone.now()
    young, old = (on_record(team, parts=2, started_at=now - n * MINUTE) for n in (1, 2))
    for batch in (young, old):
        hold(batch)
    assert due.release_held() == 1
    assert (held(young), held(old)) == ([1, 2], [2])


def test_of_one_batch_the_part_with_the_lowest_number_is_tried(team: Team) -> None:
    batch = on_record(team, parts=3)
    batch.parts.filter(number=1).update(number=4)  # it was made first, and is now the last one
    hold(batch)
    assert due.release_held() == 1
    assert held(batch) == [3, 4]


def test_nothing_is_tried_while_its_connection_is_paused(team: Team) -> None:
    hold(on_record(team))
    Connection.objects.update(paused_until=timezone.now() + MINUTE)
    assert due.release_held() == 0
    let_the_pause_end()
    assert due.release_held() == 1


@pytest.mark.parametrize("status", PartStatus)
def test_nothing_is_tried_where_another_part_goes_first(team: Team, status: PartStatus) -> None:
    batch = on_record(team)
    hold(batch)
    on_record(team).parts.update(status=status, resume_at=timezone.now() + MINUTE)
    goes_first = status in (PartStatus.READY, PartStatus.SENDING)
    assert due.release_held() == (0 if goes_first else 1)


def test_what_another_connection_another_model_or_a_deleted_batch_sends_goes_not_first(
    team: Team,
) -> None:
    hold(on_record(team))
    on_record(Team.objects.create(name="Others"))
    on_record(team, model=OTHER_MODEL)
    on_record(team, deleted_at=timezone.now())
    assert due.release_held() == 1


def test_each_connection_and_each_model_is_tried(team: Team) -> None:
    batches = [
        on_record(team, parts=2),
        on_record(team, parts=2, model=OTHER_MODEL),
        on_record(Team.objects.create(name="Others"), parts=2),
    ]
    for batch in batches:
        hold(batch)
    assert due.release_held() == 3
    assert [held(batch) for batch in batches] == [[2]] * 3


def test_what_waits_for_a_time_is_not_tried_before_it(team: Team) -> None:
    batch = on_record(team)
    hold(batch)
    batch.parts.update(resume_at=timezone.now() + MINUTE)
    assert due.release_held() == 0


def test_nothing_of_a_deleted_batch_is_tried(team: Team) -> None:
    hold(on_record(team, deleted_at=timezone.now()))
    assert due.release_held() == 0


@pytest.mark.parametrize(
    ("failures", "minutes"), [(0, 5), (1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (100_000, 60)]
)
def test_a_model_that_was_refused_is_tried_at_longer_and_longer_pauses(
    team: Team, failures: int, minutes: int
) -> None:
    assert pauses.probe(failures) == minutes * MINUTE
    batch = on_record(team)
    hold(batch, code=5016, finished=timezone.now() - minutes * MINUTE + timedelta(seconds=50))
    Part.objects.update(failures_in_a_row=failures)
    assert due.release_held() == 0
    Attempt.objects.update(finished_at=timezone.now() - minutes * MINUTE)
    assert due.release_held() == 1


def test_a_model_is_tried_by_the_last_refusal_and_after_the_clock_went_back(team: Team) -> None:
    batch = on_record(team)
    hold(batch, code=5016, finished=timezone.now() - 90 * MINUTE)
    latest = attempt_on_record(
        batch.parts.get(), status=AttemptStatus.BUSY, code=5016, finished_at=timezone.now()
    )
    assert due.release_held() == 0
    Attempt.objects.filter(pk=latest.pk).update(finished_at=timezone.now() + 60 * MINUTE)
    assert due.release_held() == 1


# -- what is released ---------------------------------------------------------------------------


def test_what_is_accepted_releases_what_waits_for_a_person_on_the_same_way(
    sandbox: RunningSandbox, part: Part
) -> None:
    team = part.batch.team
    waits_for_time, other_model, like = (
        on_record(team),
        on_record(team, model=OTHER_MODEL),
        on_record(team, parts=2),
    )
    elsewhere = on_record(Team.objects.create(name="Others"))
    for batch in (waits_for_time, other_model, like, elsewhere):
        hold(batch)
    waits_for_time.parts.update(resume_at=timezone.now() + MINUTE)
    sending.apply_outcome(part, written(part), Accepted("known"))
    assert [held(batch) for batch in (waits_for_time, other_model, like, elsewhere)] == [
        [1],
        [1],
        [],
        [1],
    ]
