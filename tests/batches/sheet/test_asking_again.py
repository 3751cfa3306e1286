"""Chosen rows are asked again, and no others; good answers stay until others come."""

import json
from typing import Any

import pytest

from batchui.batches import decisions, exporting, many_parts, part_answers
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.sheet import asking_again, pages
from batchui.batches.sheet.asking_again import MOST_TICKED, AskAgain
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.sheet.selection import Selection, parse
from batchui.batches.states import BatchStatus, PartStatus
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MakeBatch, counted, in_files, rows, send_all, statuses, work
from tests.batches.sheet.made import WAITS, damage, made, no, summed, yes

pytestmark = pytest.mark.django_db

BROKEN = Selection(reason=reason_of("failed", "broken").key)
SHUT = no("failed", "Gate 3 is shut.")


def parts_of(batch: Batch) -> list[Part]:
    return list(batch.parts.order_by("number"))


def open_rows(batch: Batch) -> list[int]:
    """The numbers of the rows that are to be sent."""
    return [
        part.first_row + position
        for part in parts_of(batch)
        if part.status == PartStatus.READY
        for position in part_answers.open_positions(part)
    ]


def sent_again(batch: Batch) -> list[int]:
    """The numbers of the rows in the requests after the first of each part."""
    return sorted(
        attempt.part.first_row + position
        for attempt in Attempt.objects.filter(part__batch=batch, number__gt=1)
        for position in attempt.positions or range(attempt.part.rows)
    )


def all_is_well(batch: Batch) -> None:
    """What the doctor knows must be true, and the counts are those of the files."""
    assert [str(one) for one in look(Scope(batch=batch.pk)).findings] == []
    assert counted(batch) == in_files(batch)


def answers(batch: Batch) -> dict[int, Any]:
    lines = b"".join(exporting.jsonl(batch)).splitlines()
    return {one["row"]: one["answer"] for one in map(json.loads, lines)}


# -- which rows ---------------------------------------------------------------------------------


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, [yes(), no(), SHUT, no("empty")], [yes(), yes()], [no(), no("missing")])


def test_a_reason_asks_its_rows_and_no_others(some: Batch, ana: User) -> None:
    assert asking_again.ask_again(some, chosen=BROKEN, by=ana) == AskAgain(2, 0)
    assert open_rows(some) == [2, 7]
    assert statuses(some) == ["ready", "done", "ready"]
    assert counted(some) == {"answered": 3, "empty": 1, "failed": 1, "missing": 1}
    assert in_files(some) == counted(some)
    event = some.events.get(kind="retry")
    assert event.actor == ana
    assert event.text == "Asked again: 2 rows are sent again, as chosen."


def test_ticked_rows_are_asked_whatever_became_of_them(some: Batch) -> None:
    means = asking_again.ask_again(some, chosen=[1, 3, 5], by=None)
    assert means == AskAgain(unanswered=1, answered=2)
    assert open_rows(some) == [1, 3, 5]
    assert counted(some)["answered"] == 3  # they stay until others come
    assert "2 rows are answered already, and charged a second time" in some.events.get().text


def test_what_it_means_is_said_before(some: Batch) -> None:
    assert asking_again.meaning_of(some, chosen=[1, 3, 5, 99]) == AskAgain(1, 2)
    assert asking_again.meaning_of(some, chosen=BROKEN) == AskAgain(2, 0)
    assert open_rows(some) == []


@pytest.mark.parametrize("chosen", [[], [0], [99], [-4], Selection(reason="no-such-reason")])
def test_rows_that_are_not_there_are_not_asked(some: Batch, chosen: Any) -> None:
    assert asking_again.ask_again(some, chosen=chosen, by=None) == AskAgain()
    assert (open_rows(some), some.events.count()) == ([], 0)


def test_answered_rows_are_asked_by_their_numbers_alone(some: Batch) -> None:
    assert asking_again.ask_again(some, chosen=parse("answered"), by=None) == AskAgain()


def test_what_was_never_asked_cannot_be_asked_again(team: Team) -> None:
    batch = made(team, [no("invalid", "Column “text”: it is empty"), yes()])
    assert asking_again.ask_again(batch, chosen=[1], by=None) == AskAgain()


