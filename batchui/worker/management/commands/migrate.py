"""`manage.py migrate`: Django's own, in a data folder that is there."""

from typing import Any

from django.core.management.commands import migrate

from batchui import data_folder


class Command(migrate.Command):
    def execute(self, *args: Any, **options: Any) -> str | None:
        data_folder.make()
        output: str | None = super().execute(*args, **options)
        return output
