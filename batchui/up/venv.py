"""Makes `.venv` beside manage.py, and goes on inside it.

Standard library only: this runs before anything is installed. It installs what `requirements/`
lists, with exact versions and the hashes of their files, which pip checks. Two files inside `.venv`
show its state:

- `batchui.json` is written last and says what was installed. If that is what is needed, nothing is
  done.
- `batchui-unfinished` is there from the first change to the last. A start that finds it begins
  again with a clean folder, because an installation was interrupted.

A `.venv` with neither file was made by somebody else. It is kept, and used.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from batchui.up.progress import PipProgress, say

ROOT = Path(__file__).resolve().parents[2]


class SetupFailed(Exception):
    """`.venv` could not be made. The text says why, and what to do."""


@dataclass(frozen=True)
class Project:
    """A folder with `pyproject.toml`, `requirements/` and, once made, `.venv`."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    def locked(self, extras: Iterable[str]) -> list[Path]:
        """The files with versions and hashes: of the product, and of each of the `extras`."""
        return [self.root / "requirements" / f"{e}.txt" for e in ("product", *sorted(extras))]

    @property
    def stamp(self) -> Path:
        """The file that says what was installed."""
        return self.venv / "batchui.json"

    @property
    def unfinished(self) -> Path:
        """The file that exists during an installation."""
        return self.venv / "batchui-unfinished"

    def requirements(self, extras: Iterable[str]) -> list[str]:
        """The requirements in `pyproject.toml`, with the `extras`."""
        project = tomllib.loads((self.root / "pyproject.toml").read_text())["project"]
        optional = project.get("optional-dependencies", {})
        return [*project["dependencies"], *(name for e in sorted(extras) for name in optional[e])]

    def wanted(self, extras: Iterable[str]) -> dict[str, object]:
        """The stamp of a finished installation with the `extras`."""
        extras = sorted(set(extras))
        texts = (path.read_text() for path in self.locked(extras))
        asked = "\n".join([*self.requirements(extras), *texts])
        return {
            "extras": extras,
            "python": os.path.realpath(self.python),
            "requirements": hashlib.sha256(asked.encode()).hexdigest(),
        }

    def installed(self) -> dict[str, object]:
        """The stamp in `.venv`; {} if there is none."""
        try:
            stamp = json.loads(self.stamp.read_text())
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}


def run_tests(arguments: Sequence[str]) -> NoReturn:
    """`manage.py test`: pytest with the `arguments`, in `.venv` with the test extra."""
    enter(extras=("test",))
    if not Path.cwd().is_relative_to(ROOT):
        os.chdir(ROOT)
    # Else each process of the run compiles all tests and all of batchui anew: half a minute each.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])  # noqa: S606


def enter(*, extras: Iterable[str] = ()) -> None:
    """Make or update `.venv`, and go on inside it.

    Outside `.venv`, this replaces the process by the same command with `.venv`'s Python, whatever
    environment is active. A failure ends the process with a sentence.
    """
    project = Project(ROOT)
    try:
        changed = ensure(project, extras=extras)
    except SetupFailed as failure:
        sys.exit(f"\n{failure}")
    except KeyboardInterrupt:
        sys.exit("\nStopped. The next start begins the installation again.")
    inside = Path(sys.prefix).resolve() == project.venv.resolve()
    if changed or not inside:
        sys.stdout.flush()
        arguments = [str(project.python), *sys.orig_argv[1:]]
        os.execve(project.python, arguments, _environment_inside(project))  # noqa: S606


def where_django_is() -> str:
    """The sentence for a command that was started with a Python without Django."""
    project = Project(ROOT)
    if project.installed():
        python = os.path.relpath(project.python)
        command = shlex.join([python, *sys.argv])
        advice = f"It is in .venv, which `manage.py up` made: {command}"
    else:
        advice = "Run `python3 manage.py up`, which makes .venv with everything in it."
    return f"Django is not installed in this Python ({sys.executable}). {advice}"


