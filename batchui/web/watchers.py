"""People who watch a page: their polls are answered without loading again who they are.

Session, account, team and connections cost far more than what a poll asks. So whom a view of a poll
has let through is remembered, by the session, with all that it looked at; and at each of the next
polls one query asks whether all of that is still as it was. It is not remembered that somebody may
see something: whoever is removed, signs out or changes the password is found out at the next poll,
and goes the whole way, which says what has changed.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from batchui.teams.models import Membership, Role, User
from batchui.web.idle import signed_out_at
from batchui.web.members import MemberRequest

# After this time they go the whole way once, which also renews their cookies.
LONGEST_SECONDS = 300.0
MOST = 10_000
_STILL = (
    f"SELECT 1 FROM {Session._meta.db_table} s, {User._meta.db_table} u, "  # noqa: S608
    f"{Membership._meta.db_table} m "
    "WHERE s.session_key = %s AND s.expire_date > %s "
    "AND u.id = %s AND u.password = %s AND u.is_active "
    "AND m.user_id = u.id AND m.team_id = %s AND m.role = %s"
)


@dataclass(frozen=True)
class Watcher:
    """Somebody whom a view let through, with what it looked at.

    until: when that has to be looked at again (`time.time`).
    """

    session: str
    user_id: int
    password: str
    team_id: int
    role: str
    until: float

    @property
    def is_admin(self) -> bool:
        """Whether it is an administrator of the team."""
        return self.role == Role.ADMIN


_known: OrderedDict[str, Watcher] = OrderedDict()


def remember(request: MemberRequest) -> None:
    """Keep who asks. Only for requests that were let through."""
    session = request.session.session_key
    if session is None:
        return
    membership = request.membership
    until = min(time.time() + LONGEST_SECONDS, signed_out_at(request))
    user, role = request.user, membership.role
    # As the newest. Another thread may forget the session between any two steps.
    _known.pop(session, None)
    _known[session] = Watcher(session, user.pk, user.password, membership.team_id, role, until)
    while len(_known) > MOST:
        _known.popitem(last=False)


def of(request: HttpRequest) -> Watcher | None:
    """Who asks, if it is remembered and still so; None: the whole way has to say. One query."""
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    watcher = _known.get(session)
    if watcher is None:
        return None
    if time.time() >= watcher.until or not _is_still_so(watcher):
        _known.pop(session, None)
        return None
    return watcher


def _is_still_so(watcher: Watcher) -> bool:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    looked_at = (watcher.user_id, watcher.password, watcher.team_id, watcher.role)
    with connection.cursor() as cursor:
        cursor.execute(_STILL, [watcher.session, now, *looked_at])
        return cursor.fetchone() is not None
