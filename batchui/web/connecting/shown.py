"""How people see a connection: its words, and what may be done with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from batchui.batches import refused
from batchui.cloudflare.endpoints import server_of
from batchui.teams.connecting import next_default
from batchui.teams.connections import ensure_connection, open_connections
from batchui.teams.models import Connection, Membership, Role, Team
from batchui.web.connecting.kinds import Kind, kind_of


@dataclass(frozen=True)
class Shown:
    """A connection in the list. is_used: new batches go to it."""

    connection: Connection
    is_used: bool
    is_open: bool = True

    @property
    def kind(self) -> Kind | None:
        """What its kind is called; None for the sandbox."""
        return kind_of(self.connection)

    @property
    def is_fixed(self) -> bool:
        """Whether only the server's environment can change its token."""
        return self.connection.from_environment and self.is_open

    @property
    def may_change(self) -> bool:
        """Whether its token can be replaced, and it can be removed, on the page."""
        return self.kind is not None and not self.is_fixed

    @property
    def account_cut(self) -> str:
        """Enough of an account id to tell it from another, “0123…cdef”; all of a server's name."""
        account = self.connection.account_id
        if self.connection.is_local:
            return f"{self.connection.settings['model']} at {server_of(self.connection.base_url)}"
        is_id = self.connection.kind == Connection.Kind.REST and len(account) > 12
        return f"{account[:4]}…{account[-4:]}" if is_id else account

    @cached_property
    def waiting(self) -> int:
        """How many batches are under way through it."""
        return refused.batches_waiting(self.connection).count()

    @cached_property
    def after(self) -> Connection | None:
        """Where new batches go once it is removed; None: as now."""
        return next_default(self.connection)


def of_team(team: Team) -> list[Shown]:
    """The connections of a team: those for new batches, then those that the environment left."""
    used = ensure_connection(team)
    found = list(open_connections(team))
    left = Connection.objects.filter(team=team, from_environment=True, removed_at=None)
    return [
        *(Shown(open_one, open_one == used) for open_one in found),
        *(Shown(left_one, False, is_open=False) for left_one in left if left_one not in found),
    ]


def one(connection: Connection) -> Shown:
    """A single connection, wherever new batches go."""
    is_open = open_connections(connection.team).contains(connection)
    return Shown(connection, is_used=False, is_open=is_open)


def refused_of(team: Team) -> list[Shown]:
    """The connections of a team that are not let in."""
    found = Connection.objects.filter(team=team).exclude(refused_since=None)
    accounts = found.exclude(kind=Connection.Kind.SANDBOX).select_related("team")
    return [one(account) for account in accounts.order_by("refused_since")]


def administrators_of(team: Team) -> Sequence[str]:
    """The names of those who may change connections."""
    found = Membership.objects.filter(team=team, role=Role.ADMIN, user__is_active=True)
    return list(found.order_by("user__name").values_list("user__name", flat=True))
