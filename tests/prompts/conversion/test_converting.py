"""The child that converts a file, and what its starter makes of its end."""

import errno
import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import msgspec
import psutil
import pytest

from batchui.prompts.conversion import converting
from batchui.prompts.conversion.child import Job
from batchui.prompts.conversion.converted import (
    Jsonl,
    Message,
    Progress,
    Result,
    Sheet,
    Text,
    open_lines,
)
from batchui.prompts.conversion.converting import ChildDied, convert
from batchui.prompts.conversion.limits import Limits
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import workbook

pytestmark = pytest.mark.processes

PLENTY = Limits(memory=400_000_000, seconds=60, output=10**8)
# Standing in for the child: what it prints, and how it ends.
SAYS = "import sys, os, signal; "
SHEET = '{"sheets":[{"file":"made","name":"A","rows":1,"columns":1}]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    return tmp_path / "made"


def ignore(news: Progress) -> None:
    pass


def convert_by(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float = 60
) -> Result:
    """The result of a child that runs this code instead of ours."""
    module = folder.parent / "standing_in.py"
    module.write_text(SAYS + code)
    monkeypatch.setattr(converting, "MODULE", "standing_in")
    monkeypatch.setattr(converting, "ENVIRONMENT", {"PYTHONPATH": str(folder.parent)})
    limits = Limits(memory=400_000_000, seconds=seconds / 20, output=10**6)
    return convert(module, folder, name="x", most_bytes=1, progress=ignore, limits=limits)


def test_a_workbook_is_converted_with_its_progress(folder: Path) -> None:
    path = workbook(folder.parent / "x", [["a"]] * 30_000)
    news: list[Progress] = []
    made = convert(path, folder, name="my.xlsx", most_bytes=10**8, progress=news.append)
    [sheet] = made if isinstance(made, tuple) else []
    assert (sheet.name, sheet.rows) == ("Data", 30_000)
    with open_lines(folder / sheet.file) as lines:
        assert lines.read() == b'["a"]\n' * 30_000
    assert news
    assert news[-1].what in ("", "Data")


def test_other_kinds_of_results(folder: Path) -> None:
    path = folder.parent / "x"
    path.write_text('[{"a": 1}]')
    made = convert(path, folder, name="x.json", most_bytes=10**8, progress=ignore)
    assert made == Jsonl("rows.jsonl.zst", 1)
    path.write_bytes(b"\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00a,b")
    with pytest.raises(BadInput, match=r"^This packed file is damaged"):
        convert(path, folder, name="x.csv.zst", most_bytes=10**8, progress=ignore)


@pytest.mark.parametrize("name", ["-h", "--help", "ü 'x' \"y\" $HOME", "a\0b", "\ud800", ""])
def test_no_name_is_taken_for_something_else(folder: Path, name: str) -> None:
    path = folder.parent / "x"
    path.write_bytes(gzip.compress(b"a,b\n"))
    made = convert(path, folder, name=name, most_bytes=10**8, progress=ignore)
    assert made == Text("text.zst", name.replace("\ud800", "?"))


def test_a_mistake_is_a_sentence(folder: Path) -> None:
    path = folder.parent / "x"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match=r"^This file is damaged or was not copied whole"):
        convert(path, folder, name="x.xlsx", most_bytes=10**8, progress=ignore)


@pytest.mark.parametrize(
    ("code", "sentence", "detail"),
    [
        ("sys.exit(3)", "whatever is in it stops the program", "status 3: "),
        ("1/0", "whatever is in it stops the program", "ZeroDivisionError: division by zero"),
        ("os.abort()", "far more memory to read", "status -6"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "far more memory to read", "status -9"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "whatever is in it stops", "status -11"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "far longer to read", "status -24"),
        ("os.kill(os.getpid(), signal.SIGALRM)", "far longer to read", "status -14"),
        ("print('hello')", "whatever is in it stops", "status"),
        ("print('{}')", "whatever is in it stops", "status 0"),
        ("print('[1')", "whatever is in it stops", "status"),
        ("print('{\"sheets\":[]}')", "whatever is in it stops", "status 0"),
        (f"print('{SHEET}', end='')", "whatever is in it stops", "status 0"),
        (f"print('{SHEET}'); sys.exit(1)", "whatever is in it stops", "status 1"),
        (f"print('{SHEET}')", "whatever is in it stops", "status 0"),
        (f"open('made', 'w'); print('{SHEET}'); os.abort()", "far more memory", "status -6"),
        (
            "print('" + SHEET.replace("made", "../standing_in.py") + "')",
            "whatever is in it stops",
            "status 0",
        ),
        ("print('x' * 3_000_000, flush=True)", "whatever is in it stops", "status"),
    ],
)
def test_every_death_is_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, sentence: str, detail: str
) -> None:
    with pytest.raises(BadInput, match=sentence) as caught:
        convert_by(code, folder, monkeypatch)
    assert isinstance(caught.value.__cause__, ChildDied)
    assert detail in str(caught.value.__cause__)


