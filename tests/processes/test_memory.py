"""Where memory is taken, and when it is given back: in every process, and in workers."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchui.processes import memory
from batchui.worker.cluster import SteadyCluster
from batchui.worker.management.commands.worker import work

ROOT = Path(__file__).resolve().parents[2]
is_glibc = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="not glibc")
# malloc_info(3) tells of each place that memory is taken from.
THREADS = """
import ctypes, sys, threading
import django
django.setup()
together = threading.Barrier(8)
def take():
    together.wait()
    kept = [bytes(10_000) for _ in range(100)]
    together.wait()
threads = [threading.Thread(target=take) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


# Small things lie between the large ones. A larger one was free before: glibc learns from that.
HOLES = """
import os
from batchui.processes import memory, procfs
memory.give_back_what_was_large()
learnt = bytearray(20_000_000)
del learnt
large, small = [], []
for _ in range(10):
    large.append(bytearray(b"x") * 4_000_000)
    small.append(bytearray(100_000))
before, _ = procfs.memory_bytes(os.getpid())
del large
print(before - procfs.memory_bytes(os.getpid())[0])
"""


# The kernel fills each page of memory (4 kB) that is touched for the first time.
AGAIN_AND_AGAIN = """
import resource
import django
django.setup()
bytearray(4_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    bytearray(4_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@is_glibc
def test_all_threads_take_their_memory_from_one_place() -> None:
    assert _output_of(THREADS).count("<heap nr=") == 1


@is_glibc
def test_what_was_large_is_given_back_as_soon_as_it_is_free() -> None:
    assert int(_output_of(HOLES)) > 38_000_000


@is_glibc
def test_what_serves_pages_takes_the_same_memory_for_each() -> None:
    assert int(_output_of(AGAIN_AND_AGAIN)) < 2 * 4_000_000 / 4096  # in place of ten times


def test_a_worker_gives_back_what_was_large_before_it_forks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    did: list[str] = []
    monkeypatch.setattr(memory, "give_back_what_was_large", lambda: did.append("give back"))
    monkeypatch.setattr(memory, "share_with_forks", lambda: did.append("share"))
    monkeypatch.setattr(SteadyCluster, "start", lambda self: did.append("fork"))
    work()
    assert did == ["give back", "share", "fork"]


def _output_of(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )
    return done.stdout
