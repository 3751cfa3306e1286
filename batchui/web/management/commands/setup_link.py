"""`manage.py setup_link`: the one-time address where the first administrator is made."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from batchui.commands import ExactCommand
from batchui.teams.invitations import first_administrator_token
from batchui.teams.terminal import WITHOUT_ADDRESS
from batchui.worker.database import why_not_ready


class Command(ExactCommand):
    help = "Print the one-time set-up address, if nobody has an account yet."

    def handle(self, *args: Any, **options: Any) -> None:
        if problem := why_not_ready():
            raise CommandError(problem)
        token = first_administrator_token()
        if token is None:
            raise CommandError(
                "Somebody has an account already: sign in, and invite the others on the page "
                "“People”."
            )
        self.stdout.write(f"{settings.BASE_URL}/setup/{token}/")
        if not settings.BASE_URL:
            self.stderr.write(WITHOUT_ADDRESS, str)
