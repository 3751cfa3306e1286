"""Planted faults of rows and answers: each is found, and named with its batch, part and row."""

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.utils import timezone

from batchui.batches import corrections, part_answers, results
from batchui.batches.answer_editing import seen_of
from batchui.batches.compressed import Compressed
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import digests
from batchui.batches.sheet_models import Digest
from batchui.doctor import ledger
from batchui.doctor.findings import Finding
from batchui.doctor.ledger import Accepted, Ledger
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import sweep
from tests.batches.conftest import MakeBatch, attempt_on_record, rows, work
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db


def test_a_part_that_is_gone_is_found(finished: Batch, find: Find) -> None:
    finished.parts.filter(number=2).delete()
    (found, *_) = find()
    assert (found.invariant, found.kind, found.batch, found.row) == (
        *(1, "rows and parts"),
        *(finished.pk, 27),
    )


def test_a_last_part_that_is_gone_is_found(finished: Batch, find: Find) -> None:
    finished.parts.filter(number=3).delete()
    assert (1, "rows and parts", None) in places(find())


def test_two_parts_with_the_same_row_are_found(finished: Batch, find: Find) -> None:
    finished.parts.filter(number=2).update(first_row=25)
    assert (1, "rows and parts", 2) in places(find())


def test_parts_that_do_not_begin_with_the_first_row_of_the_file_are_found(
    finished: Batch, find: Find
) -> None:
    finished.parts.update(first_row=F("first_row") - 1)  # as if the names were a row
    found = [(one.kind, one.part, one.row, one.what) for one in find()]
    assert found == [
        (
            *("rows and parts", 1, 2),
            "Part 1 begins with row 1 and has 25 rows; the parts before it end with row 1.",
        ),
        ("download", None, 2, "A download has row 1 in the place of row 2."),
    ]


def test_a_sum_that_is_not_that_of_the_parts_is_found(finished: Batch, find: Find) -> None:
    Batch.objects.update(answered=F("answered") - 1)
    assert places(find()) == [(1, "sum of answered", None), (1, "fates in a download", None)]


def test_a_count_that_is_not_that_of_the_file_is_found(finished: Batch, find: Find) -> None:
    finished.parts.filter(number=2).update(answered=F("answered") - 1, failed=1)
    Batch.objects.update(answered=F("answered") - 1, failed=1)
    found = places(find())
    assert (1, "count of answered", 2) in found
    assert (1, "count of failed", 2) in found
    assert (1, "fates in a download", None) in found


def test_a_row_without_a_fate_in_a_part_that_is_done_is_found(finished: Batch, find: Find) -> None:
    def one_less(part: Part) -> Iterator[Answer | None]:
        for position, answer in enumerate(part_answers.read_answers(part)):
            yield None if position == 4 else answer

    part = finished.parts.get(number=2)
    changes = part_answers.new_answers(part, one_less(part)).store()
    Part.objects.filter(pk=part.pk).update(**changes)
    Batch.objects.update(answered=F("answered") - 1)
    assert places(find()) == [(1, "rows without a fate", 2), (2, "good answer lost", 2)]


def test_a_part_with_rows_of_another_part_is_found(finished: Batch, find: Find) -> None:
    first, second, _ = finished.parts.all()
    Part.objects.filter(pk=second.pk).update(rows_file=first.rows_file, rows=first.rows)
    (found, *_) = [one for one in find() if one.kind == "cells"]
    assert (found.invariant, found.part, found.row) == (1, 2, 27)


@pytest.mark.parametrize("damage", ["lost", "cut short"])
def test_a_stored_file_that_cannot_be_read_is_found(
    finished: Batch, find: Find, files_in: Path, damage: str
) -> None:
    path = files_in / finished.parts.get(number=2).answers_file
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-40])
    found = places(find())
    assert (1, "stored file", 2) in found
    assert (1, "fates in a download", None) in found
    assert not [one for one in found if one[2] in (1, 3)]


def test_an_upload_that_is_lost_is_found(finished: Batch, find: Find, files_in: Path) -> None:
    (files_in / finished.source_file).unlink()
    assert (1, "upload", None) in places(find())


def test_a_converted_file_that_is_damaged_is_found(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, files_in: Path
) -> None:
    batch = work(start(gzip.compress(rows(3)), "texts.csv.gz"))
    (files_in / batch.converted_file).write_bytes(b"no longer compressed")
    [found] = find()
    name = batch.converted_file
    assert (found.kind, found.part) == ("upload", None)
    assert found.what == f"The upload {name} cannot be read: The stored file {name} is damaged."


