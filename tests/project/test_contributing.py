"""What CONTRIBUTING says of files and settings is so."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from batchui.up.venv import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
FOLDERS = PAGE.split("### Folders, and who may import whom", 1)[1].split("```")[1]


def listed(first: str, end: str) -> set[str]:
    """The modules that the list of folders has between two of its lines."""
    return set(re.findall(r"\w+\.py", FOLDERS.split(first, 1)[1].split(end, 1)[0]))


def there(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.py")} - {"__init__.py", "apps.py"}


def test_the_list_of_folders_has_every_module_that_django_reads_first() -> None:
    assert listed("batchui/", "  up/") == there(ROOT / "batchui")


def test_the_list_of_folders_has_every_module_of_batches() -> None:
    assert listed("  batches/", "  teams/") == there(ROOT / "batchui/batches")


def test_the_list_of_folders_has_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "batchui").glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/ ", FOLDERS, re.M)) == packages


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/[\w.]+\.(?:py|toml))", PAGE))))
def test_every_file_named_is_there(path: str) -> None:
    assert (ROOT / path).is_file() or (ROOT / "batchui" / path).is_file()


def test_background_work_is_set_up_as_the_reasons_say() -> None:
    table = PAGE.split("| setting | reason |", 1)[1].split("\n\n", 1)[0]
    given = dict(re.findall(r"`(\w+) ([\w.-]+)`", table))
    assert len(given) >= 10
    assert {name: str(settings.Q_CLUSTER[name]) for name in given} == given
    assert settings.Q_CLUSTER["ack_failures"] is True
