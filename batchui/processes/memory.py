"""Where the threads of a process take their memory (glibc; elsewhere nothing has to be done), and
what it shares with the processes that it forks."""

import ctypes
import gc

# Of mallopt(3).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
# Requests and replies have more bytes, what is read in pieces has fewer.
LARGE_BYTES = 1024 * 1024
# So much free memory is kept at the end: else it would be given back and taken again all the time.
KEPT_BYTES = 4 * LARGE_BYTES


def give_back_what_is_free() -> None:
    """Let no free memory stay with threads, or between small things.

    All threads take memory from one place, and give it back there.

    glibc would have a place for each thread, which keeps the most that this thread ever had: with
    eight that store replies of 2 MB in turn, 30 MB more. They need not wait for one another
    because of this, since Python lets one of them run at a time.

    What is large has a mapping of its own, and is given back as soon as it is free. glibc stops
    doing so once such memory has been free, up to 32 MB, and small things then lie between the
    holes: 10 MB more. Call this before threads are started.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


def share_with_forks() -> None:
    """Leave what is in memory now alone for ever. Call it before processes are forked.

    The collector writes into each object that it looks at, and the page of memory with it is no
    longer shared then.
    """
    gc.collect()
    gc.freeze()
