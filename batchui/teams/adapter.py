"""How allauth signs people in: by e-mail and password, and only people who were invited.

allauth counts attempts to sign in for each address of a client (`ACCOUNT_RATE_LIMITS`). The counts
are in the database cache, so all web processes share them. Behind a proxy it needs
`ALLAUTH_TRUSTED_PROXY_COUNT`; else all clients have the proxy's address.
"""

import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse

from batchui import security_log
from batchui.teams import browsers

# An address from which somebody has signed in is known for so long.
KNOWN_SECONDS = 30 * 24 * 60 * 60


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's adapter, with this product's sentences, without sign-up and e-mail."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": (
            "This e-mail address and this password do not match. Check both and try again. "
            "If you forgot the password, an administrator of your team can make you a link to "
            "choose a new one."
        ),
        "too_many_login_attempts": (
            "Too many attempts to sign in. Wait five minutes, then try again."
        ),
        "enter_current_password": "This is not your current password. Type it again.",
        "password_mismatch": "The two passwords differ. Type the new one twice.",
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Whose failures are counted together: those of an account from all strange places.

        Where a person has signed in before, failures from elsewhere do not count: a stranger cannot
        lock a colleague out. Such a place is a browser, or else an address. Its own failures count.
        """
        login = str(super()._get_login_attempts_cache_key(request, **credentials))
        if browser := browsers.known(request, email=credentials.get("email", "")):
            return f"{login} in {browser}"
        place = _place(login, self.get_client_ip(request))
        return place if cache.get(place) else login

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        person = super().authenticate(request, **credentials)
        if person is not None:
            login = str(super()._get_login_attempts_cache_key(request, **credentials))
            cache.set(_place(login, self.get_client_ip(request)), True, KNOWN_SECONDS)
        return person

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            security_log.record("sign-in throttled", whom=credentials.get("email"))
            raise

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        security_log.record("sign-in failed", whom=credentials.get("email"))

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """False: people join by an invitation link only."""
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def send_notification_mail(self, *args: object, **kwargs: object) -> None:
        """Does nothing: batchui sends no e-mail."""


def _place(login: str, address: str) -> str:
    return "signed-in:" + hashlib.sha256(f"{login} {address}".encode()).hexdigest()
