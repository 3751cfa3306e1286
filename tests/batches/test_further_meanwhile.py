"""A further question whose first batch is deleted or retried before its answers are read."""

import pytest

from batchui.batches import checking, decisions, deleting, further, intake, long_tasks, progress
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.problems import BadInput
from tests.batches.conftest import MakeBatch, rows
from tests.batches.test_further import answered

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("when", ["before", "meanwhile", "for good"])
def test_a_first_batch_that_was_deleted_leaves_a_sentence(
    start: MakeBatch, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    first = answered(start(rows(2)), [b'"one"', b'"two"'])
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    draft = intake.ask_further(first, by=None)
    if when == "meanwhile":
        draft = Batch.objects.select_related("asked_after").get(pk=draft.pk)
        assert deleting.delete(first, by=None)
        with pytest.raises(BadInput, match="was deleted before its answers were read"):
            further.make_file(draft, progress=progress.untold)
    elif when == "for good":
        first.delete()
    else:
        assert deleting.delete(first, by=None)
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    assert draft.is_unusable
    assert draft.problem.startswith("The batch that this one asks further about was deleted")


@pytest.fixture
def some_failed(start: MakeBatch) -> Batch:
    """A batch that has ended, with one answer and one row that failed."""
    first = answered(start(rows(2)), [b'"one"', None])
    Batch.objects.update(failed=1)
    first.parts.update(answered=1, failed=1)
    first.refresh_from_db()
    return first


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_first_batch_that_is_retried_leaves_a_sentence(
    some_failed: Batch, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    draft = intake.ask_further(some_failed, by=None)
    if when == "meanwhile":
        draft = Batch.objects.select_related("asked_after").get(pk=draft.pk)
        assert decisions.retry(some_failed, by=None)
        with pytest.raises(BadInput, match="was retried before its answers were read"):
            further.make_file(draft, progress=progress.untold)
        return
    assert decisions.retry(some_failed, by=None)
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    assert draft.is_unusable
    assert draft.problem.startswith("The batch that this one asks further about was retried")


def test_who_presses_while_a_colleague_retries_makes_no_draft(some_failed: Batch) -> None:
    seen = Batch.objects.get()
    assert decisions.retry(some_failed, by=None)
    assert seen.status == BatchStatus.PROBLEMS
    with pytest.raises(BadInput, match="has ended with at least one answer"):
        intake.ask_further(seen, by=None)
    assert Batch.objects.count() == 1
