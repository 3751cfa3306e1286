"""How everything comes to rest when the faults have ended: within ten quiet minutes (invariant 7).

The ten minutes begin when the last fault has ended and people have decided what waited for them. A
hold may last longer, until midnight or for as long as `Retry-After` says: Cloudflare asked for it,
or a person has to correct something. So somebody presses Try now first.
"""

from collections.abc import Callable

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES
from batchui.chaos import verdict
from batchui.chaos.figures import Figures

# Minutes that pass at once before each turn of work: first all leases end. A turn itself takes up
# to one more minute, so that these are ten.
PASSING = (6, 0, 0, 0)
MINUTES_OF_A_TURN = 1
# Each time people decide, and then all must come to rest.
MOST_ROUNDS = 100


def try_everything_now() -> None:
    """End every hold, as people do who press Try now. No worker lives meanwhile."""
    for batch in Batch.objects.filter(status__in=ACTIVE_BATCHES, deleted_at=None):
        decisions.try_now(batch, by=None)


def come_to_rest(
    figures: Figures, *, decide: Callable[[], None], work: Callable[[float], None]
) -> None:
    """Let people decide and workers work until all is closed.

    Ends early where something goes on for more than ten minutes that waits for nobody. It is open
    then, and `verdict.give` counts it as stuck. decide: answers what waits for people. work: lets
    so many minutes pass, then works until all is quiet, or for a minute.
    """
    for _ in range(MOST_ROUNDS):
        decide()
        minutes = 0.0
        for passing in PASSING:
            if verdict.is_quiet():
                break
            work(passing)
            minutes += passing + MINUTES_OF_A_TURN
        figures.minutes_to_rest = max(figures.minutes_to_rest, minutes)
        if not verdict.is_quiet() or not verdict.waiting_for_people():
            return
