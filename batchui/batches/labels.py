"""What people do with labels: put one beside a batch, take it away, rename, join, delete.

Every label belongs to a team, and everybody of the team may use and change it.
"""

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from batchui.batches.label_models import LONGEST_LABEL, Label
from batchui.batches.models import Batch
from batchui.batches.search_models import folded
from batchui.prompts.problems import BadInput
from batchui.teams.models import Team

# Of a batch, and of a team. More than that nobody looks through.
MOST_OF_BATCH, MOST_OF_TEAM = 12, 200
NO_NAME = "Write a word or two."
TOO_LONG = f"Use {LONGEST_LABEL} characters at most."
TOO_MANY_OF_BATCH = f"A batch can have {MOST_OF_BATCH} labels. Take one away first."
TOO_MANY_OF_TEAM = f"A team can have {MOST_OF_TEAM} labels. Delete one that nobody uses."


def of_team(team: Team) -> QuerySet[Label]:
    """The labels of a team by name, each with `used`, the number of its batches."""
    there = Q(batches__deleted_at=None)
    return Label.objects.filter(team=team).annotate(used=Count("batches", filter=there))


def add(batch: Batch, name: str) -> Label:
    """Put a label beside a batch; it is made if the team has none with this name.

    Raises BadInput.
    """
    name = tidy(name)
    with transaction.atomic():
        label = Label.objects.filter(team=batch.team_id, key=folded(name)).first()
        others = batch.labels.all() if label is None else batch.labels.exclude(pk=label.pk)
        if others.count() >= MOST_OF_BATCH:
            raise BadInput(TOO_MANY_OF_BATCH)
        if label is None:
            label = _new(batch.team, name)
        batch.labels.add(label)
    return label


def _new(team: Team, name: str) -> Label:
    if Label.objects.filter(team=team).count() >= MOST_OF_TEAM:
        raise BadInput(TOO_MANY_OF_TEAM)
    # A colleague may add the same word at the same moment.
    return Label.objects.get_or_create(team=team, key=folded(name), defaults={"name": name})[0]


def remove(batch: Batch, label: Label) -> None:
    """Take a label away from a batch. The team keeps it."""
    batch.labels.remove(label)


def rename(label: Label, name: str) -> Label:
    """Give a label another name. If another label has it, the two become one, which is returned.

    Raises BadInput.
    """
    name = tidy(name)
    with transaction.atomic():
        other = Label.objects.filter(team=label.team_id, key=folded(name)).exclude(pk=label.pk)
        if taken := other.first():
            taken.batches.add(*label.batches.only("pk"))
            label.delete()
            return taken
        label.name, label.key = name, folded(name)
        label.save(update_fields=["name", "key"])
    return label


def delete(label: Label) -> None:
    """Delete a label. Its batches stay as they are."""
    label.delete()


def tidy(name: str) -> str:
    """The name on one line. Raises BadInput for one that is blank or too long."""
    name = " ".join(name.replace("\0", "").split())
    if not name:
        raise BadInput(NO_NAME)
    if len(name) > LONGEST_LABEL:
        raise BadInput(TOO_LONG)
    return name
