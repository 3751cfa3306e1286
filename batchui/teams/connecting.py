"""What administrators may change about connections. Batches that are under way are not touched.

Whether a token is right is asked before (`testing.test`); nothing here makes a call.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from batchui import security_log
from batchui.teams import administrators
from batchui.teams.connections import (
    TOKEN_FIELDS,
    cloudflare_is_configured,
    ensure_connection,
    note,
    of_settings,
    open_connections,
    put_token,
)
from batchui.teams.models import Connection, Team, User
from batchui.teams.problems import TeamProblem
from batchui.teams.testing import Verdict

OF_ENVIRONMENT = (
    "This account and its token come from the environment of the server. The person who runs "
    "batchui changes CLOUDFLARE_API_TOKEN there and starts it again."
)
CONNECTED_ALREADY = "This is connected already, as “{}”. Change it there."
NOT_OPEN = "New batches cannot go to “{}”."
NO_EVENTS = "Only an account that is called by its API token can have a queue."
GONE = "This connection was removed a moment ago."
NOT_THE_SANDBOX = "The sandbox cannot be changed or removed."


def unsaved(
    team: Team,
    *,
    kind: Connection.Kind,
    account_id: str,
    token: str,
    base_url: str,
    name: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Connection:
    """A connection as somebody filled it in, to be tested and then connected."""
    connection = Connection(
        team=team,
        kind=kind,
        account_id=account_id,
        base_url=base_url,
        name=name or kind.label,
        settings=dict(settings or {}),
    )
    put_token(connection, token)
    return connection


def connect(filled: Connection, *, by: User, tested: Verdict | None = None) -> Connection:
    """Store what was filled in (`unsaved`). New batches go to it if they went to the sandbox.

    One that was removed before comes back, with its batches. Raises TeamProblem if it is connected
    already, PermissionDenied if `by` is no administrator any more.
    """
    with transaction.atomic():
        administrators.lock(filled.team, by=by)
        same = {"team": filled.team, "kind": filled.kind, "account_id": filled.account_id}
        known = Connection.objects.filter(**same).first()
        if known and known.removed_at is None:
            if known.from_environment and open_connections(filled.team).contains(known):
                raise TeamProblem(OF_ENVIRONMENT)
            if not known.from_environment:
                raise TeamProblem(CONNECTED_ALREADY.format(known.name))
        is_first = ensure_connection(filled.team).is_sandbox
        connection = known or filled
        connection.created_by = by
        connection.removed_at = None
        if known:
            _take_over(known, filled, tested, "name", "created_by", "removed_at")
        else:
            _keep_test(connection, tested)
            connection.save()
        if is_first:
            _make_default(connection)
    note("connection made", connection, by=by)
    return connection


def replace_token(
    connection: Connection, filled: Connection, *, by: User, tested: Verdict | None = None
) -> Connection:
    """Give a connection the token and settings of `filled`. What is under way goes on with them.

    Raises TeamProblem if the environment has the token, or the connection was removed.
    """
    with transaction.atomic():
        connection = _locked(connection, by=by)
        _take_over(connection, filled, tested)
    note("token replaced", connection, by=by)
    return connection


def rename(connection: Connection, name: str, *, by: User) -> None:
    """Give a connection another name. Raises TeamProblem for the sandbox."""
    with transaction.atomic():
        connection = _locked(connection, by=by, may_be_of_environment=True)
        connection.name = name
        connection.save(update_fields=["name"])
    note("connection renamed", connection, by=by)


def set_queue(connection: Connection, queue_id: str, *, by: User) -> None:
    """Let a connection be told of batch events through a queue; "": by polls alone.

    Raises TeamProblem for what is no account of Cloudflare's.
    """
    with transaction.atomic():
        connection = _locked(connection, by=by, may_be_of_environment=True)
        if connection.kind != Connection.Kind.REST:
            raise TeamProblem(NO_EVENTS)
        connection.queue_id, connection.events_problem = queue_id, ""
        connection.save(update_fields=["queue_id", "events_problem"])
    note("connection's queue set", connection, by=by)


def make_default(connection: Connection, *, by: User) -> None:
    """Let new batches go to a connection. Raises TeamProblem if they cannot."""
    with transaction.atomic():
        administrators.lock(connection.team, by=by)
        if not open_connections(connection.team).contains(connection):
            raise TeamProblem(NOT_OPEN.format(connection.name))
        _make_default(connection)
    note("connection for new batches", connection, by=by)


def remove(connection: Connection, *, by: User) -> Connection:
    """Let a connection take no new batches. Those it has go on, so its token is kept, encrypted.

    Returns the connection that new batches go to now. Raises TeamProblem for the sandbox and the
    account of the environment.
    """
    with transaction.atomic():
        connection = _locked(connection, by=by)
        after = next_default(connection)
        connection.removed_at = timezone.now()
        connection.is_default = False
        connection.save(update_fields=["removed_at", "is_default"])
        if after and after.kind != Connection.Kind.SANDBOX and not after.from_environment:
            _make_default(after)
    note("connection removed", connection, by=by)
    return ensure_connection(connection.team)


def next_default(connection: Connection) -> Connection | None:
    """Who takes its place, if new batches go to this one now; None: nothing changes.

    The environment's account, else the account that was connected first, else the sandbox.
    """
    if not connection.is_default:
        return None
    others = open_connections(connection.team).exclude(pk=connection.pk)
    if cloudflare_is_configured():
        return others.filter(of_settings()).first() or others.first()
    return others.first()


def record_test(connection: Connection, tested: Verdict, *, by: User) -> None:
    """Keep what a test of a stored connection found."""
    _keep_test(connection, tested)
    connection.save(update_fields=["tested_at", "test_problem"])
    security_log.record(
        "connection tested",
        who=by.in_log,
        connection=connection.pk,
        team=connection.team_id,
        wrong=tested.wrong,
    )


def _take_over(
    connection: Connection, filled: Connection, tested: Verdict | None, *others: str
) -> None:
    """Store in a connection what was filled in, and the `others` that were set. No other field:
    workers count its calls meanwhile."""
    given = ("base_url", "settings", *TOKEN_FIELDS, *(("name",) if "name" in others else ()))
    for field in given:
        setattr(connection, field, getattr(filled, field))
    connection.from_environment = False
    _keep_test(connection, tested)
    connection.save(
        update_fields=[*given, *others, "from_environment", "tested_at", "test_problem"]
    )


def _keep_test(connection: Connection, tested: Verdict | None) -> None:
    connection.tested_at = timezone.now() if tested else None
    connection.test_problem = tested.sentence if tested else ""


def _make_default(connection: Connection) -> None:
    Connection.objects.filter(team=connection.team_id, is_default=True).update(is_default=False)
    connection.is_default = True
    connection.save(update_fields=["is_default"])


def _locked(connection: Connection, *, by: User, may_be_of_environment: bool = False) -> Connection:
    """The connection as it is now. Other changes of the same team wait for this transaction."""
    administrators.lock(connection.team, by=by)
    found = Connection.objects.select_related("team").get(pk=connection.pk)
    if found.removed_at is not None:
        raise TeamProblem(GONE)
    if found.is_sandbox:
        raise TeamProblem(NOT_THE_SANDBOX)
    is_named = found.from_environment and open_connections(found.team).contains(found)
    if is_named and not may_be_of_environment:
        raise TeamProblem(OF_ENVIRONMENT)
    return found
