"""Tests a connection by a call that costs nothing, and says what is wrong in words."""

from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from batchui.cloudflare import errors, local_errors
from batchui.cloudflare.event_queue import EventClient
from batchui.cloudflare.waiting import FOR_A_TEST
from batchui.cloudflare.worker_errors import SECRET_CODES
from batchui.teams.connections import client_for
from batchui.teams.models import Connection
from batchui.teams.problems import UnreadableSecret


class Wrong(StrEnum):
    """What is wrong with a connection."""

    TOKEN = "token"  # noqa: S105
    ACCOUNT = "account"
    PERMISSION = "permission"
    MODEL = "model"  # a model server has not got it
    AWAY = "away"  # nothing is known of account and token: the other side did not answer


@dataclass(frozen=True)
class Verdict:
    """What a test found. wrong: None if all is well. sentence: what is wrong, and what to do."""

    wrong: Wrong | None = None
    sentence: str = ""

    @property
    def is_away(self) -> bool:
        """Whether the other side did not answer, so that nothing is known."""
        return self.wrong is Wrong.AWAY


FINE = Verdict()
NOT_READ = (
    "The queue cannot be looked into. Check its id, that it has an HTTP pull consumer, and that "
    "the token has the permission Queues: Edit."
)
_SENTENCES = {
    Wrong.TOKEN: (
        "The API token is not accepted.{reason} Copy it once more, whole, from Cloudflare. If it "
        "is right, it is for another account, or lacks the permissions Workers AI: Read and Edit."
    ),
    Wrong.ACCOUNT: (
        "The account id is not known to Cloudflare.{reason} Copy it once more from the dashboard. "
        "The token was not looked at yet."
    ),
    Wrong.PERMISSION: (
        "The token and the account are known, but this is not permitted.{reason} Give the token "
        "the permissions Workers AI: Read and Workers AI: Edit, for this account."
    ),
}


def problem_of_queue(connection: Connection, queue_id: str) -> str:
    """Why a queue of an account cannot be looked into, as a sentence; "" if it can.

    It takes 8 seconds at most. What is pulled comes again.
    """
    try:
        with closing(client_for(connection, FOR_A_TEST)) as client:
            cast(EventClient, client).pull_events(queue_id)
    except UnreadableSecret as problem:
        return str(problem)
    except errors.CloudflareError as problem:
        return f"{NOT_READ} {problem.user_message}"
    return ""


def test(connection: Connection) -> Verdict:
    """Ask the other side of a connection, which need not be stored. It takes 8 seconds at most.

    Raises nothing: whatever happens is a finding.
    """
    try:
        with closing(client_for(connection, FOR_A_TEST)) as client:
            client.test_connection()
    except UnreadableSecret as problem:
        return Verdict(Wrong.TOKEN, str(problem))
    except errors.CloudflareError as problem:
        return _found(connection, problem)
    return FINE


_OF_MODEL_SERVER = {
    local_errors.UPSTREAM_AWAY: Wrong.AWAY,
    local_errors.UPSTREAM_REFUSES: Wrong.TOKEN,
    local_errors.WRONG_UPSTREAM: Wrong.ACCOUNT,
    local_errors.NO_MODEL: Wrong.MODEL,
}


def _found(connection: Connection, problem: errors.CloudflareError) -> Verdict:
    if connection.is_local:
        wrong = _OF_MODEL_SERVER.get(problem.code or 0, Wrong.AWAY)
        return Verdict(wrong, problem.user_message)
    is_about_person = isinstance(problem, errors.Busy) and problem.needs_person
    if not is_about_person or problem.code is None:
        wrong = _without_code(connection, problem) if is_about_person else Wrong.AWAY
        return Verdict(wrong, problem.user_message)
    wrong = _by_code(problem)
    if connection.kind != Connection.Kind.REST:
        return Verdict(wrong, problem.user_message)
    said = f" Cloudflare said: {problem.detail}." if problem.detail else ""
    return Verdict(wrong, _SENTENCES[wrong].format(reason=said))


def _by_code(problem: errors.CloudflareError) -> Wrong:
    # Of a token it is “Invalid API Token”; the same code stands for an account elsewhere.
    says_token = problem.code == 1000 and "token" in problem.detail.lower()
    if says_token or problem.code in (*errors.TOKEN_CODES, *SECRET_CODES):
        return Wrong.TOKEN
    return Wrong.ACCOUNT if problem.code in errors.ACCOUNT_CODES else Wrong.PERMISSION


def _without_code(connection: Connection, problem: errors.CloudflareError) -> Wrong:
    """No code of Cloudflare: the client refused the token itself, or another server answered."""
    if problem.http_status is None:
        return Wrong.TOKEN
    if connection.kind == Connection.Kind.WORKER:  # which marks its replies
        return Wrong.ACCOUNT
    return Wrong.PERMISSION if problem.http_status in (401, 403) else Wrong.AWAY
