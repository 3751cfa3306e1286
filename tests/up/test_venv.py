"""`.venv` is made beside manage.py, from nothing, by `up` and `test` themselves.

A small project with packages of its own stands in for batchui, so that nothing is downloaded: its
`pytest` says where it runs and what it was asked.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from batchui.up.venv import ROOT, Project, SetupFailed, ensure
from tests.project.helpers import Reader, until
from tests.surroundings import clean_environment

pytestmark = pytest.mark.processes

SAYS_WHERE = "import json, sys; print(json.dumps([sys.prefix, sys.argv[1:]]))"
PYPROJECT = """\
[project]
name = "small"
version = "1"
dependencies = ["django"]
[project.optional-dependencies]
test = ["pytest"]
more = ["more"]
"""


def wheel(
    folder: Path, name: str, *, version: str = "1.0", code: str = "", needs: str = ""
) -> None:
    """Put a package into `folder`, as pip installs it."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": "",
        f"{name}/__main__.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items()]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in [*files.items(), (record, "".join(lines) + f"{record},,\n")]:
            archive.writestr(path, text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every package the small project may ask for."""
    folder = tmp_path_factory.mktemp("index")
    for name in ("django", "more"):
        wheel(folder, name)
    wheel(folder, "pytest", code=SAYS_WHERE)
    return folder


@pytest.fixture(autouse=True)
def _only_the_index(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def small(root: Path, index: Path) -> Project:
    """The small project, in `root`, with batchui's own manage.py and what makes `.venv`."""
    root.mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "requirements").mkdir(exist_ok=True)
    for name, package in (("product", "django"), ("test", "pytest"), ("more", "more")):
        content = (index / f"{package}-1.0-py3-none-any.whl").read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        line = f"{package}==1.0 --hash=sha256:{digest}\n"
        (root / "requirements" / f"{name}.txt").write_text(line)
    shutil.copy(ROOT / "manage.py", root)
    (root / "batchui" / "up").mkdir(parents=True, exist_ok=True)
    for name in ("__init__.py", "up/__init__.py", "up/venv.py", "up/progress.py"):
        shutil.copy(ROOT / "batchui" / name, root / "batchui" / name)
    return Project(root)


