"""Browsers in which somebody has signed in: each has a signed cookie that names the account.

The cookie gives no right. It lets a stranger's wrong passwords not count where the owner signs in
(`adapter.py`), also from an address that is not known: those of phones and of IPv6 change daily.
"""

import secrets

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

# A browser is known for so long after the last sign-in.
SECONDS = 365 * 24 * 60 * 60
# So many people can share a browser.
MOST_ACCOUNTS = 5
_signer = TimestampSigner(salt="batchui: known browsers")


def remember(request: HttpRequest, response: HttpResponse, *, email: str) -> None:
    """Give the browser the cookie that says that this account was signed in to here."""
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
    """The random id of a browser in which this account was signed in to; or ""."""
    browser, accounts = _read(request)
    return browser if _account(email) in accounts else ""


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
