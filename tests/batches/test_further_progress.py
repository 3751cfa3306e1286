"""How far the file of a further question is: told, so that a worker keeps its lease."""

import pytest

from batchui.batches import further, intake, long_tasks, progress
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from tests.batches.books import reviews
from tests.batches.conftest import MakeBatch, rows

pytestmark = pytest.mark.django_db

OBJECTS = b'{"text": "x"}\n' * 5


@pytest.fixture(autouse=True)
def told_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TOLD_ROWS", 2)
    monkeypatch.setattr("batchui.exports.workbook.writer.PROGRESS_ROWS", 2)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)


def told(first: Batch) -> list[int]:
    """What is told while the file of a further question about this batch is made."""
    Batch.objects.filter(pk=first.pk).update(status=BatchStatus.PROBLEMS, answered=1)
    first.refresh_from_db()
    draft = intake.ask_further(first, by=None)
    found: list[int] = []
    further.make_file(draft, progress=found.append)
    return found


def test_rows_are_counted_once_the_source_is_written(start: MakeBatch) -> None:
    assert told(start(rows(5))) == [0, 2, 4]
    assert told(start(OBJECTS, "things.jsonl")) == [2, 4]


def test_the_workbook_is_written_before_the_first_row_counts(start: MakeBatch) -> None:
    batch = start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True)
    assert told(batch) == [0, 0, 2]
