"""The texts by which the search of the history finds batches, in a narrow table of their own.

A hundred thousand of them are looked through in a few hundredths of a second; the rows of Batch are
too wide for that. Capitals do not count in any alphabet, whatever the database makes of them.
"""

from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Substr

# In characters: of a question.
LONGEST_QUESTION = 2000
# The fields of a batch that the text is made of.
SEARCHED = frozenset({"name", "source_name", "template"})

Found = TypeVar("Found", bound=models.Model)


class SearchText(models.Model):
    """The name of a batch, that of its file, and its question, folded (see `folded`)."""

    batch = models.OneToOneField(
        "batches.Batch", on_delete=models.CASCADE, related_name="search_text"
    )
    # The lines are as old as their batches: a walk along the index meets the newest first.
    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="+")
    text = models.TextField()

    objects = models.Manager["SearchText"]()

    def __str__(self) -> str:
        return f"search text of {self.batch_id}"


def folded(text: str) -> str:
    """The text as it is compared: capitals and the kind of blanks do not count."""
    return " ".join(text.replace("\0", "").casefold().split())


class SearchedQuerySet(models.QuerySet[Found]):
    """Keeps the search texts of the batches that it changes."""

    def update(self, **changes: Any) -> int:
        """As in Django."""
        if not changes.keys() & SEARCHED:
            return super().update(**changes)
        with transaction.atomic(using=self.db):
            changed = list(self.values_list("pk", flat=True))
            number = super().update(**changes)
            _keep(self.model, changed)
        return number

    def bulk_create(self, objs: Iterable[Found], *args: Any, **kwargs: Any) -> list[Found]:
        """As in Django."""
        made = super().bulk_create(objs, *args, **kwargs)
        _keep(self.model, [batch.pk for batch in made])
        return made


class Searched(models.Model):
    """A batch, which keeps its search text when it is saved."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """As in Django."""
        super().save(*args, **kwargs)
        fields = kwargs.get("update_fields")
        if fields is None or SEARCHED & set(fields):
            _keep(type(self), [self.pk])


def _keep(batches: type[models.Model], changed: list[UUID]) -> None:
    """Store the texts that these batches have now."""
    texts = ("name", "source_name", Substr("template", 1, LONGEST_QUESTION))
    found = batches._default_manager.filter(pk__in=changed).values_list("pk", "team", *texts)
    SearchText.objects.bulk_create(
        [
            SearchText(batch_id=pk, team_id=team, text=folded("\n".join(parts)))
            for pk, team, *parts in found
        ],
        update_conflicts=True,
        unique_fields=["batch"],
        update_fields=["text"],
    )