def test_a_child_that_says_all_is_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"open('made', 'w'); print('{SHEET}')"
    assert convert_by(code, folder, monkeypatch) == (Sheet("made", "A", 1, 1),)


def test_what_is_not_the_files_fault_is_no_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="No space left on device") as caught:
        convert_by("print('{\"errno\":28}')", folder, monkeypatch)
    assert caught.value.errno == errno.ENOSPC


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        convert(
            folder / "none", folder, name="x.xlsx", most_bytes=1, progress=ignore, limits=PLENTY
        )


def test_a_child_that_hangs_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="takes far longer to read"):
        convert_by("signal.pause()", folder, monkeypatch, seconds=0.5)


def test_a_child_goes_with_all_that_it_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import subprocess; other = subprocess.Popen(['sleep', '1000'], stdout=2); "
        "open('pid', 'w').write(str(other.pid)); open('made', 'w'); "
    )
    convert_by(code + f"print('{SHEET}')", folder, monkeypatch)
    _gone(int((folder / "pid").read_text()))


def test_progress_that_raises_ends_the_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Enough(Exception):
        pass

    def stop(news: Progress) -> NoReturn:
        raise Enough

    module = folder.parent / "standing_in.py"
    module.write_text(
        SAYS + "open('pid', 'w').write(str(os.getpid())); print('{}', flush=True); signal.pause()"
    )
    monkeypatch.setattr(converting, "MODULE", "standing_in")
    monkeypatch.setattr(converting, "ENVIRONMENT", {"PYTHONPATH": str(folder.parent)})
    with pytest.raises(Enough):
        convert(module, folder, name="x", most_bytes=1, progress=stop, limits=PLENTY)
    if (folder / "pid").exists():
        _gone(int((folder / "pid").read_text()))


def _gone(pid: int) -> None:
    """Wait until a process has ended, or is a zombie of somebody else."""
    for _ in range(3000):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} is still there")


def test_the_child_knows_nothing_of_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    code = (
        "open('made', 'w').write(repr((dict(os.environ), sorted(os.listdir('/proc/self/fd'))))); "
        f"print('{SHEET}')"
    )
    convert_by(code, folder, monkeypatch)
    os.close(read)
    os.close(write)
    said = (folder / "made").read_text()
    assert "secret" not in said
    # stdin, stdout, stderr, the file that is written and the folder that is listed.
    assert "['0', '1', '2', '3', '4']" in said


@pytest.fixture
def waiting(folder: Path) -> Iterator[tuple[psutil.Process, subprocess.Popen[bytes]]]:
    """A child that waits for the rest of its file, and the process that started it."""
    fifo = folder.parent / "x.json"
    os.mkfifo(fifo)
    limits = Limits(memory=300_000_000, seconds=33, output=7_000_000)
    job = msgspec.json.encode(Job(str(fifo), str(folder), "x.json", limits)).decode()
    code = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); "
    child = [sys.executable, "-m", "batchui.prompts.conversion.child", job]
    starter = subprocess.Popen(
        [sys.executable, "-c", code + "p.wait()", *child], stdout=subprocess.PIPE
    )
    assert starter.stdout
    pid = int(starter.stdout.readline())
    try:
        yield psutil.Process(pid), starter
    finally:
        starter.kill()
        starter.communicate()
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)


def opened(fifo: Path) -> int:
    """The writing end, once somebody reads: the child, when all its limits are set."""
    for _ in range(3000):
        with suppress(OSError):
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise AssertionError("the child never opened its file")


def test_the_child_has_its_limits_and_ends_with_its_starter(
    folder: Path, waiting: tuple[psutil.Process, subprocess.Popen[bytes]]
) -> None:
    child, starter = waiting
    writer = opened(folder.parent / "x.json")
    try:
        assert child.rlimit(psutil.RLIMIT_DATA) == (300_000_000, 300_000_000)
        assert child.rlimit(psutil.RLIMIT_CPU)[0] == 34
        assert child.rlimit(psutil.RLIMIT_FSIZE)[0] == 8_000_000
        assert child.rlimit(psutil.RLIMIT_NOFILE)[0] == 64
        assert child.rlimit(psutil.RLIMIT_CORE)[0] == 0
        assert child.nice() == min(19, os.nice(0) + 10)
        starter.kill()
        starter.wait()
        _gone(child.pid)
    finally:
        os.close(writer)


def test_limits_grow_with_the_file() -> None:
    small, large = Limits.of(10_000, output=5), Limits.of(30_000_000, output=5)
    assert small == Limits(250_240_000, 6.015, 5)
    assert large == Limits(970_000_000, 51.0, 5)
    assert large.clock_seconds == 1020.0
    assert Limits.of(10**12, output=5) == Limits(3_000_000_000, 1800.0, 5)


def test_messages_are_small() -> None:
    assert msgspec.json.encode(Message(problem="x")) == b'{"problem":"x"}'
