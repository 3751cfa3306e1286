"""Large requests and many callers."""

import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

from batchui.sandbox.models import MODELS
from batchui.sandbox.replies import Reply
from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import Caller


def test_a_reply_is_never_in_memory_as_a_whole() -> None:
    """500 embeddings are a reply of 6 MB."""
    model = MODELS["@cf/baai/bge-large-en-v1.5"]
    body = json.dumps({"requests": [{"text": f"Row {n}"} for n in range(500)]}).encode()
    chunks = Reply(model=model, request_id="x", created=0, body=body).chunks()
    tracemalloc.start()
    size = sum(len(chunk) for chunk in chunks)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 5_000_000
    assert peak < 2_000_000


def test_many_callers_at_once_each_get_their_own_answers(sandbox: RunningSandbox) -> None:
    def journey(number: int) -> bool:
        caller = Caller(sandbox.base_url)
        with caller.http:
            return f'"Caller {number}"' in caller.text(f"Caller {number}")

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(journey, range(64)))
    assert len(sandbox.calls("submit")) == 64