def test_only_so_many_rows_are_ticked_at_one_time(team: Team) -> None:
    batch = made(team, [no()] * (MOST_TICKED + 5))
    assert asking_again.ask_again(batch, chosen=range(1, 9_999), by=None).rows == MOST_TICKED


def test_nothing_is_asked_of_a_batch_that_goes_on_or_was_deleted(some: Batch) -> None:
    Batch.objects.update(status=BatchStatus.RUNNING)
    assert asking_again.ask_again(some, chosen=BROKEN, by=None) == AskAgain()
    Batch.objects.update(status=BatchStatus.PROBLEMS, deleted_at="2026-01-01T00:00:00Z")
    assert asking_again.ask_again(some, chosen=BROKEN, by=None) == AskAgain()
    assert statuses(some) == ["done"] * 3


def test_rows_without_a_line_of_their_own_keep_what_became_of_them(team: Team) -> None:
    batch = made(team, [yes(), WAITS, WAITS, no()])
    Part.objects.update(waiting_became="missing", waiting_error="gone", missing=2)
    batch = summed(batch)
    assert asking_again.ask_again(batch, chosen=[2], by=None) == AskAgain(1, 0)
    assert open_rows(batch) == [2]
    assert in_files(batch) == {"answered": 1, "missing": 1, "failed": 1}
    [row] = pages.page(batch, parse("missing"), offset=0, limit=9)
    assert (row.row, row.error) == (3, "gone")


@pytest.mark.parametrize("first", ["retry", "ask again"])
def test_rows_of_a_retry_that_was_stopped_can_be_asked_one_by_one(some: Batch, first: str) -> None:
    """What they became stands in no file then."""
    if first == "retry":
        assert decisions.retry(some, by=None)
    else:
        asking_again.ask_again(some, chosen=[2, 3, 7, 8], by=None)
    assert decisions.stop(some, by=None)
    some.refresh_from_db()
    assert counted(some)["unsent"] >= 4
    before = counted(some)["unsent"]
    assert asking_again.ask_again(some, chosen=[3], by=None) == AskAgain(1, 0)
    assert open_rows(some) == [3]
    assert counted(some)["unsent"] == before - 1
    assert in_files(some) == counted(some)


def test_after_stop_an_answered_row_is_answered_as_before(some: Batch) -> None:
    asking_again.ask_again(some, chosen=[1, 2], by=None)
    decisions.stop(some, by=None)
    assert counted(some) == {"answered": 3, "failed": 2, "empty": 1, "missing": 1, "unsent": 1}
    assert in_files(some) == counted(some)
    assert decisions.retry(some, by=None)
    assert 1 not in open_rows(some)  # a Retry takes only rows without an answer


def test_rows_of_a_part_that_was_moved_meanwhile_are_left_alone(some: Batch) -> None:
    first, _, last = parts_of(some)
    assert many_parts.reopen(Part.objects.filter(pk=first.pk))
    assert not many_parts.reopen_chosen(first, {})
    assert many_parts.reopen_chosen(last, {})


def test_a_part_whose_answers_cannot_be_read_is_left_alone(some: Batch) -> None:
    damage(parts_of(some)[0], lines=1)
    assert asking_again.ask_again(some, chosen=[2, 7], by=None) == AskAgain(1, 0)
    assert statuses(some) == ["done", "done", "ready"]


def test_reasons_are_counted_anew_for_what_is_asked_again(some: Batch) -> None:
    assert pages.count(some, BROKEN) == 2
    asking_again.ask_again(some, chosen=[2], by=None)
    assert pages.count(some, BROKEN) == 1


# -- and what comes of it -----------------------------------------------------------------------


