"""Campaigns inside: a product that is right passes, and planted mistakes are found.

`test_inside.py` runs these tests, in a process of their own.
"""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import clients, due, lifecycle, pauses, polling, replies, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.states import OPEN_PARTS, AttemptStatus, PartStatus
from batchui.chaos import actors, inside, verdict
from batchui.chaos.draws import FIRST_ROW, MODELS, TEMPLATE, Draws, File, mark_of
from batchui.chaos.figures import Figures
from batchui.chaos.inside import Inside, Step
from batchui.chaos.triggers import Trigger
from batchui.chaos.wire import ChaosFailed, Wire, running_wire
from batchui.prompts.ask import Ask
from batchui.teams.models import Connection

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

KILLS = 25


@pytest.fixture
def wire(tmp_path: Path, settings: Any) -> Iterator[Wire]:
    settings.FIRST_POLL_SECONDS = 0.05
    settings.CALLS_PER_5_MINUTES = 1_000_000
    settings.DATA = tmp_path
    with running_wire(tmp_path / "sandbox.sqlite3") as running:
        settings.SANDBOX_URL = running.address
        yield running


def campaign(wire: Wire, *, seed: int, kills: int = KILLS) -> Figures:
    figures = Figures("inside", "test", seed)
    Inside(figures, wire, say=lambda _: None).run(kills)
    return figures


def test_a_product_that_is_right_passes(wire: Wire) -> None:
    figures = campaign(wire, seed=1)
    assert figures.is_well, [*figures.findings, *figures.escaped]
    assert figures.kills >= KILLS
    assert figures.survived > 0
    assert figures.accepted > 0
    assert (figures.batches, figures.rows) == (
        Batch.objects.count(),
        sum(Batch.objects.values_list("rows", flat=True)),
    )


def without_receipts(attempt: Attempt, request_id: str) -> None:
    """Note that it was accepted, and forget under which receipt."""
    Attempt.objects.filter(pk=attempt.pk).update(status=AttemptStatus.ACCEPTED)
    attempt.status = AttemptStatus.ACCEPTED


def sent_again_in_silence(part: Part, closing: lifecycle.Closing) -> None:
    """Send again what may have been sent, and tell nobody."""
    lifecycle.move_part(part, PartStatus.READY, closing=closing)


def one_row_down(match: Callable[..., dict[int, Answer]]) -> Callable[..., dict[int, Answer]]:
    """Give each answer to the row after its own."""

    def matched(part: Part, *rest: Any) -> dict[int, Answer]:
        return {(at + 1) % part.rows: answer for at, answer in match(part, *rest).items()}

    return matched


