"""`manage.py migrate`: Django's own command, which makes the data folder first."""

from typing import Any

from django.core.management.commands import migrate

from batchui import data_folder


class Command(migrate.Command):
    def execute(self, *args: Any, **options: Any) -> str | None:
        data_folder.make()
        output: str | None = super().execute(*args, **options)
        return output
