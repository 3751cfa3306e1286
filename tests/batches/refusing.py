"""A Cloudflare that refuses rows for what they say."""

from typing import Any

from batchui.batches import results
from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox


def refusing(*texts: str, code: int = 5006, **more: Any) -> list[dict[str, Any]]:
    """A script that refuses each submission that has one of these texts in it."""
    step = {"fault": "error", "code": code, "call": "submit", "times": 0} | more
    return [step | {"containing": text} for text in texts]


def row(number: int) -> str:
    """What the request says of this row of `rows`, and of no other. The first one is row 2."""
    return f'text number {number - 1}"'


def failed_rows(batch: Batch) -> list[int]:
    return [found.row for found in results.results(batch) if found.status == "failed"]


def sizes(sandbox: RunningSandbox) -> list[int | None]:
    return [call.items for call in sandbox.calls("submit")]
