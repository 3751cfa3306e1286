"""Finds a batch by what a person at the terminal calls it."""

import re
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.prompts.problems import BadInput, joined, quoted
from batchui.teams.models import Team

# Of an id, to tell a few batches apart.
SHOWN_SIGNS = 8
MOST_FOUND = 20
_id_digits = re.compile(r"[0-9a-f]{1,32}")


def find_batch(team: Team, called: str) -> Batch:
    """The team's batch with this name, this address, or an id that begins so.

    Raises BadInput if there is none, or more than one.
    """
    wanted = Q(name=called)
    digits = called.rstrip("/").rpartition("/")[2].replace("-", "").lower()
    if _id_digits.fullmatch(digits):
        first, last = (UUID(digits.ljust(32, sign)) for sign in "0f")
        wanted |= Q(pk__gte=first, pk__lte=last)
    found = list(Batch.objects.of_team(team).filter(wanted)[:MOST_FOUND])
    if not found:
        raise BadInput(
            f"There is no batch {quoted(called)}. Write its name as the Batches page shows it, or "
            "the address of its page."
        )
    if len(found) > 1:
        names = joined([_named(batch) for batch in found])
        raise BadInput(
            f"Several batches can be meant by {quoted(called)}: {names}. Write the beginning of "
            "the id of one of them."
        )
    return found[0]


def _named(batch: Batch) -> str:
    day = timezone.localtime(batch.created_at).date()
    return f"{str(batch.pk)[:SHOWN_SIGNS]} ({quoted(batch.name)}, {day.isoformat()})"
