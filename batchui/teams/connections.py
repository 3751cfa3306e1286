"""Makes a team's connection from the settings, and the client that uses it."""

from collections.abc import Callable, Mapping

from django.conf import settings

from batchui import security_log
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.protocol import BatchClient
from batchui.keys import Hidden, derived
from batchui.teams import crypto
from batchui.teams.models import Connection, Team
from batchui.teams.problems import UnreadableSecret

_SANDBOX_ACCOUNT = "sandbox"  # it accepts any account
# Calls at one time through one connection, for each process: as many as a tick has threads.
CALLS_AT_ONCE = 8


def cloudflare_is_configured() -> bool:
    """Whether the settings have an account and its token; else the sandbox is used."""
    return bool(settings.CLOUDFLARE_ACCOUNT_ID and settings.CLOUDFLARE_API_TOKEN)


def ensure_connection(team: Team) -> Connection:
    """Return the connection of `team` according to the settings, made or updated first.

    A new token or address is stored in the same connection and ends its pause, which often comes
    from a refused token. Another account becomes another connection.
    """
    if cloudflare_is_configured():
        return _ensure(
            team,
            kind=Connection.Kind.REST,
            name="Cloudflare",
            account_id=settings.CLOUDFLARE_ACCOUNT_ID,
            token=settings.CLOUDFLARE_API_TOKEN,
            base_url=settings.CLOUDFLARE_API_URL,
        )
    return _ensure(
        team,
        kind=Connection.Kind.SANDBOX,
        name="Sandbox",
        account_id=_SANDBOX_ACCOUNT,
        token=sandbox_token(),
        base_url=settings.SANDBOX_URL,
    )


def sandbox_token() -> str:
    """The token that the sandbox was started with.

    It is made from SECRET_KEY unless the settings have one, so that every process that knows that
    key (`up`, web, worker, `submit`) has the same, and no file has it. The key cannot be found from
    it.
    """
    return settings.SANDBOX_TOKEN or Hidden(derived(settings.SECRET_KEY, purpose="sandbox"))


def client_for(connection: Connection) -> BatchClient:
    """Return a client for `connection`; the caller closes it.

    Raises UnreadableSecret if the stored token cannot be decrypted.
    """
    return CLIENTS[Connection.Kind(connection.kind)](connection)


def _rest_client(connection: Connection) -> BatchClient:
    return RestClient(
        account_id=connection.account_id,
        token=crypto.decrypt(connection.token_encrypted),
        base_url=connection.base_url,
        max_connections=CALLS_AT_ONCE,
        called="the sandbox" if connection.is_sandbox else "",
    )


# The client for each kind of connection. Another wire is another client and a line here.
CLIENTS: Mapping[Connection.Kind, Callable[[Connection], BatchClient]] = {
    Connection.Kind.REST: _rest_client,
    Connection.Kind.SANDBOX: _rest_client,
}


def _ensure(
    team: Team, *, kind: Connection.Kind, name: str, account_id: str, token: str, base_url: str
) -> Connection:
    connection, made = Connection.objects.get_or_create(
        team=team,
        kind=kind,
        account_id=account_id,
        defaults={"name": name, "token_encrypted": crypto.encrypt(token), "base_url": base_url},
    )
    if made:
        _note("connection made", connection)
    if made or (connection.base_url == base_url and _token_of(connection) == token):
        return connection
    connection.base_url = base_url
    connection.token_encrypted = crypto.encrypt(token)
    connection.paused_until = None
    connection.pause_reason = ""
    connection.save(
        update_fields=["base_url", "token_encrypted", "paused_until", "pause_reason"],
    )
    _note("connection changed", connection)
    return connection


def _note(event: str, connection: Connection) -> None:
    security_log.record(
        event,
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
