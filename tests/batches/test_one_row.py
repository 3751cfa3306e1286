"""One row of a batch, with the requests it was in and its raw reply."""

import json
from pathlib import Path
from typing import Any

import pytest

from batchui.batches import decisions, files, one_row
from batchui.batches.models import Batch, Part
from batchui.batches.one_row import OneRow, ReplyUnread
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import (
    CHAT_COMPLETIONS,
    MakeBatch,
    attempt_on_record,
    on_record,
    rows,
    work,
)

pytestmark = pytest.mark.django_db


def row_of(batch: Batch, number: int) -> OneRow:
    found = one_row.find(batch, number)
    assert found is not None
    return found


def test_a_row_is_found_by_the_number_that_her_spreadsheet_shows(batch: Batch) -> None:
    found = {number: one_row.find(batch, number) for number in (2, 26, 27, 61)}
    assert {number: row and row.result.cells for number, row in found.items()} == {
        2: ["1", "text number 1"],
        26: ["25", "text number 25"],
        27: ["26", "text number 26"],
        61: ["60", "text number 60"],
    }
    assert row_of(batch, 26).part.number == 1
    assert (row_of(batch, 27).part.number, row_of(batch, 27).position) == (2, 0)


@pytest.mark.parametrize("number", [0, 1, 62, 10**9])
def test_a_row_that_is_not_there_is_none(batch: Batch, number: int) -> None:
    assert one_row.find(batch, number) is None


def test_some_rows_are_read_and_no_others(batch: Batch) -> None:
    part = batch.parts.get(number=2)
    found = one_row.some_rows(part, [0, 3, 24])
    assert [result.row for result in found] == [27, 30, 51]
    assert one_row.some_rows(part, []) == []


def test_a_row_whose_file_is_damaged_is_found_all_the_same(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = work(start(rows(10)))
    part = batch.parts.get()
    (files_in / part.answers_file).unlink()
    row = row_of(batch, 4)
    assert row.result.cells == ["3", "text number 3"]
    assert row.result.status == "missing"
    assert "not there any more" in (row.result.error or "")
    (files_in / part.rows_file).unlink()
    assert row_of(batch, 4).result.cells is None


def test_it_takes_one_query_however_many_parts(
    team: Team, batch: Batch, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        one_row.find(batch, 30)


def test_a_row_of_another_batch_is_not_found(batch: Batch, team: Team) -> None:
    other = on_record(team)  # rows 1 to 10
    assert one_row.find(batch, 1) is None
    assert one_row.find(other, 40) is None


def test_the_request_that_answered_is_the_last_one_that_the_row_was_in(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3], "times": 1})
    batch = work(start(rows(10)))
    assert batch.failed == 1
    assert decisions.retry(batch, by=None)
    work(batch)
    tries = {n: [one.number for one in one_row.tries(row_of(batch, n))] for n in (2, 5)}
    assert tries == {2: [1], 5: [1, 2]}
    answered = {n: one_row.answered_by(one_row.tries(row_of(batch, n))) for n in (2, 5)}
    assert {n: one and one.number for n, one in answered.items()} == {2: 1, 5: 2}


def test_requests_that_reached_no_model_are_no_tries(team: Team) -> None:
    part = on_record(team).parts.get()
    for status in ("not sent", "busy", "written", "lost", "accepted"):
        attempt_on_record(part, status=status)
    tries = one_row.tries(OneRow(part, 0, None))  # type: ignore[arg-type]
    assert [one.status for one in tries] == ["lost", "accepted"]
    assert one_row.answered_by(tries) is None


def test_only_the_latest_requests_of_a_part_are_looked_through(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_row, "MOST_TRIES", 2)
    part = on_record(team).parts.get()
    for _ in range(4):
        attempt_on_record(part, status="lost")
    tries = one_row.tries(OneRow(part, 0, None))  # type: ignore[arg-type]
    assert [one.number for one in tries] == [3, 4]


@pytest.mark.parametrize("model", [None, CHAT_COMPLETIONS])
def test_the_raw_reply_of_a_row_is_its_own_item(
    sandbox: RunningSandbox, start: MakeBatch, model: str | None
) -> None:
    batch = work(start(rows(30), **({"model": model} if model else {})))
    for number in (2, 4, 28, 31):
        row = row_of(batch, number)
        attempt = one_row.answered_by(one_row.tries(row))
        assert attempt is not None
        item = json.loads(one_row.reply_item(attempt, row))
        assert str(item.get("id", item.get("index"))) == str(row.position)
        assert row.result.answer is not None
        assert json.loads(row.result.answer) in str(item)


def answered(sandbox: RunningSandbox, start: MakeBatch) -> OneRow:
    return row_of(work(start(rows(10))), 2)


def why(row: OneRow) -> str:
    attempt = row.part.attempts.get()
    with pytest.raises(ReplyUnread) as unread:
        one_row.reply_item(attempt, row)
    return str(unread.value)


def test_the_place_in_a_request_of_some_rows_is_found(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3, 7], "times": 1})
    batch = work(start(rows(10)))
    decisions.retry(batch, by=None)
    work(batch)
    row = row_of(batch, 9)
    attempt = one_row.answered_by(one_row.tries(row))
    assert attempt is not None
    assert attempt.positions == [3, 7]
    assert json.loads(one_row.reply_item(attempt, row))["id"] in (1, "1")
    with pytest.raises(ReplyUnread, match="no reply to this row"):
        one_row.reply_item(attempt, row_of(batch, 2))


def test_a_reply_that_is_gone_or_damaged_is_said(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    row = answered(sandbox, start)
    stored = files_in / row.part.attempts.get().reply_file
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2] + b"x" + whole[len(whole) // 2 + 1 :])
    assert "damaged" in why(row) or "nothing of its own" in why(row)
    stored.write_bytes(b"no zstd")
    assert why(row) == "The stored reply of this part is damaged."
    stored.unlink()
    assert why(row) == "The stored reply of this part is not there any more."


def test_a_reply_that_is_too_long_is_not_read_into_memory(
    sandbox: RunningSandbox, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = answered(sandbox, start)
    monkeypatch.setattr(one_row, "LONGEST_REPLY", 100)
    assert "too long" in why(row)


def test_no_reply_yet_is_said(batch: Batch) -> None:
    row = row_of(batch, 2)
    attempt = attempt_on_record(row.part)
    with pytest.raises(ReplyUnread, match="no reply"):
        one_row.reply_item(attempt, row)


def test_the_row_with_which_it_is_asked_is_named(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = start(b"id,text\n1,same\n2,same\n3,other\n", ask_once=True)
    assert {n: one_row.asked_with(row_of(batch, n)) for n in (2, 3, 4)} == {2: None, 3: 2, 4: None}
    part = Part.objects.get(batch=batch, copies_file__gt="")
    files.default_storage.delete(part.copies_file)
    assert one_row.asked_with(row_of(batch, 3)) is None
