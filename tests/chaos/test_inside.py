"""Campaigns inside: a product that is right passes, and planted mistakes are found."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batchui.batches import lifecycle, replies, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.results import Answer
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.chaos import actors
from batchui.chaos.draws import Draws
from batchui.chaos.figures import Figures
from batchui.chaos.inside import Inside
from batchui.chaos.wire import Wire, running_wire

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


def test_an_error_that_nobody_catches_is_told(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> bool:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(actors, "decide", broken)
    figures = campaign(wire, seed=3, kills=5)
    assert not figures.is_well
    assert any("ZeroDivisionError: planted" in text for text in figures.escaped)
