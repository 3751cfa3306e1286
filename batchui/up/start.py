"""`manage.py up`: everything on this machine, with one command.

1. check the port; 2. make `.venv` and go on inside it; 3. settings and checks; 4. database and
static files; 5. web server, worker and, where no Cloudflare account is set, the sandbox; 6. one
line to click.
"""

import argparse
import http.client
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from batchui.up import venv
from batchui.up.errors import CannotStart
from batchui.up.ports import free_port, in_address, refuse_taken_port, this_machine
from batchui.up.supervisor import Part, Screen, Supervisor

SANDBOX_PORT = 8787
SLOW_START_SECONDS = 30.0
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104


def main(arguments: Sequence[str]) -> None:
    """Run `manage.py up`. Exit status 0 after Ctrl-C or SIGTERM, 2 for a bad address, else 1."""
    options = parse(arguments)
    try:
        refuse_taken_port(host=options.host, port=options.port)
        venv.enter()
        run(host=options.host, port=options.port)
    except CannotStart as reason:
        sys.stderr.write(f"{reason}\n")
        sys.exit(reason.status)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="manage.py up",
        description="Start batchui: web pages, background work and, where no Cloudflare account "
        "is configured, the sandbox. Ctrl-C stops everything.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", default=8000, type=int, help="port to listen on (%(default)s)")
    return parser.parse_args(arguments)


def run(*, host: str, port: int) -> None:
    """Prepare everything, start the parts, and stay until asked to stop."""
    notes = open_to_network(host=host)
    sandbox = choose_sandbox_port()
    set_up_django()
    from batchui.up import prepare

    prepare.prepare()
    prepare.remember_sandbox()
    parts = the_parts(host=host, port=port, sandbox_port=sandbox)
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    screen = Screen(names=[part.name for part in parts], colours=colours)
    for note in notes:
        screen.say(note)
    welcome = Welcome(address=f"http://{_reachable(host)}:{port}", screen=screen)
    with prepare.announced(welcome.address):
        Supervisor(parts, screen=screen).run(each_round=welcome.look)
    screen.say("Stopped.")


def set_up_django() -> None:
    """Read the settings. Not before `.venv` is entered: Django is installed there."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()


def open_to_network(*, host: str) -> list[str]:
    """Let the pages answer to `host` where others can reach it; returns what to tell about it."""
    if host in LOOPBACK:
        return []
    names = this_machine() if host in EVERYWHERE else [host]
    known = os.environ.get("ALLOWED_HOSTS", "").strip() or "127.0.0.1,localhost,[::1]"
    os.environ["ALLOWED_HOSTS"] = ",".join([known, *map(in_address, names)])
    return [
        f"Other machines can reach this address ({host}), and nothing on the way is encrypted: "
        "right for a trial among colleagues. For more, put it behind https: see the README, “Run "
        "it for a team”."
    ]


def choose_sandbox_port() -> int | None:
    """A free port for the sandbox, told to the others; None where none is started.

    None when a Cloudflare account is set, or BATCHUI_SANDBOX_URL names a sandbox already.
    """
    account = ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN")
    if all(os.environ.get(name, "").strip() for name in account):
        return None
    if os.environ.get("BATCHUI_SANDBOX_URL", "").strip():
        return None
    port = free_port(last_sandbox_port() or SANDBOX_PORT)
    os.environ["BATCHUI_SANDBOX_URL"] = f"http://127.0.0.1:{port}/client/v4"
    return port


def last_sandbox_port() -> int | None:
    """The port the sandbox of this data folder had, which its batches remember."""
    folder = Path(os.environ.get("BATCHUI_DATA", "").strip() or venv.ROOT / "data")
    try:
        return urlsplit((folder / "sandbox-address").read_text()).port
    except (OSError, ValueError):
        return None


def the_parts(*, host: str, port: int, sandbox_port: int | None) -> list[Part]:
    """The processes that `up` runs."""
    from django.conf import settings

    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    python, manage = sys.executable, str(venv.ROOT / "manage.py")
    web = [python, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"]
    web += ["--workers", "2", "--blocking-threads", "32", "--workers-kill-timeout", "5"]
    web += ["--host", host, "--port", str(port), "--log-level", "error"]
    web += ["--working-dir", str(venv.ROOT), "batchui.wsgi:application"]
    parts = [
        Part("web", web, environment),
        Part("worker", [python, manage, "worker"], environment),
    ]
    if sandbox_port:
        sandbox = [python, "-m", "batchui.sandbox", "--host", "127.0.0.1"]
        sandbox += ["--port", str(sandbox_port), "--data", str(settings.DATA / "sandbox.sqlite3")]
        parts.append(Part("sandbox", sandbox, environment | {"PYTHONPATH": str(venv.ROOT)}))
    return parts


@dataclass
class Welcome:
    """Waits until the pages answer, then prints the line to click, once."""

    address: str
    screen: Screen
    began: float = field(default_factory=time.monotonic)
    done: bool = False
    warned: bool = False

    def look(self) -> None:
        """Called a few times a second."""
        if self.done:
            return
        if self._answers():
            self.done = True
            self.screen.say(f"batchui is ready: {self.address}{self._first_page()}")
            self.screen.say("Ctrl-C stops everything.")
        elif not self.warned and time.monotonic() - self.began > SLOW_START_SECONDS:
            self.warned = True
            self.screen.say("The pages do not answer yet. The lines above say what is under way.")

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=1)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _first_page(self) -> str:
        from batchui.up import prepare

        return prepare.first_page()


def _reachable(host: str) -> str:
    """A name under which this machine reaches what listens on `host`."""
    return in_address({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host))  # noqa: S104
