"""The command line of the web server (standard library only)."""

from pathlib import Path


def web_server(python: str, *, root: Path, host: str, port: int, seconds_to_stop: int) -> list[str]:
    """The command that serves the pages with granian.

    root: the project's folder. seconds_to_stop: how long a download may take to end after SIGTERM.
    """
    return [
        python,
        "-m",
        "granian",
        "--interface=wsgi",
        "--http=1",
        "--no-ws",
        "--workers=2",
        # Each slow upload or download holds a thread, so there are more than cores could use.
        "--blocking-threads=32",
        f"--workers-kill-timeout={seconds_to_stop}",
        f"--host={host}",
        f"--port={port}",
        "--log-level=error",
        f"--working-dir={root}",
        "batchui.wsgi:application",
    ]
