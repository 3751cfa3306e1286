"""Checks address, account id, token and model before anything is sent."""

import re
from dataclasses import dataclass
from typing import Self

import httpx

from batchui.cloudflare.errors import Busy, CloudflareError, NotSent, Refused
from batchui.cloudflare.redaction import clean

_TOKEN = re.compile(r"[\x21-\x7e]{1,1024}")
_ACCOUNT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODEL = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9][A-Za-z0-9._:-]*)*")
_LONGEST_MODEL = 200


@dataclass(frozen=True)
class Account:
    """An address and an account to call.

    base_url: without a slash at its end. problem: a sentence on why no call can be made, or "".
    called: what sentences call it; "" for Cloudflare.
    """

    base_url: str
    account_id: str
    problem: str = ""
    needs_new_address: bool = False
    called: str = ""

    @classmethod
    def of(cls, *, base_url: str, account_id: str, token: str, called: str = "") -> Self:
        """The account as people entered it, without the blanks around it. The token is not kept."""
        base_url, account_id = base_url.strip().rstrip("/"), account_id.strip()
        wrong = _address_problem(base_url)
        if wrong:
            whose = called or "Cloudflare's API"
            problem = f"The address set for {whose} cannot be used: {wrong}."
        else:
            problem = _token_problem(token.strip()) or _account_problem(account_id)
        return cls(base_url, account_id, problem, needs_new_address=bool(wrong), called=called)

    @property
    def server(self) -> str:
        """Host and port, for sentences; never a user name or password."""
        return self.base_url.partition("://")[2].partition("/")[0].rpartition("@")[2]

    @property
    def name(self) -> str:
        """ "Cloudflare (api.cloudflare.com)", or what it is called, for sentences."""
        return self.called or f"Cloudflare ({self.server})"

    def url(self, path: str) -> str:
        """The address of `path` below the account's `ai/`.

        Raises NotSent for a wrong address, and Busy for a wrong account or token.
        """
        return self.url_beside(f"ai/{path}")

    def url_beside(self, path: str) -> str:
        """The address of `path` below the account itself. Raises what `url` raises."""
        if self.problem:
            raise self._unfit()
        return f"{self.base_url}/accounts/{self.account_id}/{path}"

    def _unfit(self) -> CloudflareError:
        if self.needs_new_address:
            return NotSent(
                f"{self.problem} Nothing was sent. Ask the person who runs batchui to correct it."
            )
        return Busy(
            f"{self.problem} Nothing was sent. Ask the person who runs batchui to copy it again "
            "from Cloudflare's dashboard.",
            needs_person=True,
        )


def check_model(model: str) -> str:
    """Return `model` if it can be part of an address as it is. Raises Refused if not."""
    if len(model) > _LONGEST_MODEL or not _MODEL.fullmatch(model):
        raise Refused(
            f"“{clean(model, longest=80)}” is not the name of a model. Choose a model from the "
            "list, then send the rows again."
        )
    return model


def _address_problem(base_url: str) -> str:
    """The end of a sentence on why the address cannot be called, "" if it can."""
    try:
        url = httpx.URL(base_url)
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return "it is not a web address"
    if url.scheme not in ("http", "https"):
        return "it does not begin with https:// or http://"
    if not host or any(not 0 < len(label) < 64 for label in host.rstrip(".").split(".")):
        return "it names no server"
    if url.port is not None and not 0 < url.port < 65_536:
        return "its port is not a number from 1 to 65535"
    if url.userinfo or url.query or url.fragment:
        return "it must not contain a user name, a password, or anything after ? or #"
    return ""


def _token_problem(token: str) -> str:
    if not token:
        return "The connection has no API token."
    if not _TOKEN.fullmatch(token):
        return "The API token contains blanks, line breaks or characters that a token never has."
    return ""


def _account_problem(account_id: str) -> str:
    if not account_id:
        return "The connection has no account id."
    if not _ACCOUNT.fullmatch(account_id):
        return "The account id contains characters that an account id never has."
    return ""