def ensure(project: Project, *, extras: Iterable[str] = ()) -> bool:
    """Install in `.venv` what `project` needs with the `extras`, if it is not there already.

    Extras from earlier starts stay. Returns whether anything was installed. Raises SetupFailed.
    """
    if _fits(project, set(extras)):
        return False
    with _alone(project):
        if _fits(project, set(extras)):  # another start did it meanwhile
            return False
        _prepare_folder(project)
        kept = project.installed().get("extras", [])
        everything = set(extras) | (set(kept) if isinstance(kept, list) else set())
        project.unfinished.touch()
        project.stamp.unlink(missing_ok=True)
        _install(project, everything)
        project.stamp.write_text(json.dumps(project.wanted(everything)))
        project.unfinished.unlink()
    return True


def _fits(project: Project, extras: set[str]) -> bool:
    stamp = project.installed()
    kept = stamp.get("extras")
    if not isinstance(kept, list) or not extras <= set(kept) or project.unfinished.exists():
        return False
    try:
        return _works(project) and stamp == project.wanted(kept)
    except KeyError:  # pyproject.toml has lost an extra that was installed
        return False


def _works(project: Project) -> bool:
    """Whether `.venv` has a Python. The one that it was made with may have been removed."""
    return (project.venv / "pyvenv.cfg").exists() and os.access(project.python, os.X_OK)


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """A lock on the project's folder, so that two starts do not install at the same time."""
    folder = os.open(project.root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _prepare_folder(project: Project) -> None:
    """Make a `.venv` with Python and pip, if there is no good one."""
    stamp = project.installed()
    moved_on = stamp.get("python") not in (None, os.path.realpath(project.python))
    if project.unfinished.exists():
        say("The last installation was interrupted. It starts again.")
    elif _works(project) and not moved_on:
        return
    elif project.venv.exists():
        say("The Python that .venv was made with has changed. It is made again.")
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise SetupFailed(
            "This Python cannot make environments: its `venv` or `pip` part is missing. On Debian "
            "or Ubuntu, install it with: sudo apt-get install python3-venv python3-pip\n"
            "Then run the same command again."
        )
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"Making .venv (Python {version}) …")
    try:
        shutil.rmtree(project.venv, ignore_errors=True)
        project.venv.mkdir(exist_ok=True)
        project.unfinished.touch()
    except OSError as error:
        raise SetupFailed(
            f"The folder {project.venv} cannot be written ({error.strerror}). Give yourself the "
            "right to write there, then run the same command again."
        ) from None
    # The base interpreter, so that .venv depends on no other environment.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run(
        [base, "-I", "-m", "venv", project.venv], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise SetupFailed(
            f"The environment .venv could not be made. Python said:\n\n{made.stdout}{made.stderr}\n"
            "On Debian or Ubuntu, this often helps: sudo apt-get install python3-venv python3-pip\n"
            "Then run the same command again."
        )


def _install(project: Project, extras: Iterable[str]) -> None:
    """Install the requirements, and show which package is installed. Raises SetupFailed."""
    pip: list[str | Path] = [
        project.python,
        "-I",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--progress-bar=off",
    ]
    # No code of a package runs before its hash is checked: building one would fetch more.
    pip += ["--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
    for path in project.locked(extras):
        pip += ["--requirement", path]
    # A pip set up to install elsewhere (for the user, into a target folder) would miss .venv.
    elsewhere = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"}
    environment = {k: v for k, v in os.environ.items() if k not in elsewhere} | {"PIP_USER": "0"}
    with subprocess.Popen(
        pip,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None  # noqa: S101
        progress = PipProgress()
        for line in process.stdout:
            progress.see(line)
    progress.end(installed=process.returncode == 0)
    if process.returncode:
        raise SetupFailed(
            "The installation failed. pip's last lines:\n\n"
            + "".join(f"    {line}\n" for line in progress.last_lines)
            + "\nCheck that this machine reaches the package index (network, proxy, disk space), "
            "then run the same command again: it starts over by itself."
        )


def _environment_inside(project: Project) -> dict[str, str]:
    """The environment of a process inside `.venv`, whatever other environment was active."""
    others = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"}
    environment = {name: value for name, value in os.environ.items() if name not in others}
    environment["VIRTUAL_ENV"] = str(project.venv)
    environment["PATH"] = f"{project.python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return environment
