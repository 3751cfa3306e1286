"""What is installed is listed with exact versions and hashes."""

import re

import pytest

from batchui.up.venv import ROOT, Project

FOLDER = ROOT / "requirements"
# For which Python or system.
CONDITION = r"(?: ; [\w.'<>=!*() ]+)?"
NAMES = ("product", "s3", "parquet", "test")


def listed(name: str) -> dict[str, str]:
    """The packages of a file, with their versions."""
    text = (FOLDER / f"{name}.txt").read_text()
    found = re.findall(rf"^([\w.-]+)==(\S+){CONDITION} \\$", text, re.M)
    return dict(found)


def asked(*extras: str) -> set[str]:
    """The names of the packages that `pyproject.toml` asks for."""
    wanted = Project(ROOT).requirements(extras)
    return {re.split(r"[\[<>=!~ ;]", one)[0].lower() for one in wanted}


def test_there_is_a_file_for_the_product_and_for_each_extra() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_asked_for_is_listed(name: str) -> None:
    extras = [] if name == "product" else [name]
    assert asked(*extras) <= set(listed(name)), "run .ci/lock"


@pytest.mark.parametrize("name", NAMES)
def test_every_package_has_a_version_and_hashes_and_nothing_else(name: str) -> None:
    """No address of an index, no package from elsewhere."""
    text = (FOLDER / f"{name}.txt").read_text()
    package = rf"[\w.-]+==[\w.]+{CONDITION}( \\\n    --hash=sha256:[0-9a-f]{{64}})+\n"
    assert re.fullmatch(f"({package})+", text)
    assert len(listed(name)) == len(re.findall(r"^\w", text, re.M))


def test_a_package_has_the_same_version_everywhere() -> None:
    for name in ("product", "s3", "parquet"):
        assert listed(name).items() <= listed("test").items()
