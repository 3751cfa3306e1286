"""Where the threads of a process take their memory (glibc; elsewhere nothing has to be done), and
what it shares with the processes that it forks."""

import ctypes
import gc
from collections.abc import Mapping

# Of mallopt(3).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
# Requests and replies have more bytes, what is read in pieces has fewer.
LARGE_BYTES = 1024 * 1024
# So much free memory is kept at the end: else it would be given back and taken again all the time.
KEPT_BYTES = 4 * LARGE_BYTES


def share_among_threads() -> None:
    """Let all threads take their memory from one place, and give it back there.

    glibc would have a place for each, which keeps the most that this thread ever had: with eight
    that store replies of 2 MB in turn, 30 MB more. They need not wait for one another because of
    this, since Python lets one of them run at a time. Call it before threads are started.
    """
    _tell_glibc({M_ARENA_MAX: 1})


def give_back_what_was_large() -> None:
    """Let what is large have a mapping of its own, which is given back as soon as it is free.

    glibc stops doing so once such memory has been free, up to 32 MB, and small things then lie
    between the holes: 10 MB more in a worker. Where something large is needed again at once, as
    the tables of Brotli are for each page, each time costs 6 ms: not for what serves pages.
    """
    _tell_glibc({M_MMAP_THRESHOLD: LARGE_BYTES, M_TRIM_THRESHOLD: KEPT_BYTES})


def _tell_glibc(options: Mapping[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in options.items():
            mallopt(option, value)


def share_with_forks() -> None:
    """Leave what is in memory now alone for ever. Call it before processes are forked.

    The collector writes into each object that it looks at, and the page of memory with it is no
    longer shared then.
    """
    gc.collect()
    gc.freeze()
