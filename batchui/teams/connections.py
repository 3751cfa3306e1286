"""Which connection a team's new batches go to, and the client that uses one.

The team's chosen one comes first, then the account of the environment, then its model server, then
the sandbox.
Administrators connect accounts and choose among them in `connecting.py`.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Case, Q, QuerySet, When

from batchui import security_log
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.local_client import LocalClient, ModelServer
from batchui.cloudflare.protocol import BatchClient
from batchui.cloudflare.waiting import USUAL, Waiting
from batchui.cloudflare.worker_client import WorkerClient
from batchui.keys import Hidden, derived
from batchui.teams import crypto
from batchui.teams.models import Connection, Team, User
from batchui.teams.problems import UnreadableSecret

_SANDBOX_ACCOUNT = "sandbox"  # it accepts any account
# Calls at one time through one connection, for each process: as many as a tick has threads.
CALLS_AT_ONCE = 8
HINT_LENGTH = 4


MakeClient = Callable[[Connection, Waiting], BatchClient]


def cloudflare_is_configured() -> bool:
    """Whether the settings have an account and its token; else `up` starts the sandbox."""
    return bool(settings.CLOUDFLARE_ACCOUNT_ID and settings.CLOUDFLARE_API_TOKEN)


def sandbox_is_there() -> bool:
    """Whether a sandbox runs: with an account in the environment `up` starts none."""
    return bool(settings.SANDBOX_IS_GIVEN) or not cloudflare_is_configured()


def model_server_is_set() -> bool:
    """Whether the settings have a model server."""
    return bool(settings.SANDBOX_UPSTREAM_URL and settings.SANDBOX_UPSTREAM_MODEL)


def open_connections(team: Team) -> QuerySet[Connection]:
    """The connections that new batches of a team may go to; the sandbox comes last.

    Not those that were removed. Nor what the environment named before, and no longer does: whoever
    took it out wants nothing more sent to it.
    """
    accounts = Connection.objects.filter(takes_new_batches(), team=team)
    return accounts.order_by(Case(When(kind=Connection.Kind.SANDBOX, then=1), default=0), "pk")


def takes_new_batches() -> Q:
    """Of connections: whether new batches may go to one."""
    still_named = Q(from_environment=False)
    if cloudflare_is_configured():
        still_named |= Q(kind=Connection.Kind.REST, account_id=settings.CLOUDFLARE_ACCOUNT_ID)
    if model_server_is_set():
        still_named |= Q(kind=Connection.Kind.LOCAL, base_url=settings.SANDBOX_UPSTREAM_URL)
    takes = Q(still_named, removed_at=None)
    return takes if sandbox_is_there() else takes & ~Q(kind=Connection.Kind.SANDBOX)


def of_settings() -> Q:
    """Of connections: whether it is used where a team has chosen none."""
    if cloudflare_is_configured() or model_server_is_set():
        return Q(from_environment=True, kind=kind_of_settings())
    return Q(kind=Connection.Kind.SANDBOX)


def kind_of_settings() -> Connection.Kind:
    """The kind of the connection that is used where a team has chosen none."""
    if cloudflare_is_configured():
        return Connection.Kind.REST
    return Connection.Kind.LOCAL if model_server_is_set() else Connection.Kind.SANDBOX


def ensure_connection(team: Team) -> Connection:
    """Return the connection that new batches of `team` go to.

    That of the settings (the environment's account, else its model server, else the sandbox) is
    made or updated first: a new token or address is stored in the same connection and ends its
    pause, which often comes from a refused token. Another account becomes another connection.
    """
    ours = _OF_SETTINGS[kind_of_settings()](team)
    is_ours = Q(kind=ours.kind, account_id=ours.account_id)
    is_chosen = Q(takes_new_batches(), is_default=True)
    found = list(Connection.objects.filter(is_ours | is_chosen, team=team))
    known = next((one for one in found if (one.kind, one.account_id) == ours[:2]), None)
    chosen = next((one for one in found if one.is_default and one is not known), None)
    stored = _ensure(team, ours, known)
    return chosen or stored


class _Settings(NamedTuple):
    """A connection as the settings have it."""

    kind: Connection.Kind
    account_id: str
    name: str
    token: str
    base_url: str
    settings: Mapping[str, Any] = {}


def _of_environment(team: Team) -> _Settings:
    return _Settings(
        Connection.Kind.REST,
        settings.CLOUDFLARE_ACCOUNT_ID,
        "Cloudflare",
        settings.CLOUDFLARE_API_TOKEN,
        settings.CLOUDFLARE_API_URL,
    )


def _of_model_server(team: Team) -> _Settings:
    url = settings.SANDBOX_UPSTREAM_URL
    return _Settings(
        Connection.Kind.LOCAL,
        local_account(team, url),
        "Local model",
        settings.SANDBOX_UPSTREAM_KEY,
        url,
        {
            "model": settings.SANDBOX_UPSTREAM_MODEL,
            "concurrency": settings.SANDBOX_UPSTREAM_CONCURRENCY,
            "timeout_seconds": settings.SANDBOX_UPSTREAM_SECONDS,
        },
    )


def local_account(team: Team, url: str) -> str:
    """The account of a model server in the sandbox: each team has one of its own for it."""
    return f"local-{team.pk}-{sha256(url.encode()).hexdigest()[:16]}"


def _of_sandbox(team: Team) -> _Settings:
    return _Settings(
        Connection.Kind.SANDBOX,
        _SANDBOX_ACCOUNT,
        "Sandbox",
        sandbox_token(),
        settings.SANDBOX_URL,
    )


_OF_SETTINGS: Mapping[Connection.Kind, Callable[[Team], _Settings]] = {
    Connection.Kind.REST: _of_environment,
    Connection.Kind.LOCAL: _of_model_server,
    Connection.Kind.SANDBOX: _of_sandbox,
}


def sandbox_token() -> str:
    """The token that the sandbox was started with.

    It is made from SECRET_KEY unless the settings have one, so that every process that knows that
    key (`up`, web, worker, `submit`) has the same, and no file has it. The key cannot be found from
    it.
    """
    return settings.SANDBOX_TOKEN or Hidden(derived(settings.SECRET_KEY, purpose="sandbox"))


def client_for(connection: Connection, waiting: Waiting = USUAL) -> BatchClient:
    """Return a client for `connection`, which need not be stored; the caller closes it.

    Raises UnreadableSecret if the stored token cannot be decrypted.
    """
    return CLIENTS[Connection.Kind(connection.kind)](connection, waiting)


def _rest_client(connection: Connection, waiting: Waiting) -> BatchClient:
    return RestClient(
        account_id=connection.account_id,
        token=crypto.decrypt(connection.token_encrypted),
        base_url=connection.base_url,
        max_connections=CALLS_AT_ONCE,
        called="the sandbox" if connection.is_sandbox else "",
        timeout=waiting.timeout,
        seconds=waiting.seconds,
    )


def _worker_client(connection: Connection, waiting: Waiting) -> BatchClient:
    return WorkerClient(
        address=connection.base_url,
        secret=crypto.decrypt(connection.token_encrypted),
        max_connections=CALLS_AT_ONCE,
        timeout=waiting.timeout,
        seconds=waiting.seconds,
    )


def _local_client(connection: Connection, waiting: Waiting) -> BatchClient:
    server = ModelServer(
        url=connection.base_url,
        key=crypto.decrypt(connection.token_encrypted),
        **connection.settings,
    )
    return LocalClient(
        server,
        account_id=connection.account_id,
        token=sandbox_token(),
        base_url=settings.SANDBOX_URL,
        max_connections=CALLS_AT_ONCE,
        timeout=waiting.timeout,
        seconds=waiting.seconds,
    )


# The client for each kind of connection. Another wire is another client and a line here.
CLIENTS: Mapping[Connection.Kind, MakeClient] = {
    Connection.Kind.REST: _rest_client,
    Connection.Kind.WORKER: _worker_client,
    Connection.Kind.LOCAL: _local_client,
    Connection.Kind.SANDBOX: _rest_client,
}


def put_token(connection: Connection, token: str) -> None:
    """Give a connection a token. It is not saved yet; TOKEN_FIELDS are the fields that change.

    What was refused with the token before may be accepted with this one, so its pause ends.
    """
    connection.token_encrypted = crypto.encrypt(token)
    connection.token_hint = "" if connection.is_sandbox else hint_of(token)
    connection.paused_until, connection.pause_reason = None, ""
    connection.refused_since, connection.refused_reason = None, ""


TOKEN_FIELDS = (
    *("token_encrypted", "token_hint", "paused_until", "pause_reason"),
    *("refused_since", "refused_reason"),
)


def hint_of(token: str) -> str:
    """The end of a token, by which people tell two apart. Of a short one it would be too much."""
    return token[-HINT_LENGTH:] if len(token) >= 5 * HINT_LENGTH else ""


def _ensure(team: Team, ours: _Settings, known: Connection | None) -> Connection:
    """The connection of the settings: made, or updated if it differs from them."""
    given = {
        "base_url": ours.base_url,
        "settings": dict(ours.settings),
        "from_environment": ours.kind != Connection.Kind.SANDBOX,
        "removed_at": None,
    }
    is_same = known and all(getattr(known, field) == value for field, value in given.items())
    if known and is_same and _token_of(known) == ours.token:
        return known
    same = {"team": team, "kind": ours.kind, "account_id": ours.account_id}
    connection = known or Connection(**same, name=ours.name)
    for field, value in given.items():
        setattr(connection, field, value)
    put_token(connection, ours.token)
    if known:
        connection.save(update_fields=[*given, *TOKEN_FIELDS])
        note("connection changed", connection)
        return connection
    fields = ("name", *given, *TOKEN_FIELDS)
    defaults = {field: getattr(connection, field) for field in fields}
    connection, made = Connection.objects.get_or_create(**same, defaults=defaults)
    if made:
        note("connection made", connection)
    return connection


def note(event: str, connection: Connection, *, by: User | None = None) -> None:
    """Write a change of a connection into the security log."""
    security_log.record(
        event,
        who=by.in_log if by else None,
        connection=connection.pk,
        kind=connection.kind,
        account=connection.account_id,
        server=connection.base_url,
        team=connection.team_id,
    )


def _token_of(connection: Connection) -> str | None:
    try:
        return crypto.decrypt(connection.token_encrypted)
    except UnreadableSecret:
        return None
