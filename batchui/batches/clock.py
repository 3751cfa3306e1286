"""Times that are over, also after a clock was set back."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

# Longer than any lease: of a part, and of a file that is read.
LONGEST_LEASE = timedelta(minutes=10)
# Longer than the pause before a part is sent again, or polled again.
LONGEST_PAUSE = timedelta(hours=2)
# Longer than any wait that Cloudflare asks for, and than until midnight.
LONGEST_WAIT = timedelta(hours=25)


def is_over(field: str, *, most: timedelta, now: datetime | None = None) -> Q:
    """Whether the time in `field` is over, now or at the moment `now`.

    One that is further off than `most` was written before the clock was set back. It is over, too;
    else parts would lie until the clock has caught up.
    """
    now = now or timezone.now()
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": now + most})


def is_free(field: str = "lease_until") -> Q:
    """Whether nobody has a lease."""
    return Q(**{field: None}) | is_over(field, most=LONGEST_LEASE)
