"""What people download: every row of the file, whatever became of it."""

import json
from pathlib import Path

import pytest

from batchui.batches import exporting, making
from batchui.batches.exporting import Choice
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, rows, work

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


def test_a_download_tells_after_every_thousand_rows_how_far_it_is(
    start: MakeBatch, tmp_path: Path
) -> None:
    batch = start(rows(2_001))
    for kind in ("csv", "csv-plain", "json", "jsonl"):
        told: list[int] = []
        making.write(batch, kind, Choice(only="answered"), tmp_path / kind, told.append)
        assert told == [1_000, 2_000], kind
