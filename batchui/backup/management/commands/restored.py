"""`manage.py restored`: says that this machine was put back to an earlier state."""

from typing import Any

from django.core.management.base import BaseCommand

from batchui.worker import generation


class Command(BaseCommand):
    help = (
        "Say that this machine, its disk or its database was put back to an earlier state by other "
        "means than `manage.py restore`. What may have been sent since waits for a decision. "
        "`manage.py up --restored` does the same before it starts."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(generation.in_words(generation.note_restored(generation.PUT_BACK)))
