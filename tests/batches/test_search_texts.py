"""What the search of the history looks through: kept as it should be, and only when it changes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from batchui.batches.models import Batch
from batchui.batches.search_models import SearchText

pytestmark = pytest.mark.django_db


def kept(batch: Batch) -> str:
    return SearchText.objects.get(batch=batch).text


def test_it_is_the_name_the_file_and_the_question(batch: Batch) -> None:
    batch.name, batch.source_name, batch.template = "Über  uns", "Rooms.csv", "Rate:\n{{text}}"
    batch.save()
    assert kept(batch) == "über uns rooms.csv rate: {{text}}"


@pytest.mark.parametrize(("field", "writes"), [("name", True), ("epoch", False)])
def test_what_is_not_in_it_does_not_write_it_again(batch: Batch, field: str, writes: bool) -> None:
    with CaptureQueriesContext(connection) as asked:
        batch.save(update_fields=[field])
    assert any("batches_searchtext" in one["sql"] for one in asked) is writes
