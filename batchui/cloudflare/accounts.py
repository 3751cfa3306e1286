"""Checks the account, its token and a model before anything is sent."""

import re

from batchui.cloudflare.endpoints import SECRET, Endpoint, address_problem, server_of
from batchui.cloudflare.errors import Refused
from batchui.cloudflare.redaction import clean

_ACCOUNT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODEL = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9][A-Za-z0-9._:-]*)*")
_LONGEST_MODEL = 200


def account(*, base_url: str, account_id: str, token: str, called: str = "") -> Endpoint:
    """An account as people entered it, without the blanks around it. The token is not kept.

    called: what sentences call it; "" for Cloudflare.
    """
    base_url, account_id = base_url.strip().rstrip("/"), account_id.strip()
    server, wrong = server_of(base_url), address_problem(base_url)
    subject = called or "Cloudflare"
    unreached = (
        f"{subject[0].upper()}{subject[1:]} could not be reached at {server}: nothing was sent."
    )
    return Endpoint(
        base_url=base_url,
        path=f"accounts/{account_id}/ai",
        name=called or f"Cloudflare ({server})",
        unreached=unreached if called else f"{unreached} Check this server's internet connection.",
        problem=_problem(wrong, account_id=account_id, token=token.strip()),
        wrong_address=bool(wrong),
    )


def _problem(wrong_address: str, *, account_id: str, token: str) -> str:
    """Why no call can be made, and what to do; "" if calls can be made."""
    if wrong_address:
        return (
            f"The address set for Cloudflare's API cannot be used: {wrong_address}. Nothing was "
            "sent. Ask the person who runs batchui to correct it."
        )
    problem = _token_problem(token) or _account_problem(account_id)
    return problem and (
        f"{problem} Nothing was sent. Ask the person who runs batchui to copy it again from "
        "Cloudflare's dashboard."
    )


def check_model(model: str) -> str:
    """Return `model` if it can be part of an address as it is. Raises Refused if not."""
    if len(model) > _LONGEST_MODEL or not _MODEL.fullmatch(model):
        raise Refused(
            f"“{clean(model, longest=80)}” is not the name of a model. Choose a model from the "
            "list, then send the rows again."
        )
    return model


def _token_problem(token: str) -> str:
    if not token:
        return "The connection has no API token."
    if not SECRET.fullmatch(token):
        return "The API token contains blanks, line breaks or characters that a token never has."
    return ""


def _account_problem(account_id: str) -> str:
    if not account_id:
        return "The connection has no account id."
    if not _ACCOUNT.fullmatch(account_id):
        return "The account id contains characters that an account id never has."
    return ""
