"""Every column that points to a file is known to all that removes, checks and copies files."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import FileField

from batchui.batches import pointers
from batchui.batches.models import Attempt, Batch
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, rows, work

pytestmark = pytest.mark.django_db


def test_every_column_of_a_file_is_listed() -> None:
    found = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if re.fullmatch(r"(\w+_)?file", field.name) or isinstance(field, FileField)
    }
    listed = {(model, column) for model, columns in pointers.COLUMNS.items() for column in columns}
    assert found == listed


def test_a_batch_points_to_every_file_that_it_has(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch, other = work(start(rows(60))), start(rows(5))
    there = {str(path.relative_to(files_in)) for path in files_in.rglob("*") if path.is_file()}
    assert set(pointers.files_of_batch(batch.pk)) == {
        name for name in there if str(batch.pk) in name
    }
    names = list(pointers.files_of_batch(other.pk))
    assert sorted(names) == sorted(name for name in there if str(other.pk) in name)
    # The upload, and the rows of the draft and of the part; nothing for what is not there yet.
    assert len(names) == 3


def test_each_points_to_its_own_files(sandbox: RunningSandbox, batch: Batch) -> None:
    part = batch.parts.get(number=2)
    assert pointers.files_of(batch) == [batch.source_file, batch.draft_rows_file]
    assert pointers.files_of(part) == [part.rows_file]
    work(batch)
    part.refresh_from_db()
    assert pointers.files_of(part) == [part.rows_file, part.answers_file]
    attempt = Attempt.objects.get(part=part)
    assert pointers.files_of(attempt) == [attempt.reply_file]
