"""How allauth signs people in: by e-mail and password, and only people who were invited.

allauth counts attempts to sign in for each address of a client (`ACCOUNT_RATE_LIMITS`). The counts
are in the database cache, so all web processes share them. Behind a proxy it needs
`ALLAUTH_TRUSTED_PROXY_COUNT`; else all clients have the proxy's address.
"""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.urls import reverse


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

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """False: people join by an invitation link only."""
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def send_notification_mail(self, *args: object, **kwargs: object) -> None:
        """Does nothing: batchui sends no e-mail."""