def test_answers_on_the_wrong_rows_are_found(finished: Batch, find: Find) -> None:
    part = finished.parts.get(number=2)
    answers = list(part_answers.read_answers(part))
    answers[3], answers[4] = answers[4], answers[3]
    Part.objects.filter(pk=part.pk).update(**part_answers.new_answers(part, answers).store())
    (found,) = find()
    assert (found.invariant, found.part, found.row) == (2, 2, part.first_row + 3)


def test_a_reply_to_other_rows_is_found(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    batch = work(start(rows(60)))
    first, second, _ = batch.parts.all()
    # The request of the first part had other rows than the part says.
    Part.objects.filter(pk=first.pk).update(rows_file=second.rows_file)
    attempt = first.attempts.get()
    known = Accepted(
        attempt.request_id,
        batch.model,
        attempt.items,
        attempt.payload_size,
        attempt.created_at,
        ledger.sha256_of(attempt),
    )
    assert (2, "request 1", 1) in places(find(ledger=Ledger({known.request_id: known})))


def test_a_request_of_another_size_is_found(finished: Batch, find: Find) -> None:
    part = finished.parts.get(number=2)
    part.attempts.update(items=24)
    assert (2, "request 1", 2) in places(find())


def test_a_stored_reply_that_is_damaged_is_found(
    finished: Batch, find: Find, files_in: Path
) -> None:
    attempt = finished.parts.get(number=3).attempts.get()
    Compressed.of_lines([b"no reply"]).store(attempt.reply_file)
    assert places(find()) == [(2, "stored reply", 3)]


def test_replies_that_are_not_kept_any_more_are_no_fault(
    finished: Batch, find: Find, files_in: Path
) -> None:
    Attempt.objects.update(finished_at=timezone.now() - timedelta(days=4))
    sweep.sweep()
    assert not list(files_in.rglob("reply-*"))
    assert find() == []


@pytest.mark.parametrize("which", ["all rows", "some rows"])
def test_a_row_of_a_reply_that_is_gone_is_not_held_against_another_reply(
    finished: Batch, find: Find, which: str
) -> None:
    """It may be the answer of the reply that is gone; of every other row it can be told."""
    part = finished.parts.get(number=2)
    positions = None if which == "all rows" else [4]
    gone = attempt_on_record(part, status="answered", positions=positions)
    kept = list(part_answers.read_answers(part))
    put(part, kept, at=4)
    assert others(find()) == []
    put(part, kept, at=5)
    assert others(find()) == ([] if which == "all rows" else [(2, "answer", 2)])
    gone.delete()
    assert others(find()) == [(2, "answer", 2)]


def put(part: Part, kept: list[Answer | None], *, at: int) -> None:
    """Let another answer stand where the part has one."""
    kept[at] = Answer("answered", b'"another answer"')
    Part.objects.filter(pk=part.pk).update(**part_answers.new_answers(part, kept).store())


def others(findings: list[Finding]) -> list[tuple[int, str, int | None]]:
    """What was found of answers."""
    return [place for place in places(findings) if place[0] == 2]


# -- the sheet ----------------------------------------------------------------------------------


def test_a_digest_that_says_something_else_than_the_answers_is_found(
    finished: Batch, find: Find
) -> None:
    digests.of(finished)
    assert find() == []
    digest = Digest.objects.get(part__number=2)
    digest.fields[0]["rows"] += 1
    digest.save()
    assert places(find()) == [(1, "digest", 2)]
    Digest.objects.update(of_answers="of an earlier version")
    assert find() == []


@pytest.mark.parametrize("now", [None, Answer("failed", error="broken"), Answer("missing")])
def test_a_good_answer_that_went_without_another_one_is_found(
    finished: Batch, find: Find, now: Answer | None
) -> None:
    part = finished.parts.get(number=2)
    kept = list(part_answers.read_answers(part))
    changes = part_answers.new_answers(part, [*kept[:4], now, *kept[5:]]).store()
    Part.objects.filter(pk=part.pk).update(**changes)
    found = [one for one in find() if one.invariant == 2]
    assert [(one.kind, one.part, one.row) for one in found] == [("good answer lost", 2, 31)]


def test_a_correction_is_no_answer_that_went(finished: Batch, find: Find) -> None:
    number, answer = 30, next(one.answer for one in results.results(finished) if one.row == 30)
    seen = seen_of(answer, (), 0)
    assert corrections.correct(
        finished, number, at=0, written="by hand", seen=seen, by=None
    ).is_saved
    assert find() == []
