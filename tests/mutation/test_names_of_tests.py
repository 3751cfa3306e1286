"""mutmut collects the tests several times in one process, and names them as it first found them."""

import json
import subprocess
import sys
from pathlib import Path

from django.conf import settings

COLLECT_TWICE = """
import json, sys, tomllib
from pathlib import Path
import pytest

class Names:
    def pytest_collection_modifyitems(self, items):
        self.found = [item.nodeid for item in items]

folders = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mutmut"]
folders = folders["pytest_add_cli_args_test_selection"]
names = [Names(), Names()]
for each in names:
    pytest.main([*folders, "-n", "0", "--collect-only", "-p", "no:cacheprovider"], plugins=[each])
Path(sys.argv[1]).write_text(json.dumps([each.found for each in names]))
"""


def test_tests_have_the_same_names_when_they_are_collected_again(tmp_path: Path) -> None:
    """pytest escapes what is given as `ids` once more each time: it must not need to be escaped."""
    written = tmp_path / "names.json"
    subprocess.run(
        [sys.executable, "-c", COLLECT_TWICE, written],
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    first, again = json.loads(written.read_text())
    assert len(first) > 1000
    assert set(first) ^ set(again) == set()
