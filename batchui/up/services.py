"""The services that `manage.py up` runs: web, worker and, if none runs elsewhere, the sandbox.

Import it only after Django is set up.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from django.conf import settings

from batchui.processes.web_server import DEBUG_FOR_OTHERS, LOOPBACK, web_server
from batchui.teams.connections import cloudflare_is_configured, sandbox_token
from batchui.up import venv
from batchui.up.errors import CannotStart
from batchui.up.plan import ToRun
from batchui.up.ports import free_port, in_address, sandbox_address, this_machine

# As `sandbox/upstream/settings.py` reads them.
UPSTREAM_VARIABLES = tuple(
    f"SANDBOX_UPSTREAM_{name}" for name in ("URL", "MODEL", "KEY", "CONCURRENCY", "TIMEOUT_SECONDS")
)
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104
SECONDS_TO_END_DOWNLOADS = 5
OPEN_TO_OTHERS = (
    "Other machines can reach this address ({host}) without encryption. That is fine for a trial "
    "among colleagues. For anything else, put it behind https: see the README, “Run it for a team”."
)


def names_for_others(host: str) -> list[str]:
    """The names by which other machines reach the pages; [] if they cannot."""
    if host in LOOPBACK:
        return []
    return [in_address(name) for name in (this_machine() if host in EVERYWHERE else [host])]


def refuse_debug_for_others(names: Sequence[str]) -> None:
    """Raise CannotStart if other machines would reach Django's debug pages."""
    if names and settings.DEBUG:
        raise CannotStart(DEBUG_FOR_OTHERS)


def sandbox_port() -> int | None:
    """A free port for the sandbox; the port of the last start, if it is free.

    None: no sandbox is started, because one runs elsewhere. With a Cloudflare account, too, there
    is one: a local model needs it.
    """
    if settings.SANDBOX_IS_GIVEN:
        return None
    return free_port(urlsplit(settings.SANDBOX_URL).port or 0)


def environment_for(*, names: Sequence[str], sandbox: int | None) -> dict[str, str]:
    """The environment for the services: with the chosen hosts, the sandbox's address and token."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if names:
        environment["ALLOWED_HOSTS"] = ",".join([*settings.ALLOWED_HOSTS, *names])
    if sandbox:
        environment["BATCHUI_SANDBOX_TOKEN"] = sandbox_token()
        if not cloudflare_is_configured():  # else it is no connection of its own
            environment["BATCHUI_SANDBOX_URL"] = sandbox_address(sandbox)
    return environment


def the_services(
    *, host: str, port: int, sandbox: int | None, environment: Mapping[str, str]
) -> list[ToRun]:
    """The processes that `up` runs."""
    python, manage = sys.executable, str(venv.ROOT / "manage.py")
    web = web_server(
        python, root=venv.ROOT, host=host, port=port, seconds_to_stop=SECONDS_TO_END_DOWNLOADS
    )
    services = [
        ToRun("web", web, environment),
        ToRun("worker", [python, manage, "worker"], environment),
    ]
    if sandbox:
        command = [python, "-m", "batchui.sandbox", "--host", "127.0.0.1"]
        command += ["--port", str(sandbox), "--data", str(settings.DATA / "sandbox.sqlite3")]
        command += ["--control"] if settings.SANDBOX_CONTROL else []
        of_sandbox = {**environment, "PYTHONPATH": str(venv.ROOT)}
        for name in UPSTREAM_VARIABLES:  # whose server is a connection, and told to it as such
            of_sandbox.pop(name, None)
        services.append(ToRun("sandbox", command, of_sandbox))
    return services
