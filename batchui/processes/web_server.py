"""The command line of the web server (standard library only)."""

from pathlib import Path

# Processes, so that one core is not all; threads in each, for pages that wait for the database.
PROCESSES, THREADS = 2, 32


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
