"""What is deployed is what is tested."""

import json
import re

import pytest

from batchui.chaos import binding
from batchui.chaos.binding import INSTALL
from batchui.cloudflare.http_call import MARK
from batchui.cloudflare.worker_client import SHORTEST_SECRET
from batchui.cloudflare.worker_errors import WORKER
from batchui.up.venv import ROOT
from tests.worker_binding.workerd import CONFIG

FOLDER = ROOT / "cloudflare-worker"
WORKER_JS = (FOLDER / "worker.js").read_text()
README = (FOLDER / "README.md").read_text()


def test_wrangler_deploys_this_file_with_the_binding_and_the_date_that_are_tested() -> None:
    lines = (FOLDER / "wrangler.jsonc").read_text().splitlines()
    config = json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))
    assert (FOLDER / config["main"]).read_text() == WORKER_JS
    assert config["ai"] == {"binding": "AI"}
    assert config["compatibility_date"] == constant("date :Text")
    assert f'compatibilityDate = "{config["compatibility_date"]}"' in binding.CONFIG
    assert f'embed "../../cloudflare-worker/{config["main"]}"' in CONFIG.read_text()


def constant(name: str) -> str:
    found = re.search(rf'const {name} = "(.+)";', CONFIG.read_text())
    assert found
    return found[1]


def test_the_worker_and_its_client_agree() -> None:
    assert f'const MARK = {{ "{MARK}":' in WORKER_JS
    assert f"const SHORTEST_SECRET = {SHORTEST_SECRET};" in WORKER_JS
    own = {int(code) for code in re.findall(r"const [A-Z_]+ = (990\d{3});", WORKER_JS)}
    assert own == {code for code in WORKER.by_code if code and code >= 990_000}


def test_the_readme_has_every_route_and_every_code_of_the_worker() -> None:
    demo = re.findall(r'\["((?:GET|POST) /[\w/-]+)"', WORKER_JS)
    assert len(demo) == 8
    for route in [*demo, "GET /ai/models/search", "POST /ai/run/{model}"]:
        assert f"`{route}" in README
    for code in re.findall(r"990\d{3}", WORKER_JS):
        assert f"code {code}" in README


@pytest.mark.parametrize("path", [".ci/run", "CONTRIBUTING.md"])
def test_the_runtime_is_installed_as_the_tests_say(path: str) -> None:
    assert INSTALL in (ROOT / path).read_text()
