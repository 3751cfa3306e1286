"""What all commands of `manage.py` share that are ours."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class ExactCommand(BaseCommand):
    """A command that takes no abbreviation of an option: `--force` is not `--force-color`."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, allow_abbrev=False, **kwargs)
