"""How allauth signs people in: by e-mail and password, and only people who were invited.

Attempts to sign in are counted as `ACCOUNT_RATE_LIMITS` says. The counts are in the database cache,
so all web processes share them. Behind a proxy it needs `ALLAUTH_TRUSTED_PROXY_COUNT`; else all
clients have the proxy's address.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.http import HttpRequest
from django.urls import reverse

from batchui import security_log
from batchui.teams import browsers


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

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count one more attempt. Raises ValidationError if there were too many.

        Those of an account from all strange places are counted together, and those of a strange
        address. Where a person has signed in before (`browsers.py`), the count of this place alone
        matters: a stranger cannot lock a colleague out. A success takes its attempt back (allauth).
        """
        email = str(credentials.get("email", "")).lower()
        known = browsers.known(request, email=email)
        self._login_failed_rl_usage = ratelimit.consume(
            request,
            app="allauth.account",
            action="login_failed_where_known" if known else "login_failed",
            key=f"{email} {known}",
        )
        if not self._login_failed_rl_usage:
            security_log.record("sign-in throttled", whom=credentials.get("email"))
            raise self.validation_error("too_many_login_attempts")

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        security_log.record("sign-in failed", whom=credentials.get("email"))

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """False: people join by an invitation link only."""
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def send_notification_mail(self, *args: object, **kwargs: object) -> None:
        """Does nothing: batchui sends no e-mail."""
