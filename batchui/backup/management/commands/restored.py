"""`manage.py restored`: says that this machine was put back to an earlier state."""

from typing import Any

from django.core.management.base import CommandError

from batchui.commands import ExactCommand
from batchui.worker import generation, installation_mark
from batchui.worker.database import why_not_ready


class Command(ExactCommand):
    help = (
        "Say that this machine, its disk or its database was put back to an earlier state by other "
        "means than `manage.py restore`. What may have been sent since waits for a decision. "
        "`manage.py up --restored` does the same before it starts."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if problem := why_not_ready():
            raise CommandError(problem)
        try:
            asked = generation.note_restored(generation.MACHINE_PUT_BACK)
        except installation_mark.AnotherDatabase as problem:
            raise CommandError(f"Nothing was noted. {problem}") from None
        self.stdout.write(generation.in_words(asked))
