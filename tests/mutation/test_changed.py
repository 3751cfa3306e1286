"""Which functions a mutation run takes for changed since a commit."""

import subprocess
from pathlib import Path

import pytest

from tests.mutation.changed import changed_functions

BEFORE = """
def same():
    return 1

def other():
    return 2

class Sum:
    def total(self):
        return 3

    def mean(self):
        return 4
"""


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file batchui/sums.py, committed with BEFORE in it."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "batchui/sums.py"
    file.parent.mkdir()
    file.write_text(BEFORE)
    author = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Add sums"]):
        subprocess.run(["git", *command], check=True)
    return file


def test_functions_and_methods_with_other_code_have_changed(committed: Path) -> None:
    assert changed_functions(["batchui/sums.py"], "HEAD") == set()
    committed.write_text(BEFORE.replace("2", "20").replace("4", "40") + "def new(): ...")
    assert changed_functions(["batchui/sums.py"], "HEAD") == {
        "batchui.sums.x_other",
        "batchui.sums.x_new",
        "batchui.sums.xǁSumǁmean",
    }


def test_what_only_moved_has_not_changed(committed: Path) -> None:
    Path("batchui/moved.py").write_text("# Moved.\n" + BEFORE.replace("def other", "def third"))
    assert changed_functions(["batchui/moved.py"], "HEAD") == {"batchui.moved.x_third"}


def test_a_commit_that_is_not_there_is_named(committed: Path) -> None:
    with pytest.raises(SystemExit, match="nowhere"):
        changed_functions(["batchui/sums.py"], "nowhere")
