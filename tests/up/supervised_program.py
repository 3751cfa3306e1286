"""A supervisor over small services, as `manage.py up` runs it: run as a program by a test.

Each argument is a part: its name, `=`, and the Python it runs.
"""

import sys

from batchui.up.supervisor import Screen, Service, Supervisor

GRACE = 1.5


def main() -> None:
    services = []
    for argument in sys.argv[1:]:
        name, _, code = argument.partition("=")
        services.append(Service(name, [sys.executable, "-u", "-c", code]))
    screen = Screen(names=[part.name for part in services], colours=False)
    Supervisor(services, screen=screen, grace=GRACE).run()
    screen.say("all stopped")


if __name__ == "__main__":
    main()