@pytest.fixture(scope="module")
def made(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small project with its `.venv` made."""
    project = small(tmp_path_factory.mktemp("made"), index)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(index))
        assert ensure(project) is True
    return project


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """A copy of it, to spoil."""
    shutil.copytree(made.root, tmp_path / "copy", symlinks=True)
    return Project(tmp_path / "copy")


def packages(project: Project) -> set[str]:
    return {path.name for path in project.venv.glob("lib/python3*/site-packages/*-1.0.dist-info")}


def run(project: Project, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=project.root,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_dependencies_are_installed_and_the_extras_are_not(made: Project) -> None:
    assert packages(made) == {"django-1.0.dist-info"}
    assert not made.unfinished.exists()


def test_a_second_start_does_nothing_at_once(made: Project) -> None:
    began = time.monotonic()
    assert ensure(made) is False
    assert time.monotonic() - began < 0.1


def test_an_extra_is_added_and_stays(project: Project) -> None:
    assert ensure(project, extras=["test"]) is True
    assert ensure(project) is False
    assert ensure(project, extras=["more"]) is True
    assert packages(project) == {f"{name}-1.0.dist-info" for name in ("django", "more", "pytest")}
    assert project.installed()["extras"] == ["more", "test"]


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements/product.txt"])
def test_changed_dependencies_are_installed_at_the_next_start(project: Project, name: str) -> None:
    path = project.root / name
    changed = path.read_text().replace('["django"]', '["django", "more"]')
    if name != "pyproject.toml":
        changed += (project.root / "requirements/more.txt").read_text()
    path.write_text(changed)
    assert ensure(project) is True
    assert ensure(project) is False


def test_a_package_with_another_hash_is_not_installed(index: Path, tmp_path: Path) -> None:
    project = small(tmp_path / "forged", index)
    path = project.root / "requirements/product.txt"
    path.write_text(re.sub("sha256:.*", f"sha256:{'0' * 64}", path.read_text()))
    with pytest.raises(SetupFailed) as failure:
        ensure(project)
    assert "DO NOT MATCH THE HASHES" in str(failure.value)
    assert packages(project) == set()


def test_a_package_that_is_not_locked_is_not_installed(index: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "needy", needs="more")
    project = small(tmp_path / "open", index)
    content = (tmp_path / "needy-1.0-py3-none-any.whl").read_bytes()
    line = f"needy==1.0 --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"
    with (project.root / "requirements/product.txt").open("a") as file:
        file.write(line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_FIND_LINKS", f"{index} {tmp_path}")
        with pytest.raises(SetupFailed, match="all requirements must have their versions pinned"):
            ensure(project)
    assert packages(project) == set()


def test_other_changes_of_the_project_file_install_nothing(project: Project) -> None:
    path = project.root / "pyproject.toml"
    path.write_text(f"{path.read_text()}\n[tool.ruff]\nline-length = 100\n")
    assert ensure(project) is False


def test_an_installation_that_was_killed_starts_over(index: Path, tmp_path: Path) -> None:
    project = small(tmp_path / "killed", index)
    program = subprocess.Popen(
        [sys.executable, "manage.py", "test"],
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        env=clean_environment(),
        start_new_session=True,
    )
    until(lambda: (project.venv / "pyvenv.cfg").exists())
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    (project.venv / "rubbish").touch()
    result = run(project, "test", "-k", "one")
    assert "The last installation was interrupted. It starts again." in result.stdout
    assert json.loads(result.stdout.splitlines()[-1]) == [str(project.venv), ["-k", "one"]]
    assert not (project.venv / "rubbish").exists()


def test_a_failed_installation_shows_the_last_lines_of_pip(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    path = project.root / "requirements/product.txt"
    path.write_text(path.read_text().replace("django", "nobody-has-this"))
    with pytest.raises(SetupFailed) as failure:
        ensure(project)
    assert "No matching distribution found for nobody-has-this" in str(failure.value)
    assert "run the same command again" in str(failure.value)
    assert "Traceback" not in capfd.readouterr().err


def test_after_a_failure_the_next_start_succeeds(project: Project) -> None:
    path = project.root / "requirements/product.txt"
    right = path.read_text()
    path.write_text(right.replace("django", "nobody-has-this"))
    with pytest.raises(SetupFailed):
        ensure(project)
    path.write_text(right)
    assert ensure(project) is True
    assert packages(project) == {"django-1.0.dist-info"}


def test_an_environment_whose_python_is_gone_is_made_anew(project: Project) -> None:
    project.python.unlink()
    project.python.symlink_to("/nowhere/python3.11")
    assert ensure(project) is True
    assert ensure(project) is False


def test_an_environment_somebody_else_made_is_kept(project: Project) -> None:
    project.stamp.unlink()
    (project.venv / "theirs").touch()
    assert ensure(project) is True
    assert (project.venv / "theirs").exists()


def test_it_runs_inside_even_when_another_environment_is_active(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = {"VIRTUAL_ENV": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    (tmp_path / "pytest").mkdir()
    (tmp_path / "pytest" / "__init__.py").touch()
    (tmp_path / "pytest" / "__main__.py").write_text("print('the other one')")
    result = run(project, "test", "tests/one.py", "-x", **elsewhere)
    assert json.loads(result.stdout.splitlines()[-1]) == [
        str(project.venv),
        ["tests/one.py", "-x"],
    ]


def test_progress_is_a_few_short_lines(project: Project) -> None:
    result = run(project, "test")
    lines = result.stdout.splitlines()
    assert len(lines) <= 6
    assert any(line.startswith("Installing: unpacking") for line in lines)
    assert any(line.startswith("Installed in") for line in lines)


def test_a_missing_venv_module_is_said_with_what_to_install(index: Path, tmp_path: Path) -> None:
    project = small(tmp_path / "bare", index)
    # Debian without python3-venv: the module `ensurepip` is not there.
    hide = "import sys; sys.modules['ensurepip'] = None; sys.argv = ['manage.py', 'test'];"
    result = subprocess.run(
        [sys.executable, "-c", f"{hide} import manage; manage.main()"],
        cwd=project.root,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "sudo apt-get install python3-venv" in result.stderr
    assert "Traceback" not in result.stderr
    assert not project.venv.exists()


def test_ctrl_c_during_the_installation_ends_it_in_a_sentence(index: Path, tmp_path: Path) -> None:
    project = small(tmp_path / "stopped", index)
    program = subprocess.Popen(
        [sys.executable, "manage.py", "test"],
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment(),
        start_new_session=True,
    )
    assert program.stdout
    lines = Reader(program.stdout)
    lines.wait_for("Making .venv")
    os.killpg(program.pid, signal.SIGINT)
    program.wait(10)
    assert lines.wait_for("Stopped. The next start begins the installation again.")
    lines.close()
    assert "Traceback" not in str(lines)


@pytest.mark.parametrize("has_environment", [True, False])
def test_other_commands_without_django_say_where_it_is(
    index: Path, made: Project, tmp_path: Path, has_environment: bool
) -> None:
    project = made if has_environment else small(tmp_path / "fresh", index)
    result = subprocess.run(
        [sys.executable, "-S", "manage.py", "submit", "my file.csv"],
        cwd=project.root,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2  # as `submit` ends when nothing was started
    assert "Django is not installed in this Python" in result.stderr
    command = ".venv/bin/python manage.py submit 'my file.csv'"
    advice = command if has_environment else "python3 manage.py up"
    assert advice in result.stderr
    assert not (tmp_path / "fresh" / ".venv").exists()
