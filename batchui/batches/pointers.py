"""Which stored files the database points to.

What removes files, looks for them or copies them goes by this. A column that points to a file
belongs into COLUMNS, or its files are removed as nobody's.
"""

from collections.abc import Iterator, Mapping

from django.db.models import Model

from batchui.batches.models import Attempt, Batch, Export, Part

COLUMNS: Mapping[type[Model], tuple[str, ...]] = {
    Batch: ("source_file", "converted_file", "draft_rows_file", "problems_file", "pictures_file"),
    Part: ("rows_file", "copies_file", "pictures_file", "answers_file"),
    Attempt: ("reply_file",),
    Export: ("file",),
}
# The batch of each.
_BATCH: Mapping[type[Model], str] = {
    Batch: "pk",
    Part: "batch",
    Attempt: "part__batch",
    Export: "batch",
}


def files_of(one: Batch | Part | Attempt | Export) -> list[str]:
    """The names of the files to which this one itself points."""
    return [name for column in COLUMNS[type(one)] if (name := getattr(one, column))]


def files_of_batch(batch_id: object) -> Iterator[str]:
    """The names of all files of a batch to which the database points now."""
    for model, columns in COLUMNS.items():
        of_batch = model._default_manager.filter(**{_BATCH[model]: batch_id}).order_by()
        for names in of_batch.values_list(*columns):
            yield from filter(None, names)
