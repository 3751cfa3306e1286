from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from batchui.teams.models import User


class TeamsConfig(AppConfig):
    name = "batchui.teams"
    label = "teams"
    verbose_name = "People"

    def ready(self) -> None:
        from allauth.account.signals import password_changed

        password_changed.connect(_password_changed, dispatch_uid="links of the old password")


def _password_changed(*, user: "User", **_: object) -> None:
    """Somebody chose a new password: links to choose one, made before, stop working."""
    from batchui.teams.invitations import withdraw_password_links

    withdraw_password_links(user)