MISTAKES: dict[str, tuple[object, str, Any, set[int]]] = {
    "receipts are not kept": (lifecycle, "store_receipt", without_receipts, {3, 5}),
    "what is unsure is sent again": (sending, "mark_unsure", sent_again_in_silence, {4}),
    "answers go to the next row": (replies, "match", one_row_down(replies.match), {2}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    """Where a step dies is left to chance, so one short campaign may miss it: eight do not."""
    module, name, wrong, invariants = MISTAKES[mistake]
    monkeypatch.setattr(module, name, wrong)
    lost = {"fault": "cut_after", "call": "submit", "times": 3}
    monkeypatch.setattr(Draws, "faults", lambda _: [lost])
    campaigns = (campaign(wire, seed=seed, kills=15) for seed in range(1, 9))
    found = next(figures for figures in campaigns if not figures.is_well)
    assert invariants & {one.invariant for one in found.findings}, found.findings


# -- ten quiet minutes ----------------------------------------------------------------------------


def left_behind(wire: Wire) -> Inside:
    """A campaign at its end: a poll has just failed, and a worker has died while it sent a part."""
    campaign = Inside(Figures("inside", "test", 1), wire, say=lambda _: None)
    lines = (f"{row},{mark_of('f', row)}" for row in range(FIRST_ROW, FIRST_ROW + 60))
    content = "\r\n".join(["id,text", *lines]).encode()
    file = File("f.csv", content, 60, Ask(model=MODELS[0], template=TEMPLATE))
    actors.upload(file)
    actors.start(0.0)
    first, second, _ = due.ready_parts(3)
    sending.send(first)
    wire.script([{"fault": "garbage", "call": "poll"}])
    Part.objects.update(next_poll_at=timezone.now())
    polling.poll(due.due_parts(1)[0])
    lease = timezone.now() + sending.PART_LEASE
    assert lifecycle.move_part(second, PartStatus.SENDING, lease_until=lease)
    clients.close_all()
    return campaign


def after_rest(campaign: Inside) -> Figures:
    campaign._come_to_rest()
    campaign._note_escaped()
    wire, figures = campaign.wire, campaign.figures
    verdict.give(figures, store=wire.store, address=wire.address, receipts={})
    return figures


def test_all_closes_within_ten_minutes_after_the_last_fault(wire: Wire) -> None:
    figures = after_rest(left_behind(wire))
    assert figures.is_well, [*figures.findings, *figures.escaped]
    assert 7 <= figures.minutes_to_rest <= 10
    assert Batch.objects.get().answered == 60


def test_what_cloudflare_forgot_is_given_up_within_the_ten_minutes(wire: Wire) -> None:
    campaign = left_behind(wire)
    wire.script([{"fault": "forgotten", "call": "submit"}])
    [forgotten] = due.ready_parts(1)
    sending.send(forgotten)
    forgotten.refresh_from_db()
    assert lifecycle.claim_part(forgotten, sending.PART_LEASE)  # by a worker that died
    clients.close_all()
    figures = after_rest(campaign)
    assert figures.is_well, [*figures.findings, *figures.escaped]
    assert Batch.objects.get().missing == forgotten.rows


def test_a_hold_that_cloudflare_asked_for_is_not_among_the_ten_minutes(wire: Wire) -> None:
    campaign = left_behind(wire)
    midnight = timezone.now() + timedelta(hours=20)
    Part.objects.filter(status=PartStatus.READY).update(status=PartStatus.HELD, resume_at=midnight)
    Connection.objects.update(paused_until=midnight)
    assert after_rest(campaign).is_well


@pytest.fixture
def few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker look four times in a minute: what is stuck is so however often it looks."""
    monkeypatch.setattr(inside, "SECONDS_BETWEEN_WORK", 15)
    monkeypatch.setattr(inside, "WORK_IN_A_MINUTE", 4)


SLOW: dict[str, Callable[[], None]] = {
    "the next send": lambda: _change(status=PartStatus.READY, resume_at=_later(minutes=12)),
    "a lease": lambda: _change(status=PartStatus.SENDING, lease_until=_later(minutes=12)),
}


def _later(*, minutes: float) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def _change(*, status: PartStatus, **moment: datetime) -> None:
    assert Part.objects.filter(status=status).update(**moment)


@pytest.mark.usefixtures("few_looks")
@pytest.mark.parametrize("mistake", SLOW)
def test_what_takes_longer_than_ten_minutes_is_stuck(wire: Wire, mistake: str) -> None:
    campaign = left_behind(wire)
    SLOW[mistake]()
    figures = after_rest(campaign)
    still_open = Part.objects.get(status__in=OPEN_PARTS)
    [sentence] = figures.stuck
    part, batch = still_open.number, still_open.batch_id
    assert sentence.startswith(f"Part {part} of batch {batch} is {still_open.status}: ")
    assert not figures.is_well


@pytest.mark.usefixtures("few_looks")
def test_a_product_that_waits_too_long_after_a_failure_is_found(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "LONGEST_FAILURE_SECONDS", 3_600)
    monkeypatch.setattr(pauses, "FAILURE_SECONDS", 1_800)
    assert after_rest(left_behind(wire)).stuck


def test_an_error_that_nobody_catches_is_told(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> bool:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(actors, "decide", broken)
    # At first most steps upload and start, so one short campaign may decide nothing.
    campaigns = (campaign(wire, seed=seed, kills=15) for seed in range(1, 9))
    figures = next(figures for figures in campaigns if not figures.is_well)
    assert any("ZeroDivisionError: planted" in text for text in figures.escaped)


def test_of_a_step_that_hangs_it_is_told_where_it_stands(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waits_for_nobody() -> None:
        time.sleep(60)

    monkeypatch.setattr(inside, "SECONDS_FOR_A_STEP", 1)
    hanging = Step("stop", waits_for_nobody, Trigger("line", 4_000), 1)
    campaign = Inside(Figures("inside", "test", 1), wire, say=lambda _: None)
    with pytest.raises(ChaosFailed) as raised:
        campaign._take([Step("start", lambda: None, None, 1), hanging])
    sentence, *stood = str(raised.value).splitlines()
    assert sentence == "A step did not end within 1 s: stop (at line 4000)."
    assert any("in waits_for_nobody" in line for line in stood)
