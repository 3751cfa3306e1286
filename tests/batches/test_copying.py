"""Rows that ask the same are asked once, and all get that answer."""

import json
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import copying, decisions, exporting, files
from batchui.batches.compressed import Compressed, DamagedFile
from batchui.batches.models import WAITS_FOR_COPIES, Attempt, Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, work

pytestmark = pytest.mark.django_db

# 90 rows in four parts: 30 different texts, each three times, and one blank.
TEXTS = [f"text {number % 30}" for number in range(90)]
CONTENT = b"id,text\n" + b"".join(
    f"{number},{text}\n".encode() for number, text in enumerate(TEXTS)
)


def sent(batch: Batch) -> int:
    return sum(Attempt.objects.filter(part__batch=batch).values_list("items", flat=True))


def rows_of(batch: Batch) -> list[dict[str, object]]:
    return [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]


def test_every_question_is_sent_once_and_every_row_has_its_answer(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(CONTENT, ask_once=True))
    assert (batch.status, batch.answered, sent(batch)) == (BatchStatus.FINISHED, 90, 30)
    rows = rows_of(batch)
    for row, text in zip(rows, TEXTS, strict=True):
        assert str(row["answer"]).endswith(f": {text}")
    assert [row["error"] for row in rows[:30]] == [None] * 30
    assert rows[30]["error"] == "Asked once, with row 2."
    said = batch.events.get(kind="done", part_number=4).text
    assert said == "Part 4: 15 rows got the answers to the same questions, asked once."
    assert Counter(str(row["answer"]) for row in rows).most_common(1)[0][1] == 3


def test_without_the_choice_every_row_is_sent(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(CONTENT))
    assert (batch.answered, sent(batch)) == (90, 90)
    assert not any(part.copies_file for part in batch.parts.all())


def test_rows_that_copy_wait_until_the_first_one_has_its_answer(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "status": 503, "call": "poll", "times": 0})
    batch = work(start(CONTENT, ask_once=True))
    last = batch.parts.order_by("number").last()
    assert last is not None
    assert (last.status, last.message) == (PartStatus.HELD, WAITS_FOR_COPIES)
    assert last.resume_at is not None
    assert batch.status in (BatchStatus.QUEUED, BatchStatus.RUNNING)
    sandbox.script()
    batch = work(batch)
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 90)


def test_a_copy_fails_with_its_first_row_and_is_answered_by_its_retry(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    batch = work(start(CONTENT, ask_once=True))
    assert (batch.answered, batch.failed) == (87, 3)
    failed = [row for row in rows_of(batch) if row["status"] == "failed"]
    assert [row["row"] for row in failed] == [2, 32, 62]
    assert str(failed[1]["error"]).startswith("Asked once, with row 2: ")
    sandbox.script()
    assert decisions.retry(batch, by=None)
    batch = work(batch)
    assert (batch.answered, batch.failed, sent(batch)) == (90, 0, 31)


def test_stop_leaves_no_copy_without_a_fate(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = start(CONTENT, ask_once=True)
    assert decisions.stop(batch, by=None)
    batch = work(batch)
    assert (batch.status, batch.unsent) == (BatchStatus.STOPPED, 90)
    assert decisions.retry(batch, by=None)
    batch = work(batch)
    assert (batch.answered, sent(batch)) == (90, 30)


def test_rows_that_cannot_be_asked_are_no_copies(sandbox: RunningSandbox, start: MakeBatch) -> None:
    content = b"id,text\n1,\n2,same\n3,\n4,same\n"
    batch = work(start(content, ask_once=True))
    assert (batch.answered, batch.skipped, sent(batch)) == (2, 2, 1)
    assert rows_of(batch)[3]["error"] == "Asked once, with row 3."


def test_ready_made_items_are_the_same_whatever_their_reference(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    lines = b"".join(
        b'{"prompt": "one", "external_reference": "r%d"}\n{"external_reference": "s%d", "prompt": '
        b'"two"}\n' % (number, number)
        for number in range(3)
    )
    batch = work(start(lines, "items.jsonl", ask_once=True, as_items=True, template=""))
    assert (batch.answered, sent(batch)) == (6, 2)


def test_a_damaged_list_of_copies_is_said(start: MakeBatch) -> None:
    part = start(CONTENT, ask_once=True).parts.get(number=2)
    copies = copying.copies_of(part)
    assert copies[5] == 2
    files.default_storage.delete(part.copies_file)
    with pytest.raises(DamagedFile, match="is not there any more"):
        copying.copies_of(part)
    Compressed.of_lines([b"[2,0]", b"[5,2]"]).store(part.copies_file)
    with pytest.raises(DamagedFile, match="is damaged"):
        copying.copies_of(part)


def test_answers_are_read_of_no_more_parts_than_are_needed(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    texts = [*range(100), 0, 60]  # so the fifth part needs the first and the third
    content = b"text\n" + b"".join(b"text %d\n" % number for number in texts)
    parts = list(work(start(content, ask_once=True)).parts.order_by("number"))
    parts[4].answers_file = ""  # as before its rows got them
    for not_needed in (parts[1], parts[3]):
        files.default_storage.delete(not_needed.answers_file)
    found = copying.copied(parts[4])
    assert found is not None
    assert (found.copied, found.missing) == (2, 0)
    files.default_storage.delete(parts[2].answers_file)
    assert copying.copied(parts[0]) is None
    with pytest.raises(DamagedFile, match="is not there any more"):
        copying.copied(parts[4])


@pytest.mark.parametrize(
    ("seconds", "parts", "pause"),
    [(0.001, 3, 5), (0.8, 200, 1_600), (0.01, 100, 10), (2.0, 1_000, 3_600)],
)
def test_the_parts_of_a_batch_look_for_a_tenth_of_the_time(
    seconds: float, parts: int, pause: int
) -> None:
    assert copying.pause_after(seconds, parts=parts) == timedelta(seconds=pause)


def test_copies_have_their_fate_as_soon_as_a_person_leaves_the_last_part_out(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit", "times": 0})
    batch = work(start(CONTENT, ask_once=True))
    last = batch.parts.order_by("number").last()
    assert last is not None
    assert last.waits_for_copies
    Part.objects.filter(pk=last.pk).update(resume_at=timezone.now() + timedelta(hours=1))
    for part in batch.parts.filter(status=PartStatus.UNSURE):
        decisions.leave_out(part, by=None)
    last.refresh_from_db()
    assert last.status == PartStatus.READY
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    batch = work(batch)
    assert (batch.status, batch.missing) == (BatchStatus.FAILED, 90)
