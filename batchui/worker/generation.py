"""How far this database has come, also written down beside the files.

A number in the database is raised before anything is sent, and then written down beside the files.
Where the number beside the files is higher, the database is older than they are: somebody put a
copy of it back, or a server with an older copy took over. What it takes for unsent may have been
sent, so people are asked (`restored.py`).

The number is raised once for the few parts that a tick sends together. A copy that is made between
the two is told once the number has been raised again: within a minute (`tasks.tidy`).

A disk that is put back as a whole takes the number beside the files with it. Nothing in it can tell
then; the person who runs batchui says so (`note_restored`).
"""

import logging

from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from batchui.batches.models import Part
from batchui.batches.phrases import parts_phrase
from batchui.batches.states import PartStatus
from batchui.worker import restored
from batchui.worker.installation_mark import Mark, own_mark, write_mark
from batchui.worker.models import Installation

logger = logging.getLogger(__name__)

OLDER = "It is older than the files beside it."
MACHINE_PUT_BACK = "The whole machine was put back."


def keep_up() -> int:
    """Raise the number. First let people decide, if this database turns out to be a copy.

    Returns the number of parts about which they are asked. Raises AnotherDatabase.
    """
    # The mark is read first: another worker may raise both numbers in between.
    mark, installation = own_mark(), Installation.here()
    known = mark.generation if mark else 0
    reason = installation.restored_from or (OLDER if known > installation.generation else "")
    raised = {"generation": Greatest(F("generation"), Value(known)) + 1}
    if reason:
        asked = restored.let_people_decide(reason)
        logger.warning("This database is a copy. %s %s", reason, in_words(asked))
        Installation.objects.update(**raised, restored_from="", restored_at=timezone.now())
    else:
        asked = 0
        Installation.objects.update(**raised)
    installation = Installation.here()
    write_mark(Mark(installation.database_id, installation.generation))
    return asked


def note_restored(reason: str) -> int:
    """Note that this database is a copy. Returns the number of parts that people must decide.

    Raises AnotherDatabase; nothing is noted then.
    """
    own_mark()
    Installation.here()
    Installation.objects.update(restored_from=reason)
    return keep_up()


def in_words(asked: int) -> str:
    """The sentence about `asked` parts that people must decide; 0: about earlier ones."""
    if not asked:
        return _earlier_ones()
    waits, sent = ("It waits", "is") if asked == 1 else ("They wait", "are")
    return (
        f"{parts_phrase(asked)} may have been sent since. {waits} for a decision on the page "
        f"“Batches”, and {sent} not sent before."
    )


def _earlier_ones() -> str:
    undecided = Part.objects.filter(status=PartStatus.UNSURE, batch__deleted_at=None).count()
    if not undecided:
        return "No part waits to be sent, so nothing has to be decided."
    wait = "waits" if undecided == 1 else "wait"
    return (
        f"No other part waits to be sent. {parts_phrase(undecided)} {wait} for a decision on the "
        "page “Batches” already."
    )
