"""`manage.py up`: starts everything on this machine with one command.

1. Check the port. 2. Make `.venv` and go on inside it. 3. Read and check the settings. 4. Prepare
data folder, database and static files. 5. Go on as a process without Django (`plan.py`). 6. Start
web server, worker and the sandbox. 7. Print one line to click.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from batchui.processes import web_server
from batchui.up import venv
from batchui.up.errors import CannotStart
from batchui.up.plan import Plan
from batchui.up.ports import in_address, refuse_taken_port
from batchui.up.supervisor import Screen, Supervisor

SLOW_START_SECONDS = 30.0


def main(arguments: Sequence[str]) -> None:
    """Run `manage.py up`. Exit status 0 after Ctrl-C or SIGTERM, 2 for a bad address, else 1."""
    options = parse(arguments)
    if options.prepared is not None:
        supervise(Plan.read(options.prepared))
        return
    try:
        refuse_taken_port(host=options.host, port=options.port)
        venv.enter(extras=("parquet",))
        plan, locks = prepared(host=options.host, port=options.port, restored=options.restored)
        plan.hand_over(locks=locks)
    except CannotStart as reason:
        sys.stderr.write(f"{reason}\n")
        sys.exit(reason.status)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of `manage.py up`."""
    parser = argparse.ArgumentParser(
        prog="manage.py up",
        allow_abbrev=False,
        description="Start batchui: web pages, background work and, if no Cloudflare account is "
        "set, the sandbox. Ctrl-C stops everything.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", default=8000, type=int, help="port to listen on (%(default)s)")
    parser.add_argument(
        "--restored",
        action="store_true",
        help="this machine, its disk or its database was put back to an earlier state: what may "
        "have been sent since waits for a decision",
    )
    parser.add_argument("--prepared", type=int, help=argparse.SUPPRESS)  # see `plan.py`
    return parser.parse_args(arguments)


def prepared(*, host: str, port: int, restored: bool = False) -> tuple[Plan, list[int]]:
    """Prepare everything. Returns what is to be run, and the descriptors of the locks for it."""
    set_up_django()
    from batchui.up import prepare, services

    prepare.prepare(restored=restored)
    names = services.names_for_others(host)
    services.refuse_debug_for_others(names)
    sandbox = services.sandbox_port()
    prepare.remember_sandbox(sandbox)
    environment = services.environment_for(names=names, sandbox=sandbox)
    plan = Plan(
        address=f"http://{_reachable(host)}:{port}",
        first_page=prepare.first_page(),
        notice=services.OPEN_TO_OTHERS.format(host=host) if names else "",
        address_file=prepare.address_file(),
        services=services.the_services(
            host=host, port=port, sandbox=sandbox, environment=environment
        ),
    )
    return plan, prepare.locks()


def supervise(plan: Plan) -> None:
    """Start the services, and keep them running until asked to stop."""
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    screen = Screen(names=[service.name for service in plan.services], colours=colours)
    if plan.notice:
        screen.say(plan.notice)
    welcome = Welcome(address=plan.address, first_page=plan.first_page, screen=screen)
    with plan.announced():
        running = [service.service() for service in plan.services]
        Supervisor(running, screen=screen).run(each_round=welcome.check)
    screen.say("Stopped.")


def set_up_django() -> None:
    """Set Django up. Only inside `.venv`, where it is installed."""
    import django

    os.umask(0o077)  # what is stored is for this user alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "batchui.settings")
    django.setup()


@dataclass
class Welcome:
    """Waits until the pages answer, then prints the line to click, once."""

    address: str
    first_page: str
    screen: Screen
    began: float = field(default_factory=time.monotonic)
    done: bool = False
    warned: bool = False

    def check(self) -> None:
        """Print the line if the pages answer. It is called a few times a second."""
        if self.done:
            return
        if web_server.answers(self.address.removeprefix("http://"), timeout=1):
            self.done = True
            self.screen.say(f"batchui is ready: {self.address}{self.first_page}")
            self.screen.say("Ctrl-C stops everything.")
        elif not self.warned and time.monotonic() - self.began > SLOW_START_SECONDS:
            self.warned = True
            self.screen.say("The pages do not answer yet. The lines above show the progress.")


def _reachable(host: str) -> str:
    """A name by which this machine reaches a server that listens on `host`."""
    return in_address({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host))  # noqa: S104
