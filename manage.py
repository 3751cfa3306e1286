#!/usr/bin/env python3
"""batchui's command line.

`up` and `test` make `.venv` beside this file by themselves and go on inside it; every other
command is plain Django in the environment that is active.
"""

import os
import sys

OLDEST_PYTHON = (3, 11)


def main() -> None:
    if sys.version_info < OLDEST_PYTHON:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        sys.exit(
            f"batchui needs Python 3.11 or newer, and this is Python {version} ({sys.executable}). "
            "Run the command with a newer one, for example: python3.11 manage.py up"
        )
    command, rest = "".join(sys.argv[1:2]), sys.argv[2:]
    if command == "up":
        from batchui.up import start

        start.main(rest)
    elif command == "test":
        from batchui.up import venv

        venv.run_tests(rest)
    else:
        run_django()


def run_django() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    os.umask(0o077)  # what is stored is for this user alone
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError as error:
        if error.name != "django":
            raise
        from batchui.up import venv

        sys.stderr.write(f"{venv.where_django_is()}\n")
        sys.exit(2)
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:  # Ctrl-C, before the command could say something
        sys.exit(130)


if __name__ == "__main__":
    main()
