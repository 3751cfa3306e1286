"""Where somebody has signed in before: in a browser, or else at an address.

A browser has a signed cookie that names the account. It gives no right. It lets a stranger's wrong
passwords not count where the owner signs in (`adapter.py`), also from an address that is not known:
those of phones and of IPv6 change daily. An address is kept in the cache.
"""

import hashlib
import secrets

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

# A browser is known for so long after the last sign-in.
SECONDS = 365 * 24 * 60 * 60
# An address is known for so long.
ADDRESS_SECONDS = 30 * 24 * 60 * 60
# So many people can share a browser.
MOST_ACCOUNTS = 5
_signer = TimestampSigner(salt="batchui: known browsers")


def remember(request: HttpRequest, response: HttpResponse, *, email: str) -> None:
    """Remember that this account was signed in to in this browser and at this address."""
    cache.set(_address(request, email), True, ADDRESS_SECONDS)
    browser, accounts = _read(request)
    accounts = [_account(email), *(one for one in accounts if one != _account(email))]
    named = [browser or secrets.token_urlsafe(16), *accounts[:MOST_ACCOUNTS]]
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        _signer.sign(".".join(named)),
        max_age=SECONDS,
        secure=settings.SECURE_PROXY,
        httponly=True,
        samesite="Lax",
    )


def known(request: HttpRequest, *, email: str) -> str:
    """The name of the browser, or else of the address, if this account was signed in to here.

    Else "".
    """
    browser, accounts = _read(request)
    if _account(email) in accounts:
        return browser
    address = _address(request, email)
    return address if cache.get(address) else ""


def _read(request: HttpRequest) -> tuple[str, list[str]]:
    """The id of a browser, "" if it has none, and the accounts that it knows."""
    held = request.COOKIES.get(settings.BROWSER_COOKIE_NAME, "")
    try:
        browser, *accounts = _signer.unsign(held, max_age=SECONDS).split(".")
    except BadSignature:
        return "", []
    return browser, accounts


def _account(email: str) -> str:
    """A keyed hash: who reads the cookie does not learn whose account it is."""
    return salted_hmac("batchui: account of a browser", email.lower()).hexdigest()


def _address(request: HttpRequest, email: str) -> str:
    """The name of a client's address for an account, as a key of the cache."""
    address = f"{_account(email)} {get_adapter(request).get_client_ip(request)}"
    return f"signed-in:{hashlib.sha256(address.encode()).hexdigest()}"
