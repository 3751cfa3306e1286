"""What `up` hands over to the process that keeps the services running."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from batchui.up.plan import Plan, ToRun
from batchui.up.venv import ROOT

PLAN = Plan(
    address="http://127.0.0.1:8000",
    first_page="/setup/x/",
    notice="Other machines can reach this.",
    address_file="address",
    services=[ToRun("web", ["/bin/true", "a b"], {"NAME": "välue"})],
)


def test_a_plan_is_read_as_it_was_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "plan"
    path.write_text(json.dumps(asdict(PLAN)))
    descriptor = os.open(path, os.O_RDONLY)
    assert Plan.read(descriptor) == PLAN
    service = PLAN.services[0].service()
    assert (service.name, service.command) == ("web", ["/bin/true", "a b"])
    assert service.environment == {"NAME": "välue"}


def test_others_can_read_the_address_while_it_lasts(tmp_path: Path) -> None:
    plan = Plan("http://127.0.0.1:1", "/", "", str(tmp_path / "address"), [])
    with plan.announced():
        assert (tmp_path / "address").read_text() == "http://127.0.0.1:1"
    assert not (tmp_path / "address").exists()


HANDS_OVER = """
import fcntl, os, sys
sys.path.insert(0, sys.argv[1])
from batchui.up.plan import Plan
if sys.argv[-1].startswith("--prepared="):
    plan = Plan.read(int(sys.argv[-1].removeprefix("--prepared=")))
    print(os.getpid(), plan.first_page, "django" in sys.modules)
    with open(sys.argv[2]) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("locked")
else:
    print(os.getpid())
    lock = open(sys.argv[2])
    fcntl.flock(lock, fcntl.LOCK_EX)
    Plan("", "/first/", "", "", []).hand_over(locks=[lock.fileno()])
"""


def test_the_process_goes_on_with_its_id_and_its_lock() -> None:
    with tempfile.NamedTemporaryFile() as lock, tempfile.NamedTemporaryFile("w") as program:
        program.write(HANDS_OVER)
        program.flush()
        command = [sys.executable, program.name, str(ROOT), lock.name]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    first, second, last = printed.splitlines()
    assert second.split() == [first, "/first/", "False"]
    assert last == "locked"


def test_what_keeps_the_services_running_has_no_django() -> None:
    program = "import sys; from batchui.up import start; print('django' in sys.modules)"
    command = [sys.executable, "-c", program]
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, stdin=subprocess.DEVNULL
    ).stdout
    assert printed.strip() == "False"
