"""Where memory is taken, and when it is given back, in every process that Django runs in."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
import django
django.setup()
from batchui.processes import procfs
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


@is_glibc
def test_all_threads_take_their_memory_from_one_place() -> None:
    assert _output_of(THREADS).count("<heap nr=") == 1


@is_glibc
def test_what_was_large_is_given_back_as_soon_as_it_is_free() -> None:
    assert int(_output_of(HOLES)) > 38_000_000


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
