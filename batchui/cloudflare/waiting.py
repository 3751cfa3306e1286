"""How long a client waits for the other side."""

from typing import NamedTuple

import httpx

from batchui.cloudflare.client import LONGEST_CALL_SECONDS, PATIENT


class Waiting(NamedTuple):
    """timeout: for each step of a call. seconds: for the whole of it."""

    timeout: httpx.Timeout
    seconds: float


USUAL = Waiting(PATIENT, LONGEST_CALL_SECONDS)
# A person has pressed “Test”, and waits for the answer.
FOR_A_TEST = Waiting(httpx.Timeout(6.0), 8.0)
# A person waits for ten rows that a model writes.
FOR_EXAMPLES = Waiting(httpx.Timeout(40.0, connect=6.0), 40.0)
