"""What is called: its address, checked before anything is sent, and what sentences say of it."""

import re
from dataclasses import dataclass

import httpx

from batchui.cloudflare.errors import REST, Busy, NotSent, Rulings

# What a token or a secret may consist of: it becomes a header.
SECRET = re.compile(r"[\x21-\x7e]{1,1024}")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """What a client calls.

    base_url: as people entered it, without a slash at its end. path: from there to all calls.
    name: what sentences call it. unreached: a sentence for when no connection can be made.
    problem: why no call can be made, for people; "" if calls can be. It lies in the address
    (`wrong_address`), or in the token, account or secret.
    rulings: what its replies mean. marks: whether it marks its replies (`http_call.MARK`), so that
    one without the mark is somebody else's.
    """

    base_url: str
    path: str
    name: str
    unreached: str
    problem: str = ""
    wrong_address: bool = False
    rulings: Rulings = REST
    marks: bool = False

    @property
    def server(self) -> str:
        """Host and port, for sentences; never a user name or password."""
        return server_of(self.base_url)

    def url(self, call: str) -> str:
        """The address of a call. Raises NotSent for a wrong address, else Busy for a problem."""
        if self.problem and self.wrong_address:
            raise NotSent(self.problem)
        if self.problem:
            raise Busy(self.problem, needs_person=True)
        return f"{self.base_url}/{self.path}/{call}"


def server_of(base_url: str) -> str:
    """The host and port in an address."""
    return base_url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def address_problem(base_url: str) -> str:
    """The end of a sentence on why an address cannot be called, "" if it can."""
    try:
        url = httpx.URL(base_url)
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return "it is not a web address"
    if any(map(str.isspace, base_url)):
        return "it has a blank or a line break in it"
    if url.scheme not in ("http", "https"):
        return "it does not begin with https:// or http://"
    if not host or any(not 0 < len(label) < 64 for label in host.rstrip(".").split(".")):
        return "it names no server"
    if url.port is not None and not 0 < url.port < 65_536:
        return "its port is not a number from 1 to 65535"
    if url.userinfo or url.query or url.fragment:
        return "it must not contain a user name, a password, or anything after ? or #"
    return ""
