"""What is typed for a draft is saved while it is typed."""

import re

from batchui.batches import decisions
from batchui.batches.decisions import Change
from batchui.batches.models import Batch
from batchui.web.forms.ask import AskForm

# The page, and which of its changes: see `static/asking.js`.
_CHANGE = re.compile(r"([a-z0-9]{1,16}):([0-9]{1,9})")


def save_typed(batch: Batch, form: AskForm) -> bool:
    """Save what is typed. False: see `decisions.edit`."""
    found = _CHANGE.fullmatch(form.data.get("change", ""))
    change = Change(found[1], int(found[2])) if found else None
    return decisions.edit(batch, ask=form.ask_so_far(), change=change)
