"""What `manage.py up` decides before it starts anything."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchui.up import ports, prepare, services, start
from batchui.up.errors import CannotStart
from batchui.up.supervisor import Screen
from batchui.up.venv import ROOT
from tests.surroundings import clean_environment


@pytest.fixture
def taken() -> Iterator[int]:
    """A port somebody listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def refusal(host: str, port: int) -> CannotStart:
    with pytest.raises(CannotStart) as refused:
        ports.refuse_taken_port(host=host, port=port)
    return refused.value


def named_in(advice: str) -> int:
    """The port that an advice names."""
    found = re.search(r"for example: --port (\d+)$", advice.strip())
    assert found is not None
    return int(found[1])


def test_a_taken_port_is_refused_at_once_and_nothing_is_installed(
    taken: int, tmp_path: Path
) -> None:
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    result = subprocess.run(
        [sys.executable, ROOT / "manage.py", "up", "--port", str(taken)],
        cwd=tmp_path,
        env=clean_environment(BATCHUI_DATA=str(tmp_path / "data")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.startswith(f"Port {taken} is taken")
    ports.refuse_taken_port(host="127.0.0.1", port=named_in(result.stderr))
    assert result.stdout == ""
    assert not (tmp_path / "data").exists()


def test_a_port_that_is_named_instead_is_free(taken: int) -> None:
    named = named_in(str(refusal("127.0.0.1", taken)))
    with socket.create_server(("127.0.0.1", named)):
        assert named_in(str(refusal("127.0.0.1", taken))) > named


def test_without_a_free_port_near_it_none_is_named(taken: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(ports, "LAST_PORT", taken)
    assert str(refusal("127.0.0.1", taken)).endswith("choose another port: --port")


def test_help_installs_nothing() -> None:
    result = subprocess.run(
        [sys.executable, "-S", ROOT / "manage.py", "up", "--help"],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    assert "--port" in result.stdout
    assert "Ctrl-C stops everything" in result.stdout


def test_addresses_that_cannot_be_are_refused_in_a_sentence() -> None:
    assert "from 1 to 65535" in str(refusal("127.0.0.1", 70_000))
    assert "there is no such address" in str(refusal("nowhere.invalid", 8000))
    assert "--host 192.0.2.1" in str(refusal("192.0.2.1", 8000))
    assert refusal("192.0.2.1", 8000).status == 2


def test_a_free_port_is_not_refused() -> None:
    ports.refuse_taken_port(host="127.0.0.1", port=ports.free_port(0))


def test_the_sandbox_moves_to_another_port_when_its_own_is_taken(taken: int) -> None:
    assert ports.free_port(taken) != taken


def test_the_services_are_told_where_the_sandbox_is(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "0123"
    port = services.sandbox_port()
    environment = services.environment_for(names=[], sandbox=port)
    assert environment["BATCHUI_SANDBOX_URL"] == f"http://127.0.0.1:{port}/client/v4"


def test_the_services_share_a_token_that_is_on_no_command_line(settings: Any) -> None:
    settings.SECRET_KEY = "one long enough key " * 3
    token = services.environment_for(names=[], sandbox=8787)["BATCHUI_SANDBOX_TOKEN"]
    assert len(token) == 64
    assert token not in " ".join(command_of("sandbox"))
    settings.SECRET_KEY = "another long enough key " * 3
    assert services.environment_for(names=[], sandbox=8787)["BATCHUI_SANDBOX_TOKEN"] != token
    settings.SANDBOX_TOKEN = "a token of one's own"
    chosen = services.environment_for(names=[], sandbox=8787)["BATCHUI_SANDBOX_TOKEN"]
    assert chosen == "a token of one's own"


def test_the_control_address_of_the_sandbox_is_open_only_when_asked_for(settings: Any) -> None:
    assert "--control" not in command_of("sandbox")
    settings.SANDBOX_CONTROL = True
    assert "--control" in command_of("sandbox")


def test_a_model_server_of_the_settings_is_no_secret_server_of_the_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "SANDBOX_UPSTREAM_URL": "http://127.0.0.1:11434",
        "SANDBOX_UPSTREAM_MODEL": "m",
        "SANDBOX_UPSTREAM_KEY": "k",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    environment = services.environment_for(names=[], sandbox=8787)
    web, worker, sandbox = services.the_services(
        host="127.0.0.1", port=8000, sandbox=8787, environment=environment
    )
    # It is a connection of its own. The sandbox's own answers stay made up.
    assert not given.keys() & sandbox.environment.keys()
    for service in (web, worker):
        assert given.items() <= service.environment.items()
        # Other users of the machine see command lines.
        assert not set(given.values()) & set(service.command)


def command_of(name: str) -> list[str]:
    running = services.the_services(host="127.0.0.1", port=8000, sandbox=8787, environment={})
    return [word for service in running if service.name == name for word in service.command]


def test_with_a_cloudflare_account_the_sandbox_is_there_for_local_models_alone(
    settings: Any,
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "0123", "token"
    port = services.sandbox_port()
    assert port
    assert "BATCHUI_SANDBOX_URL" not in services.environment_for(names=[], sandbox=port)
    assert names_of(sandbox=port) == ["web", "worker", "sandbox"]


def test_a_sandbox_that_runs_elsewhere_is_used(settings: Any) -> None:
    settings.SANDBOX_IS_GIVEN = True
    assert services.sandbox_port() is None


def test_without_an_account_the_sandbox_is_a_service() -> None:
    assert names_of(sandbox=8787) == ["web", "worker", "sandbox"]


def names_of(*, sandbox: int | None) -> list[str]:
    running = services.the_services(host="127.0.0.1", port=8000, sandbox=sandbox, environment={})
    return [service.name for service in running]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_this_machine_alone_nothing_is_opened(host: str) -> None:
    names = services.names_for_others(host)
    assert names == []
    environment = services.environment_for(names=names, sandbox=None)
    assert environment.get("ALLOWED_HOSTS") == os.environ.get("ALLOWED_HOSTS")


def test_an_address_others_can_reach_is_allowed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    environment = services.environment_for(
        names=services.names_for_others("10.0.0.5"), sandbox=None
    )
    assert environment["ALLOWED_HOSTS"] == "localhost,127.0.0.1,[::1],10.0.0.5"


def test_the_debug_pages_are_for_this_machine_alone(settings: Any) -> None:
    settings.DEBUG = True
    services.refuse_debug_for_others(services.names_for_others("127.0.0.1"))
    with pytest.raises(CannotStart, match=r"DEBUG is on, and --host lets other machines in"):
        services.refuse_debug_for_others(services.names_for_others("0.0.0.0"))
    settings.DEBUG = False
    services.refuse_debug_for_others(services.names_for_others("0.0.0.0"))


def test_on_every_address_the_name_of_the_machine_is_allowed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["batches.example.com"]
    environment = services.environment_for(names=services.names_for_others("0.0.0.0"), sandbox=None)
    allowed = environment["ALLOWED_HOSTS"].split(",")
    assert allowed[0] == "batches.example.com"
    assert socket.gethostname() in allowed


def test_pages_that_do_not_answer_yet_are_not_announced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    address = f"http://127.0.0.1:{ports.free_port(0)}"
    welcome = start.Welcome(address=address, first_page="/", screen=Screen(names=[], colours=False))
    welcome.check()
    assert not welcome.done
    assert capsys.readouterr().out == ""


def test_the_sandbox_keeps_the_port_it_had(settings: Any) -> None:
    usual = ports.free_port(0)
    settings.SANDBOX_URL = f"http://127.0.0.1:{usual}/client/v4"
    assert services.sandbox_port() == usual


def test_where_the_sandbox_is_can_be_found_later(settings: Any, tmp_path: Path) -> None:
    settings.SANDBOX_FILE = tmp_path / "sandbox-address"
    prepare.remember_sandbox(8899)
    assert settings.SANDBOX_FILE.read_text() == "http://127.0.0.1:8899/client/v4"
    prepare.remember_sandbox(None)
    assert settings.SANDBOX_FILE.read_text() == settings.SANDBOX_URL


def test_a_second_start_on_one_data_folder_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.DATA, settings.ADDRESS_FILE = tmp_path, tmp_path / "address"
    (tmp_path / "address").write_text("http://127.0.0.1:8000")
    prepare.refuse_second_start()
    with pytest.raises(CannotStart, match="at http") as refused:
        prepare.refuse_second_start()
    assert refused.value.status == 2
    prepare._locks.pop().close()
