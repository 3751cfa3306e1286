from typing import TYPE_CHECKING

from django.apps import AppConfig

from batchui import security_log

if TYPE_CHECKING:
    from batchui.teams.models import User


class TeamsConfig(AppConfig):
    name = "batchui.teams"
    label = "teams"
    verbose_name = "People"

    def ready(self) -> None:
        from allauth.account.signals import password_changed
        from django.contrib.auth.signals import user_logged_in, user_logged_out

        password_changed.connect(_password_changed, dispatch_uid="password changed")
        user_logged_in.connect(_signed_in, dispatch_uid="signed in")
        user_logged_out.connect(_signed_out, dispatch_uid="signed out")


def _password_changed(*, user: "User", **_: object) -> None:
    """Somebody chose a new password: links to choose one, made before, stop working."""
    from batchui.teams.invitations import withdraw_password_links

    withdraw_password_links(user)
    security_log.record("password changed", who=user.in_log)


def _signed_in(*, user: "User", **_: object) -> None:
    security_log.record("signed in", who=user.in_log)


def _signed_out(*, user: "User | None", **_: object) -> None:
    if user is not None:
        security_log.record("signed out", who=user.in_log)
