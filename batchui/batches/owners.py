"""Whose a batch is: who may change a draft, and who may delete a batch.

What was made at the terminal is nobody's, and so it is everybody's.
"""

from collections.abc import Iterable

from django.db.models import Q

from batchui.batches.models import Batch
from batchui.batches.states import EDITABLE, BatchStatus
from batchui.teams.models import Membership, Role, User

# A draft, also while its rows are put into parts.
UNSTARTED = (*EDITABLE, BatchStatus.PREPARING)


def own_drafts(person: User) -> Q:
    """For queries of batches: the drafts that a person may change."""
    return Q(created_by=person) | Q(created_by=None)


def may_edit(batch: Batch, by: User | None) -> bool:
    """Whether somebody may change a batch's question and file. None is the terminal.

    A draft is its author's; a started batch has no question to change.
    """
    is_own = by is None or batch.created_by_id in (None, by.pk)
    return is_own or batch.status not in UNSTARTED


def is_author(batch: Batch, person: User) -> bool:
    """Whether somebody uploaded or started a batch, or nobody did but the terminal."""
    return is_among((batch.created_by_id, batch.started_by_id), person.pk)


def is_among(authors: Iterable[int | None], person: int) -> bool:
    """Whether somebody is one of the authors of a batch, or it has none. All are ids."""
    known = {author for author in authors if author is not None}
    return not known or person in known


def may_delete(batch: Batch, by: User | None) -> bool:
    """Whether somebody may delete a batch, and bring it back: its author, or an administrator."""
    if by is None or is_author(batch, by):
        return True
    return Membership.objects.filter(user=by, team=batch.team_id, role=Role.ADMIN).exists()
