"""What `manage.py up` runs, as the settings ask: web, worker, and the sandbox where it is needed.

Django is set up when this is imported.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from django.conf import settings

from batchui.processes.web_server import web_server
from batchui.teams.connections import cloudflare_is_configured
from batchui.up import venv
from batchui.up.ports import free_port, in_address, sandbox_address, this_machine
from batchui.up.supervisor import Service

LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104
SECONDS_TO_END_DOWNLOADS = 5
OPEN_TO_OTHERS = (
    "Other machines can reach this address ({host}), and nothing on the way is encrypted: right "
    "for a trial among colleagues. For more, put it behind https: see the README, “Run it for a "
    "team”."
)


def names_for_others(host: str) -> list[str]:
    """The names under which other machines reach the pages; none when they cannot."""
    if host in LOOPBACK:
        return []
    return [in_address(name) for name in (this_machine() if host in EVERYWHERE else [host])]


def sandbox_port() -> int | None:
    """A free port for the sandbox, the one of the last start if possible.

    None where no sandbox is started: a Cloudflare account is set, or one runs elsewhere.
    """
    if cloudflare_is_configured() or settings.SANDBOX_IS_GIVEN:
        return None
    return free_port(urlsplit(settings.SANDBOX_URL).port or 0)


def environment_for(*, names: Sequence[str], sandbox: int | None) -> dict[str, str]:
    """This process's environment, with what was chosen here: the settings of what it starts."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if names:
        environment["ALLOWED_HOSTS"] = ",".join([*settings.ALLOWED_HOSTS, *names])
    if sandbox:
        environment["BATCHUI_SANDBOX_URL"] = sandbox_address(sandbox)
    return environment


def the_services(
    *, host: str, port: int, sandbox: int | None, environment: Mapping[str, str]
) -> list[Service]:
    """The processes that `up` runs."""
    python, manage = sys.executable, str(venv.ROOT / "manage.py")
    web = web_server(
        python, root=venv.ROOT, host=host, port=port, seconds_to_stop=SECONDS_TO_END_DOWNLOADS
    )
    services = [
        Service("web", web, environment),
        Service("worker", [python, manage, "worker"], environment),
    ]
    if sandbox:
        command = [python, "-m", "batchui.sandbox", "--host", "127.0.0.1"]
        command += ["--port", str(sandbox), "--data", str(settings.DATA / "sandbox.sqlite3")]
        of_sandbox = {**environment, "PYTHONPATH": str(venv.ROOT)}
        services.append(Service("sandbox", command, of_sandbox))
    return services
