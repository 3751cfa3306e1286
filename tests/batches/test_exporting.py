"""What people download: every row of the file, whatever became of it."""

import json

import pytest

from batchui.batches import exporting
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work

pytestmark = pytest.mark.django_db

UNREADABLE = "not an object"
LINES = f'{{"text": "one"}}\n{UNREADABLE}\n{{"text": "three"}}\n'.encode()


def test_a_line_that_was_no_object_is_kept_as_it_was(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(LINES, "texts.jsonl", skip_invalid=True))
    first, unreadable, third = map(json.loads, b"".join(exporting.jsonl(batch)).splitlines())
    assert (first["columns"], third["columns"]) == ({"text": "one"}, {"text": "three"})
    assert "extra_cells" not in first
    assert (unreadable["columns"], unreadable["extra_cells"]) == ({"text": ""}, [UNREADABLE])
    assert unreadable["status"] == "invalid"
    in_csv = b"".join(exporting.csv_plain(batch)).decode().splitlines()
    assert in_csv[2].endswith(UNREADABLE)
