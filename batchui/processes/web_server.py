"""The command line of the web server (standard library only)."""

from pathlib import Path


def web_server(python: str, *, root: Path, host: str, port: int, seconds_to_stop: int) -> list[str]:
    """The command that serves the pages with granian.

    root: the project's folder. seconds_to_stop: how long a download may take to end after SIGTERM.
    """
    return [
        *(python, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"),
        # Each slow upload or download occupies a thread, so there are more threads than cores.
        *("--workers", "2", "--blocking-threads", "32"),
        *("--workers-kill-timeout", str(seconds_to_stop)),
        *("--host", host, "--port", str(port), "--log-level", "error"),
        *("--working-dir", str(root), "batchui.wsgi:application"),
    ]