def two_of_each_part_fail(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """Sixty rows in three parts; rows 2 and 4 of each have failed."""
    sandbox.script({"fault": "failed", "items": [0, 2], "times": 0})
    batch = work(start(rows(60)))
    sandbox.script()
    assert counted(batch) == {"answered": 54, "failed": 6}
    return batch


def test_only_the_chosen_rows_are_sent_and_all_tries_are_merged(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = two_of_each_part_fail(sandbox, start)
    before = answers(batch)
    failed = [row for row, answer in before.items() if answer is None]
    assert asking_again.ask_again(batch, chosen=[failed[0], 10], by=None) == AskAgain(1, 1)
    batch = work(batch)
    assert sent_again(batch) == [failed[0], 10]
    assert counted(batch) == {"answered": 55, "failed": 5}
    after = answers(batch)
    assert after[failed[0]] is not None
    assert {row: one for row, one in after.items() if row != failed[0]} == {
        row: one for row, one in before.items() if row != failed[0]
    }
    assert not batch.parts.exclude(asked_again=None).exists()
    all_is_well(batch)


@pytest.mark.parametrize("fault", ["failed", "missing", "empty"])
def test_a_good_answer_stays_if_no_other_one_comes(
    sandbox: RunningSandbox, start: MakeBatch, fault: str
) -> None:
    batch = work(start(rows(60)))
    before = answers(batch)
    sandbox.script({"fault": fault, "items": [0], "times": 0})
    assert asking_again.ask_again(batch, chosen=[5, 7], by=None) == AskAgain(0, 2)
    batch = work(batch)
    assert (batch.status, answers(batch)) == (BatchStatus.FINISHED, before)
    assert sent_again(batch) == [5, 7]  # and not for ever
    all_is_well(batch)


def test_a_refused_request_leaves_good_answers_alone(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(60)))
    before = answers(batch)
    sandbox.script({"fault": "error", "code": 5006, "call": "submit", "times": 0})
    asking_again.ask_again(batch, chosen=[5, 7, 9], by=None)
    batch = work(batch)
    assert (batch.status, answers(batch)) == (BatchStatus.FINISHED, before)
    all_is_well(batch)


def test_rows_that_are_sent_a_few_at_a_time_are_all_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(60)))
    Part.objects.update(send_limit=2)
    asking_again.ask_again(batch, chosen=[3, 4, 5, 6, 7], by=None)
    batch = work(batch)
    assert sent_again(batch) == [3, 4, 5, 6, 7]
    assert batch.status == BatchStatus.FINISHED
    all_is_well(batch)


def test_the_batch_goes_on_while_rows_are_asked_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(60)))
    asking_again.ask_again(batch, chosen=[3], by=None)
    batch.refresh_from_db()
    assert (batch.status, batch.answered, batch.finished_at) == (BatchStatus.RUNNING, 60, None)
    send_all()
    assert statuses(batch)[0] == "queued"
    assert work(batch).status == BatchStatus.FINISHED


SAME = b"id,text\n" + b"".join(f"{at},text {at % 3}\n".encode() for at in range(9))


def test_a_ticked_copy_is_asked_itself(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(SAME, ask_once=True))
    assert (batch.answered, Attempt.objects.get().items) == (9, 3)
    asking_again.ask_again(batch, chosen=[6], by=None)
    batch = work(batch)
    assert sent_again(batch) == [6]
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 9)
    all_is_well(batch)


def test_copies_of_a_reason_get_the_new_answer_of_their_first_row(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [0], "times": 0})
    batch = work(start(SAME, ask_once=True))
    sandbox.script()
    assert batch.failed == 3
    part = batch.parts.get()
    first = next(one for one in part_answers.read_answers(part) if one and one.status == "failed")
    chosen = Selection(reason=reason_of("failed", first.error).key)
    assert asking_again.ask_again(batch, chosen=chosen, by=None) == AskAgain(3, 0)
    batch = work(batch)
    assert (batch.answered, len(sent_again(batch))) == (9, 1)
    all_is_well(batch)


def test_two_people_who_ask_the_same_again_send_it_once(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(60)))
    first = asking_again.ask_again(batch, chosen=[3], by=None)
    second = asking_again.ask_again(batch, chosen=[3], by=None)
    assert (first.rows, second.rows) == (1, 0)
    work(batch)
    assert sent_again(batch) == [3]


def test_a_new_version_of_the_answers_forgets_nothing_that_is_still_asked(team: Team) -> None:
    """Part of a reply is stored, and the rows without an answer go on being asked."""
    batch = made(team, [yes("a"), yes("b"), no(), no("failed", "other")])
    asking_again.ask_again(batch, chosen=[1, 2, 3], by=None)
    part = parts_of(batch)[0]
    new = part_answers.merge(part, {0: yes("c")}, missing=lambda _: None)
    Part.objects.filter(pk=part.pk).update(**new.store())
    part.refresh_from_db()
    assert part_answers.open_positions(part) == [1, 2]
    assert [one and one.status for one in part_answers.read_answers(part)] == [
        "answered",
        "answered",
        None,
        "failed",
    ]
