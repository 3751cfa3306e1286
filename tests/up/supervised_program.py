"""A supervisor over small parts, as `manage.py up` runs it: run as a program by a test.

Each argument is a part: its name, `=`, and the Python it runs.
"""

import sys

from batchui.up.supervisor import Part, Screen, Supervisor

GRACE = 1.5


def main() -> None:
    parts = []
    for argument in sys.argv[1:]:
        name, _, code = argument.partition("=")
        parts.append(Part(name, [sys.executable, "-u", "-c", code]))
    screen = Screen(names=[part.name for part in parts], colours=False)
    Supervisor(parts, screen=screen, grace=GRACE).run()
    screen.say("all stopped")


if __name__ == "__main__":
    main()
