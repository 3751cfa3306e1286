"""Times that are over, also after a clock was set back."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from batchui.batches.prepared import Given

# Longer than any lease (of a part, of a file that is read), and than clocks of hosts may differ: a
# lease that is wrongly taken for over may be paid for twice.
LONGEST_LEASE = timedelta(hours=1)
# Longer than any pause before a part is sent again, or polled again.
LONGEST_PAUSE = timedelta(hours=2)
# No wait that Cloudflare asks for is longer, and none until midnight. A longer one would hide a
# clock that was set back by a day.
LONGEST_WAIT = timedelta(hours=24)
# After so many steps every pause that grows has its longest value. Larger powers would overflow.
MOST_STEPS = 40


def is_over(field: str, *, most: timedelta, now: datetime | Given | None = None) -> Q:
    """Whether the time in `field` is over, now or at the moment `now`. An empty field is not.

    most: how far off such a time can be when it is written. One that is further off was written
    before the clock was set back. It is over, too; else parts would lie until the clock has caught
    up.
    """
    now = now or timezone.now()
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": now + most})


def is_free(field: str = "lease_until", *, now: datetime | Given | None = None) -> Q:
    """Whether nobody has a lease."""
    return Q(**{field: None}) | is_over(field, most=LONGEST_LEASE, now=now)
