"""Leads a second click on a button that makes a draft to the draft of the first one."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from batchui.batches import settling
from batchui.batches.models import Batch
from batchui.batches.states import EDITABLE
from batchui.teams.models import User

# A slow server answers no sooner. Who comes back later wants another draft.
TWICE_WITHIN = timedelta(seconds=10)


def made_before(batch: Batch, *, by: User | None, **same: Any) -> Batch | None:
    """The draft that a person made of a batch a moment ago, and that nobody has changed.

    same: the fields by which such a draft is known. The caller is in a transaction: it asks in the
    one in which it makes the draft, too. Whoever presses at the same moment waits for its end, as
    the batch is locked.
    """
    made_after = timezone.now() - TWICE_WITHIN
    if ended_at := settling.lock(batch.pk).finished_at:
        made_after = max(made_after, ended_at)  # a retry may have changed the answers
    drafts = Batch.objects.of_team(batch.team).filter(
        created_by=by, created_at__gt=made_after, status__in=EDITABLE, **same
    )
    return drafts.exclude(pk=batch.pk).first()
