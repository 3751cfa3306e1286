"""Tries to test with."""

from typing import Any

from batchui.batches import tries, trying
from batchui.batches.models import Batch
from batchui.batches.try_models import TriedRow, Try
from batchui.prompts.ask import Ask
from tests.batches.conftest import MODEL, TEMPLATE


def begun(batch: Batch, **more: Any) -> Try:
    """A try of a draft, which nobody has asked yet. more: fields of Ask, and of `tries.begin`."""
    asked = {name: more.pop(name) for name in list(more) if name in Ask.__dataclass_fields__}
    ask = Ask(**{"model": MODEL, "template": TEMPLATE} | asked)
    return tries.begin(batch, by=more.pop("by", None), ask=ask, **more)


def ask_all() -> int:
    """Ask every row that waits. Returns how many calls were made."""
    return sum(trying.ask(row) for row in trying.waiting(1000))


def tried(one: Try) -> list[TriedRow]:
    """The rows of a try as they are now, in order."""
    return list(one.rows.order_by("number"))


def statuses(one: Try) -> list[str]:
    """The status of each of its rows."""
    return [row.status for row in tried(one)]
