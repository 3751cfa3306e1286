"""The command line of the web server, where it may listen, and whether it answers.

Standard library only.
"""

import http.client
from pathlib import Path

# Processes, so that one core is not all; threads in each, for pages that wait for the database.
PROCESSES, THREADS = 2, 32
LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEBUG_FOR_OTHERS = (
    "DEBUG is on, and --host lets other machines in: they would see settings and source code. "
    "Remove DEBUG, or remove --host."
)


def web_server(python: str, *, root: Path, host: str, port: int, seconds_to_stop: int) -> list[str]:
    """The command that serves the pages (see `serving.py`).

    root: the project's folder. seconds_to_stop: how long a download may take to end after SIGTERM.
    """
    return [
        python,
        str(root / "manage.py"),
        "serve_pages",
        f"--host={host}",
        f"--port={port}",
        f"--seconds-to-stop={seconds_to_stop}",
    ]


def answers(server: str, *, timeout: float) -> bool:
    """Whether the pages answer.

    server: host and port, as in an address. timeout: seconds that each step of the call may take.
    """
    connection = http.client.HTTPConnection(server, timeout=timeout)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
