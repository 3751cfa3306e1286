"""`manage.py sign_in_link`: a way in for somebody who lost the password and has nobody to ask."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from batchui.commands import ExactCommand
from batchui.teams import invitations
from batchui.teams.problems import TeamProblem
from batchui.teams.terminal import WITHOUT_ADDRESS, membership_for_link
from batchui.worker.database import why_not_ready


class Command(ExactCommand):
    help = (
        "Print a link with which somebody who lost the password chooses a new one and is signed "
        "in. It works once, for 24 hours; earlier links of the same person stop working."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "email",
            nargs="?",
            help="who is to sign in, by e-mail address (the administrator, if there is only one)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if problem := why_not_ready():
            raise CommandError(problem)
        try:
            membership = membership_for_link(options["email"])
        except TeamProblem as refused:
            raise CommandError(str(refused)) from None
        _, token = invitations.create_password_link(membership, by=None)
        self.stdout.write(f"{settings.BASE_URL}{reverse('join', args=[token])}")
        self.stderr.write(
            f"For {membership.user.name}, who signs in as {membership.user.email}. The link works "
            "once, for 24 hours. Whoever opens it chooses the password.",
            str,
        )
        if not settings.BASE_URL:
            self.stderr.write(WITHOUT_ADDRESS, str)
