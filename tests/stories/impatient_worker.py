"""`manage.py worker`, whose watchdog waits 8 s for a sign of life, and not half a minute."""

import os
from functools import partial

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()
    from django.core.management import call_command

    from batchui.worker.management.commands import worker
    from batchui.worker.watchdog import Patience, Watchdog

    impatient = Patience(silence=8, restart=1)
    worker.Watchdog = partial(Watchdog, patience=impatient)  # type: ignore[misc, assignment]
    call_command(worker.Command())


if __name__ == "__main__":
    main()
