"""Stored files of a part that are away, or damaged, when its answers come: nothing is lost.

Each story goes over the wire, to the sandbox.
"""

import json
from pathlib import Path

import pytest

from batchui.batches import decisions
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Batch
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, accepted, polled, posts

pytestmark = pytest.mark.django_db


def is_finished_with_one_post(batch: Batch, sandbox: RunningSandbox) -> bool:
    """Whether its answers came after another poll, without another request."""
    polled(batch)
    batch.refresh_from_db()
    return (batch.status, batch.answered, posts(sandbox)) == (BatchStatus.FINISHED, 10, 1)


def test_a_file_that_is_away_for_a_moment_asks_nobody(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = accepted(start, reference_column="id")
    aside = files_in.rename(files_in.with_name("aside"))
    for _ in range(2):
        part = polled(batch)
        assert part.status == PartStatus.QUEUED
        assert "is not there any more. batchui asks again." in part.message
    aside.rename(files_in)
    assert is_finished_with_one_post(batch, sandbox)


def test_a_file_that_stays_damaged_asks_a_person_and_its_answers_are_kept(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = accepted(start, reference_column="id")
    stored = files_in / batch.parts.get().rows_file
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-7])
    part = polled(batch, 3)
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.DAMAGED)
    assert part.rows_file in part.message
    attempt = part.attempts.get()
    assert attempt.status == AttemptStatus.ACCEPTED
    kept = json.loads(b"".join(read_compressed(attempt.reply_file)))
    assert len(kept["result"]["responses"]) == 10
    stored.write_bytes(whole)
    assert decisions.try_again(part, by=None)
    assert is_finished_with_one_post(batch, sandbox)
