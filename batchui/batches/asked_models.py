"""The columns of a batch about its question, made from the fields of `Ask`."""

from typing import Any

from django.db import models

from batchui.prompts import answer_columns, ask
from batchui.prompts.ask import Ask


class Asked(models.Model):
    """The question: a column for each field of `Ask`, made from it below.

    `ask` has them all at once.
    """

    class Meta:
        abstract = True

    @property
    def ask(self) -> Ask:
        """The question that is asked of every row."""
        fields = {name: getattr(self, name) for name in ask.NAMES}
        fields["answer_columns"] = answer_columns.from_json(fields["answer_columns"])
        return Ask(**fields)


def _column(field: ask.Field) -> "models.Field[Any, Any]":
    """The column for a field of `Ask`."""
    if field.kind is bool:
        return models.BooleanField(default=field.default)
    if field.kind is int:
        return models.PositiveIntegerField(default=field.default)
    if field.kind == float | None:
        return models.FloatField(null=True)
    if field.kind is str and field.about.most:
        return models.CharField(max_length=field.about.most, blank=True)
    if field.kind is str:
        return models.TextField(blank=True)
    return models.JSONField(default=list if field.name == "answer_columns" else dict)


for _field in ask.fields():
    Asked.add_to_class(_field.name, _column(_field))


def asked_fields(asked: Ask) -> dict[str, Any]:
    """The fields of a question, by column name."""
    fields = {name: getattr(asked, name) for name in ask.NAMES}
    return fields | {"answer_columns": answer_columns.to_json(asked.answer_columns)}
